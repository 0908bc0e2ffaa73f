package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type worktreeCmd struct {
	Path string `arg:"" help:"Folder of the work tree, which must not be there yet, or be empty."`
	ID   string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *worktreeCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		r, err := a.choose(ctx, s, c.ID)
		if err != nil {
			return err
		}
		dir := c.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.dir, dir)
		}
		if err := s.Clear(ctx, r); err != nil {
			return err
		}
		err = a.asUser(func() error { return s.Queue.Checkout(ctx, r, dir) })
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(struct {
				ID     string `json:"id"`
				Path   string `json:"path"`
				Commit string `json:"commit"`
			}{r.ID, dir, r.Commit.String()})
		}
		fmt.Fprintf(a.stdout, "%s: checked out at %s, without hooks and filters\n", r.ID, clean(c.Path))
		a.ui.line("remove: git worktree remove %s", clean(quoteArgs([]string{c.Path})))
		return nil
	})
}
