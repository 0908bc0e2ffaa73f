package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type undoCmd struct {
	ID     string `arg:"" optional:"" help:"Undo the apply of this result; the newest apply otherwise. Files or folders may follow after --."`
	Merge  bool   `help:"Merge with the edits that were made since."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *undoCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		o := patch.UndoOptions{DryRun: c.DryRun, Merge: c.Merge}
		if c.ID != "" {
			r, err := s.Choose(ctx, c.ID)
			if err != nil {
				return err
			}
			o.ID = r.ID
		}
		var err error
		if o.Paths, err = a.repoPaths(s.Repo); err != nil {
			return err
		}
		undone, err := s.Undo(ctx, o)
		if err != nil {
			return c.explain(ctx, a, s, o.ID, err)
		}
		if c.JSON {
			err = a.json(undoneReport(undone))
		} else {
			a.showUndone(undone, o)
		}
		if err == nil && len(undone.Conflicts) > 0 {
			next := "settle them in your editor"
			if undone.DryRun {
				next = "git ftl undo --merge " + undone.ID
			}
			err = marked(undone, []string{next})
		}
		return err
	})
}

// explain says what is in the way of an undo of id, "" for the newest apply.
func (c *undoCmd) explain(ctx context.Context, a *app, s *session.Session, id string, err error) error {
	if errors.Is(err, patch.ErrPaths) {
		return &exitError{code: exitFailed, err: fmt.Errorf("the apply wrote nothing at %s", strings.Join(a.paths, ", ")), hints: []string{"git ftl undo -n lists what it wrote"}}
	}
	var edited *patch.EditedError
	if !errors.As(err, &edited) {
		return err
	}
	if c.JSON {
		if unsaid := a.json(c.refused(ctx, s, edited)); unsaid != nil {
			return unsaid
		}
	}
	if id != "" {
		e := &exitError{}
		e.explainEdited(edited, " "+id)
		return e
	}
	return err
}

// refused is what --json prints where edits are in the way and nothing was written.
func (c *undoCmd) refused(ctx context.Context, s *session.Session, e *patch.EditedError) applied {
	p := patch.Applied{ID: e.ID, DryRun: c.DryRun}
	for _, path := range e.Paths {
		p.Conflicts = append(p.Conflicts, patch.Conflict{Path: path, Why: "edited since"})
	}
	for _, path := range e.Staged {
		p.Conflicts = append(p.Conflicts, patch.Conflict{Path: path, Why: "staged since"})
	}
	if r, err := s.Queue.Find(ctx, e.ID); err == nil { // none where a snapshot was restored
		p.Result = r
	}
	return undoneReport(p)
}

func (a *app) showUndone(p patch.Applied, o patch.UndoOptions) {
	if len(p.Files) == 0 && len(p.Conflicts) > 0 {
		fmt.Fprintf(a.stdout, "%s: no file was written\n", p.ID)
		return
	}
	did, again := "as before "+p.ID+" was applied", "git ftl apply "+p.ID
	if slices.ContainsFunc(p.Files, func(f patch.Written) bool { return f.Beside }) {
		again = "git ftl apply --with-tests " + p.ID
	}
	if p.Result.State == "" { // no result had a part in it
		did, again = "as before snapshot "+p.ID+" was restored", "git ftl snapshots restore "+p.ID
	}
	if o.Merge {
		did += ", but for your edits"
	}
	if o.DryRun {
		did = "would be " + did + "; nothing was written"
	}
	fmt.Fprintf(a.stdout, "%s: %s %s\n%s\n", p.ID, plural(len(p.Files), "file"), did, writtenLine(p.Files))
	if o.DryRun {
		return
	}
	if p.Result.State == patch.Partial {
		a.ui.line("rest: git ftl undo %s", p.ID)
	}
	a.ui.line("again: %s", again)
}
