package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type applyCmd struct {
	ID     string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *applyCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.recovered(ctx)
	if err != nil {
		return err
	}
	r, err := a.choose(ctx, s, c.ID)
	if err != nil {
		return err
	}
	if err := s.Shown(r); err != nil && c.ID == "" {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", r.ID, err), hints: []string{"git ftl diff " + r.ID, "git ftl apply " + r.ID}}
	}
	applied, err := s.Apply(ctx, r, c.DryRun)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(appliedReport(applied))
	}
	a.showApplied(applied, c.DryRun)
	return nil
}

// applied is what apply --json and undo --json print.
type applied struct {
	ID     string        `json:"id"`
	Files  []appliedFile `json:"files"`
	Left   []string      `json:"left"` // paths of the result that were not taken
	State  string        `json:"state"`
	DryRun bool          `json:"dry_run"`
}

// appliedFile is one path that was written.
type appliedFile struct {
	Path   string `json:"path"`
	Change string `json:"change"`
	Merged bool   `json:"merged"` // with the user's own edits
}

func appliedReport(p patch.Applied) applied {
	r := applied{ID: p.ID, Files: []appliedFile{}, Left: append([]string{}, p.Left...), State: string(p.Result.State), DryRun: p.DryRun}
	for _, f := range p.Files {
		r.Files = append(r.Files, appliedFile{f.Path, string(f.Change), f.Merged})
	}
	return r
}

func (a *app) showApplied(p patch.Applied, dryRun bool) {
	did := "applied"
	if slices.ContainsFunc(p.Files, func(f patch.Written) bool { return f.Merged }) {
		did = "applied, merged with your edits"
	}
	if dryRun {
		did = "would be " + did + "; nothing was written"
	}
	fmt.Fprintf(a.stdout, "%s: %s %s; index and HEAD unchanged\n%s\n", p.ID, plural(len(p.Files), "file"), did, writtenLine(p.Files))
	if dryRun {
		return
	}
	var added []string
	for _, f := range p.Files {
		if f.Change == patch.Added {
			added = append(added, f.Path)
		}
	}
	if len(added) > 0 && len(added) <= 20 {
		a.ui.line("new: git add -- %s", clean(quoteArgs(added)))
	} else if len(added) > 0 {
		a.ui.line("new: %d files, git add -A takes them", len(added))
	}
	a.ui.line("undo: git ftl undo")
}

type undoCmd struct {
	DryRun bool `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *undoCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.recovered(ctx)
	if err != nil {
		return err
	}
	undone, err := s.Queue.Undo(ctx, patch.UndoOptions{DryRun: c.DryRun})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(appliedReport(undone))
	}
	did := "are as before " + undone.ID + " was applied"
	if c.DryRun {
		did = "would be as before " + undone.ID + " was applied; nothing was written"
	}
	fmt.Fprintf(a.stdout, "%s: %s %s\n%s\n", undone.ID, plural(len(undone.Files), "file"), did, writtenLine(undone.Files))
	if !c.DryRun {
		a.ui.line("again: git ftl apply %s", undone.ID)
	}
	return nil
}

type rejectCmd struct {
	ID string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise."`
}

// Run implements the verb.
func (c *rejectCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.recovered(ctx)
	if err != nil {
		return err
	}
	r, err := a.choose(ctx, s, c.ID)
	if err != nil {
		return err
	}
	if err := s.Queue.Reject(ctx, r.ID); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s: rejected; git ftl apply %s still takes it until it is collected\n", r.ID, r.ID)
	return nil
}

// choose finds a result, and asks a person at a terminal which of several.
func (a *app) choose(ctx context.Context, s *session.Session, id string) (patch.Result, error) {
	r, err := s.Choose(ctx, id)
	var several *session.SeveralError
	switch {
	case errors.As(err, &several) && isTerminal(a.stdin) && isTerminal(a.stderr):
		return a.ask(s, several.Results)
	case errors.As(err, &several):
		e := &exitError{code: exitUsage, err: err, hints: []string{"name one of them"}}
		for _, r := range several.Results {
			e.details = append(e.details, a.describe(s, r))
		}
		return r, e
	case errors.Is(err, session.ErrNonePending):
		return r, &exitError{code: exitFailed, err: err, hints: []string{"git ftl list shows every task; apply, diff and reject take an ID"}}
	}
	return r, err
}

func (a *app) describe(s *session.Session, r patch.Result) string {
	o, err := s.Task(r.ID)
	if err != nil {
		return r.ID
	}
	return fmt.Sprintf("%s  %s, +%d -%d  %s", r.ID, plural(len(o.Files), "file"), o.Insertions(), o.Deletions(), session.Subject(o.Task))
}

func (a *app) ask(s *session.Session, results []patch.Result) (patch.Result, error) {
	for i, r := range results {
		fmt.Fprintf(a.stderr, "%3d  %s\n", i+1, clean(a.describe(s, r)))
	}
	fmt.Fprintf(a.stderr, "which one (1-%d, empty for none)? ", len(results))
	line, _ := bufio.NewReader(a.stdin).ReadString('\n')
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 1 || n > len(results) {
		return patch.Result{}, &exitError{code: exitUsage, err: errors.New("none was chosen")}
	}
	return results[n-1], nil
}

// record finds the record of a task; the only undecided result's without an ID.
func (a *app) record(ctx context.Context, s *session.Session, id string) (session.Outcome, error) {
	if id == "" {
		r, err := a.choose(ctx, s, "")
		if err != nil {
			return session.Outcome{}, err
		}
		id = r.ID
	}
	all, err := s.Tasks()
	if err != nil {
		return session.Outcome{}, err
	}
	var found []session.Outcome
	for _, o := range all {
		if o.ID == id {
			return o, nil
		}
		if strings.HasPrefix(o.ID, strings.ToLower(id)) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return session.Outcome{}, &exitError{code: exitFailed, err: fmt.Errorf("no task is called %q: %w", id, fs.ErrNotExist), hints: []string{"git ftl list shows every task"}}
	case 1:
		return found[0], nil
	}
	e := &exitError{code: exitUsage, err: fmt.Errorf("%q begins several tasks", id)}
	for _, o := range found {
		e.details = append(e.details, o.ID+"  "+session.Subject(o.Task))
	}
	return session.Outcome{}, e
}
