package patch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// smudger turns blobs into what a checkout would write, by the attributes that
// the work tree has now.
type smudger struct {
	repo   *git.Repo
	config []string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	token  string
}

// newSmudger starts git. With plain, no filter driver of the user's runs: the
// change at hand alters attributes, and those would choose it.
func (q *Queue) newSmudger(ctx context.Context, plain bool) (*smudger, error) {
	s := &smudger{repo: q.repo, token: "no-object-" + rand.Text()}
	if plain {
		off, err := q.noFilters(ctx)
		if err != nil {
			return nil, err
		}
		s.config = off
	}
	s.cmd = q.repo.Command(ctx, git.Call{Args: []string{"cat-file", "--batch", "-z", "--filters"}, Config: s.config})
	s.cmd.Stderr = &s.stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<16)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start git cat-file: %w", err)
	}
	return s, nil
}

// noFilters is the configuration that keeps every filter driver of the user's
// from running.
func (q *Queue) noFilters(ctx context.Context) ([]string, error) {
	names, err := q.drivers(ctx, "filter", "clean|smudge|process|required")
	var off []string
	for _, name := range names {
		for _, kv := range []string{"clean=", "smudge=", "process=", "required=false"} {
			off = append(off, "filter."+name+"."+kv)
		}
	}
	return off, err
}

// Close ends git.
func (s *smudger) Close() error {
	_ = s.in.Close()
	return s.cmd.Wait()
}

// smudge returns the content that a path is to have on disk. The size that git
// announces is the blob's and not that of what follows, so a request for an
// object that cannot exist marks the end.
func (s *smudger) smudge(ctx context.Context, h plumbing.Hash, p string) ([]byte, error) {
	if strings.HasPrefix(p, " ") || strings.HasPrefix(p, "\t") {
		// The batch drops white space before a path.
		return s.repo.Output(ctx, git.Call{Args: []string{"cat-file", "--filters", "--path=" + p, h.String()}, Config: s.config})
	}
	if _, err := fmt.Fprintf(s.in, "%s %s\x00%s x\x00", h, p, s.token); err != nil {
		return nil, s.failed(p, err)
	}
	head, err := s.out.ReadString('\n')
	if err != nil {
		return nil, s.failed(p, err)
	}
	if !strings.HasPrefix(head, h.String()+" blob ") {
		return nil, s.failed(p, fmt.Errorf("git says %s", oneLine(head)))
	}
	return s.body(p)
}

func (s *smudger) body(p string) ([]byte, error) {
	var content []byte
	end := []byte(s.token + " missing\n")
	for start := true; ; {
		line, err := s.out.ReadSlice('\n')
		if start && bytes.Equal(line, end) {
			return bytes.TrimSuffix(content, []byte("\n")), nil
		}
		content = append(content, line...)
		start = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, s.failed(p, err)
		}
	}
}

func (s *smudger) failed(p string, err error) error {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	return fmt.Errorf("filter %s: %w: %s", quoted(p), err, strings.TrimSpace(s.stderr.String()))
}
