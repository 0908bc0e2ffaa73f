package main

import (
	"context"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type rejectCmd struct {
	IDs    []string `arg:"" optional:"" name:"id" help:"Results; the only undecided one of this work tree otherwise."`
	DryRun bool     `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool     `name:"json" help:"Print one JSON object a result."`
}

// Run implements the verb. Where one of several IDs is none, nothing is rejected.
func (c *rejectCmd) Run(a *app) error {
	if err := a.noPaths("reject"); err != nil {
		return err
	}
	ids := c.IDs
	if len(ids) == 0 {
		ids = []string{""}
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		var results []patch.Result
		for _, id := range ids {
			r, err := a.choose(ctx, s, id)
			if err != nil {
				return err
			}
			results = append(results, r)
		}
		for _, r := range results {
			if err := c.reject(ctx, a, s, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *rejectCmd) reject(ctx context.Context, a *app, s *session.Session, r patch.Result) error {
	if !c.DryRun {
		if err := s.Queue.Reject(ctx, r.ID); err != nil {
			return decided(r.ID, err)
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
}
