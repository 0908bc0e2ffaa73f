package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/wheel"
	"github.com/git-ftl/git-ftl/container"
)

// Wheels gives what is pinned of an agent; false where that is no program of Python.
type Wheels func(agent string) (agent.Wheel, bool)

// PythonError says that an agent is a program of Python, and that the image has none
// that it runs on. Nothing was fetched.
type PythonError struct {
	Agent string
	Image string // as the user's settings name it
	Err   error  // wheel.ErrNoPython
}

// Error says what the image has.
func (e *PythonError) Error() string {
	return fmt.Sprintf("%s cannot run in the image %s: %v", e.Agent, e.Image, e.Err)
}

// Unwrap gives the cause.
func (e *PythonError) Unwrap() error { return e.Err }

// Hints are the ways to an image that has one.
func (e *PythonError) Hints() []string {
	return []string{"--image NAME or git config ftl.image names one with it: " + container.BaseImage() + " is the default, and has one"}
}

func (s *Session) wheelOf(name string) (agent.Wheel, bool) {
	if s.Wheels != nil {
		return s.Wheels(name)
	}
	return agent.WheelOf(name)
}

// program is an agent that runs on the Python of an image.
type program struct {
	name  string
	below container.Image
	layer container.Layer
	wheel agent.Wheel
}

// digestLabel begins the label of an image with the digest of an agent's wheels: an
// empty one where the image has no Python for it.
const digestLabel = "git-ftl.wheels."

// addProgram is an image with a program, from the indexes that the user's own pip or
// uv asks. What is fetched is for the interpreter of the image below. Where that has
// none the layer says so, since other agents can do without: see CheckAgents.
func (s *Session) addProgram(ctx context.Context, e *container.DockerEngine, p program, progress io.Writer) (container.Image, error) {
	image, err := e.Image(ctx, container.LayerRef(p.below.ID, p.layer))
	if !errors.Is(err, container.ErrNoImage) {
		return image, err
	}
	python, missing := s.pythonFor(ctx, e, p.below, p.name)
	if missing != nil && !errors.As(missing, new(*PythonError)) {
		return image, missing
	}
	digest := ""
	p.layer.Files = func(add container.AddFile) (err error) {
		if missing != nil {
			text := missing.Error() + "\n"
			return add(path.Join(p.wheel.Into, "missing"), 0o644, int64(len(text)), strings.NewReader(text))
		}
		s.adding(p.name, p.wheel.Version)
		in := wheel.Installer{Client: s.client(), Indexes: s.registries().Indexes}
		digest, err = in.Add(ctx, p.wheel, python, add)
		return err
	}
	p.layer.Labels = func() map[string]string { return map[string]string{digestLabel + p.name: digest} }
	return e.AddLayer(ctx, p.layer, &buildLog{steps: progress})
}

// pythonFor is the interpreter of an image that an agent can run on. Errors:
// *PythonError.
func (s *Session) pythonFor(ctx context.Context, e *container.DockerEngine, image container.Image, name string) (wheel.Python, error) {
	files, err := e.Files(ctx, image.ID)
	if err != nil {
		return wheel.Python{}, err
	}
	w, _ := s.wheelOf(name)
	python, err := wheel.FindPython(files, image.Arch, w.Python)
	if errors.Is(err, wheel.ErrNoPython) {
		err = &PythonError{name, s.ImageRef(), err}
	}
	if closed := files.Close(); err == nil {
		err = closed
	}
	return python, err
}

// CheckAgents makes sure that agents can run in an image, whether they are in it yet
// or not. It changes nothing. Errors: *PythonError.
func (s *Session) CheckAgents(ctx context.Context, e *container.DockerEngine, image container.Image, names []string) error {
	for _, name := range names {
		if _, ok := s.wheelOf(name); !ok || image.Labels[digestLabel+name] != "" {
			continue
		}
		if _, err := s.pythonFor(ctx, e, image, name); err != nil {
			return err
		}
	}
	return nil
}

// VersionIn is the version of an agent that an image got, "" where it got none: of a
// program with the digest of all that it is made of.
func (s *Session) VersionIn(image container.Image, name string) string {
	w, ok := s.wheelOf(name)
	digest := image.Labels[digestLabel+name]
	switch {
	case ok && digest != "":
		return w.Version + " sha256:" + digest
	case ok, len(agent.Packages(name, image.Arch)) == 0:
		return ""
	}
	return agent.Version(name)
}
