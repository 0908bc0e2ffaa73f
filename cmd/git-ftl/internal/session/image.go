package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-ftl/git-ftl/container"
)

// ImageRef is the name of the image that tasks run in.
func (s *Session) ImageRef() string {
	if s.Config.Image != "" {
		return s.Config.Image
	}
	return container.BaseImage()
}

// Image returns the image of the settings, or the default one, which is built
// where it is missing; progress gets a line for each step.
func (s *Session) Image(ctx context.Context, e *container.DockerEngine, progress io.Writer) (container.Image, error) {
	image, err := e.Image(ctx, s.ImageRef())
	if !errors.Is(err, container.ErrNoImage) || s.Config.Image != "" {
		return image, err
	}
	s.note("building the sandbox image, once: this takes a minute or two")
	log := &buildLog{steps: progress}
	image, err = e.BuildImage(ctx, log)
	if err != nil && len(log.last) > 0 {
		err = fmt.Errorf("%w\n%s", err, strings.Join(log.last, "\n"))
	}
	return image, err
}

// buildLog shows the steps of a build, and keeps its last lines for an error.
type buildLog struct {
	steps io.Writer
	part  []byte
	last  []string
}

// Write implements io.Writer.
func (l *buildLog) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		line, rest, ok := bytes.Cut(l.part, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.part = append([]byte(nil), rest...)
		if bytes.HasPrefix(line, []byte("Step ")) {
			if _, err := fmt.Fprintf(l.steps, "%s\n", line); err != nil {
				return 0, err
			}
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			l.last = append(l.last, text)
			l.last = l.last[max(0, len(l.last)-8):]
		}
	}
}
