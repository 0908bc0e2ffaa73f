package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	return a.decide(func(ctx context.Context, s *session.Session) error {
		r, err := a.choose(ctx, s, c.ID)
		if err != nil {
			return err
		}
		if err := s.Shown(r); err != nil && c.ID == "" {
			return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", r.ID, err), hints: []string{"git ftl diff " + r.ID, "git ftl apply " + r.ID}}
		}
		a.sayBranch(ctx, s, r.ID)
		applied, err := s.Apply(ctx, r, c.DryRun)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(appliedReport(applied))
		}
		a.showApplied(s, applied, c.DryRun)
		return nil
	})
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

// undoneReport is the same for an undo, which leaves the whole result.
func undoneReport(p patch.Applied) applied {
	r := appliedReport(p)
	r.Left = []string{}
	return r
}

func (a *app) showApplied(s *session.Session, p patch.Applied, dryRun bool) {
	if len(p.Files) == 0 {
		fmt.Fprintf(a.stdout, "%s: your working tree has all of it already; nothing was written\n", p.ID)
		return
	}
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
	a.newFiles(s, p.Files)
	a.ui.line("undo: git ftl undo")
}

// newFiles says how to add what git does not track yet, from where the user
// stands.
func (a *app) newFiles(s *session.Session, files []patch.Written) {
	var added []string
	odd := false
	for _, f := range files {
		if f.Change != patch.Added {
			continue
		}
		rel, err := filepath.Rel(filepath.FromSlash("/"+s.Repo.Prefix), filepath.FromSlash("/"+f.Path))
		odd = odd || err != nil || clean(f.Path) != f.Path
		added = append(added, filepath.ToSlash(rel))
	}
	switch {
	case len(added) == 0:
	case len(added) > 20 || odd:
		a.ui.line("new: %s, git add -A takes them", plural(len(added), "file"))
	default:
		a.ui.line("new: git add -- %s", quoteArgs(added))
	}
}

// sayBranch tells of a result that was made on another branch.
func (a *app) sayBranch(ctx context.Context, s *session.Session, id string) {
	o, err := s.Task(id)
	if err != nil {
		return
	}
	now, err := s.Repo.Line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err == nil && o.Branch != "" && now != o.Branch {
		a.ui.Note(fmt.Sprintf("%s was made on branch %s; this is %s", id, o.Branch, now))
	}
}

type undoCmd struct {
	ID     string `arg:"" optional:"" help:"Undo the apply of this result; the newest apply otherwise."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *undoCmd) Run(a *app) error {
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

type rejectCmd struct {
	ID     string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would happen."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *rejectCmd) Run(a *app) error {
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
			return a.json(applied{ID: r.ID, Files: []appliedFile{}, Left: []string{}, State: string(r.State), DryRun: c.DryRun})
		case c.DryRun:
			fmt.Fprintf(a.stdout, "%s: would be rejected; nothing was written\n", r.ID)
			return nil
		}
		fmt.Fprintf(a.stdout, "%s: rejected; git ftl apply %s still takes it until it is collected\n", r.ID, r.ID)
		return nil
	})
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
	case errors.Is(err, patch.ErrUnknown):
		if o, known := a.taskOf(s, id); known {
			return r, &exitError{code: exitFailed, err: fmt.Errorf("task %s has no result: it changed nothing, or failed", o.ID), hints: []string{"git ftl show " + o.ID}}
		}
	case errors.Is(err, session.ErrNonePending):
		return r, &exitError{code: exitFailed, err: err, hints: []string{"git ftl list shows every task; apply, diff and reject take an ID"}}
	}
	return r, err
}

// taskOf finds a task by a prefix that only it has.
func (a *app) taskOf(s *session.Session, prefix string) (found session.Outcome, known bool) {
	all, err := s.Tasks()
	for _, o := range all {
		if err == nil && strings.HasPrefix(o.ID, strings.ToLower(prefix)) {
			if known {
				return found, false
			}
			found, known = o, true
		}
	}
	return found, known
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
		return session.Outcome{}, &exitError{code: exitFailed, err: fmt.Errorf("no task is called %q", id), hints: []string{"git ftl list shows every task"}}
	case 1:
		return found[0], nil
	}
	e := &exitError{code: exitUsage, err: fmt.Errorf("%q begins several tasks", id), hints: []string{"give more letters of one"}}
	for _, o := range found {
		e.details = append(e.details, o.ID+"  "+session.Subject(o.Task))
	}
	return session.Outcome{}, e
}
