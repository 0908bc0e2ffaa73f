package container

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// File is one path of a base. Mode is git's (0100644, 0100755, 0120000,
// 0160000), 0 where the path is gone; Object is its git object name in hex.
type File struct {
	Path   string // raw bytes, with slashes
	Mode   uint32
	Object string
}

// Base is what a task starts from. Its files lie in the sandbox's export folder,
// and must not change until the task is done with the sandbox.
type Base struct {
	ID      string                                // names the content
	From    string                                // what Changed counts from, "" for nothing
	Changed []File                                // sorted by path
	All     func(context.Context) ([]File, error) // every file, sorted by path
	Commit  string                                // the one commit of the workspace's repository
	Branch  string                                // its branch, "" for a detached HEAD
	Ignored []string                              // ignore rules besides those in the files
	Keep    []string                              // names of ignored folders that stay ("node_modules")
	History []string                              // home paths of the agent that persist (".claude/projects")
	Clean   bool                                  // let nothing stay
}

// ResetReport says what a reset did, in the guest's words.
type ResetReport = wire.ResetReport

// Reset makes the workspace equal to the base, and reverts the rest of the
// sandbox but for what persists. It ends everything that runs. A sandbox whose
// guest cannot do it is replaced, since an agent may have made it so; one from
// Reclaim is not.
func (s *Sandbox) Reset(ctx context.Context, b Base) (ResetReport, error) {
	report, err := s.reset(ctx, b)
	var refused *statusError
	failed := errors.Is(err, ErrDied) || errors.As(err, &refused)
	if failed && ctx.Err() == nil && s.spec.Guest.Load != nil {
		why := "its reset failed: " + err.Error()
		if err = s.renew(ctx, why); err == nil {
			report, err = s.reset(ctx, b)
		}
	}
	if err != nil {
		return report, fmt.Errorf("reset sandbox %s: %w", s.name, err)
	}
	return report, nil
}

func (s *Sandbox) reset(ctx context.Context, b Base) (ResetReport, error) {
	c, err := s.guest(ctx)
	if err != nil {
		return ResetReport{}, err
	}
	// The guest says where it is, so that a change is sent as one only to a guest
	// that knows what it changes.
	var hello wire.Hello
	if err := c.ask(ctx, http.MethodGet, "/hello", nil, &hello); err != nil {
		return ResetReport{}, err
	}
	if b.From != "" && hello.Base == b.From && (hello.Dirs || s.sentIs(b.From)) {
		report, err := s.resetTo(ctx, c, b, b.Changed)
		var refused *statusError
		if !errors.As(err, &refused) || refused.Code != http.StatusConflict {
			return report, err
		}
	}
	b.From = ""
	all, err := b.All(ctx)
	if err != nil {
		return ResetReport{}, fmt.Errorf("list files: %w", err)
	}
	return s.resetTo(ctx, c, b, all)
}

// resetTo sends files, which are all of the base where b.From is "".
func (s *Sandbox) resetTo(ctx context.Context, c *conn, b Base, files []File) (ResetReport, error) {
	var report ResetReport
	if !c.hello.Dirs {
		if err := s.send(ctx, c, b, files); err != nil {
			return report, err
		}
	}
	req := wire.Reset{
		ID: b.ID, From: b.From, All: b.From == "", Changed: make([]wire.File, len(files)),
		Keep: b.Keep, Clean: b.Clean, Commit: b.Commit, Branch: b.Branch, Ignored: b.Ignored, History: b.History,
	}
	for i, f := range files {
		req.Changed[i] = wire.File{Path: wire.Path(f.Path), Mode: f.Mode, Object: f.Object}
	}
	err := c.ask(ctx, http.MethodPost, "/reset", req, &report)
	return report, err
}
