package main

import (
	"context"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type rejectCmd struct {
	ID     string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *rejectCmd) Run(a *app) error {
	if err := a.noPaths("reject"); err != nil {
		return err
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		r, err := a.choose(ctx, s, c.ID)
		if err != nil {
			return err
		}
		if !c.DryRun {
			if err := s.Queue.Reject(ctx, r.ID); err != nil {
				return err
			}
			r.State = patch.Rejected
		}
		switch {
		case c.JSON:
			return a.json(applied{ID: r.ID, Files: []appliedFile{}, Left: []string{}, Conflicts: []appliedConflict{}, State: string(r.State), DryRun: c.DryRun})
		case c.DryRun:
			fmt.Fprintf(a.stdout, "%s: would be rejected; nothing was written\n", r.ID)
			return nil
		}
		fmt.Fprintf(a.stdout, "%s: rejected; git ftl apply %s still takes it until it is collected\n", r.ID, r.ID)
		return nil
	})
}
