package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type gcCmd struct {
	DryRun bool `short:"n" name:"dry-run" help:"Only say what would be removed."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Help implements kong.HelpProvider.
func (c *gcCmd) Help() string {
	return "Removes results 30 days after they were applied, rejected or undone (git config ftl.retention), " +
		"tasks without a result 30 days after their end, and what lost its work tree, sandbox or repository. " +
		"What waits for a decision, runs or is held stays. Commits and files in the object store are git's own: git gc frees them."
}

// Run implements the verb.
func (c *gcCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		done, failed := s.Collect(ctx, c.DryRun)
		if c.JSON {
			if err := a.json(done); err != nil {
				return err
			}
			return failed
		}
		a.showCollection(done)
		return failed
	})
}

func (a *app) showCollection(c session.Collection) {
	did := "removed"
	if c.DryRun {
		did = "would be removed"
	}
	a.showCollected(a.stdout, did, c.Removed)
	for _, w := range c.Waiting {
		a.ui.note(fmt.Sprintf("%s %s and stays: git ftl apply %s or git ftl reject %s", w.Name, w.Why, w.Name, w.Name))
	}
	if c.Engine != "" {
		a.ui.note("sandboxes and images were not looked at: " + c.Engine)
	}
	switch {
	case len(c.Removed) == 0:
		fmt.Fprintln(a.stdout, "nothing to remove")
	default:
		fmt.Fprintf(a.stdout, "%s  %s, %s; objects are freed by git gc\n", did, plural(len(c.Removed), "thing"), sizeText(c.Bytes()))
	}
}

// showCollected lists things with what they take.
func (a *app) showCollected(to io.Writer, did string, all []session.Collected) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%s %s\t%s", did, r.What, clean(r.Name), clean(r.Why))
		if r.Bytes > 0 {
			fmt.Fprintf(w, "\t%s", sizeText(r.Bytes))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
}

// sizeText is config.FormatSize for a number that is no setting.
func sizeText(n int64) string {
	if n == 0 {
		return "0 B"
	}
	return config.FormatSize(n)
}
