package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

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
	if err := a.noPaths("apply"); err != nil {
		return err
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		r, err := a.choose(ctx, s, c.ID)
		if err != nil {
			return err
		}
		if err := s.Shown(r); err != nil && c.ID == "" {
			return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", r.ID, err), hints: []string{"git ftl diff " + r.ID, "git ftl apply " + r.ID}}
		}
		a.sayBranch(ctx, s, r.ID)
		applied, err := s.Apply(ctx, r, patch.ApplyOptions{DryRun: c.DryRun})
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
		a.ui.note(fmt.Sprintf("%s was made on branch %s; this is %s", id, o.Branch, now))
	}
}
