package main

import (
	"context"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type undoCmd struct {
	ID     string `arg:"" optional:"" help:"Undo the apply of this result; the newest apply otherwise."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *undoCmd) Run(a *app) error {
	if err := a.noPaths("undo"); err != nil {
		return err
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		o := patch.UndoOptions{DryRun: c.DryRun}
		if c.ID != "" {
			r, err := s.Choose(ctx, c.ID)
			if err != nil {
				return err
			}
			o.ID = r.ID
		}
		undone, err := s.Queue.Undo(ctx, o)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(undoneReport(undone))
		}
		did := "as before " + undone.ID + " was applied"
		if c.DryRun {
			did = "would be " + did + "; nothing was written"
		}
		fmt.Fprintf(a.stdout, "%s: %s %s\n%s\n", undone.ID, plural(len(undone.Files), "file"), did, writtenLine(undone.Files))
		if !c.DryRun {
			a.ui.line("again: git ftl apply %s", undone.ID)
		}
		return nil
	})
}
