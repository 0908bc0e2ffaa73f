package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type applyCmd struct {
	ID     string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise. -- PATH… takes files and folders of it."`
	Patch  bool   `short:"p" help:"Choose hunk by hunk; the answers come from stdin."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would happen."`
	Waive  bool   `help:"Accept what the linter finds, this time and for this result."`
	Tests  bool   `name:"with-tests" help:"Keep the tests that were written beside the agent, as new files; those that say nothing stay out."`
	JSON   bool   `name:"json" help:"Print one JSON object."`

	targetFlags
}

// Run implements the verb.
func (c *applyCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		paths, err := a.repoPaths(s.Repo)
		if err != nil {
			return err
		}
		r, err := a.choose(ctx, s, c.ID)
		if err != nil {
			return orPath(a, err, "apply", c.ID)
		}
		seen := c.ID != "" || c.Patch || c.Edit
		if err := s.Shown(r); err != nil && !seen {
			return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", r.ID, err), hints: []string{"git ftl diff " + r.ID, "git ftl apply " + r.ID}}
		}
		a.sayBranch(ctx, s, r.ID)
		v := &applying{app: a, c: c, s: s, r: r, o: patch.ApplyOptions{DryRun: c.DryRun, Paths: paths}}
		if c.DryRun {
			v.sayTouched()
		}
		if err := v.withTests(c.Tests); err != nil {
			return err
		}
		switch {
		case c.Edit && !c.Commit:
			return v.edited(ctx)
		case c.Patch:
			return v.asked(ctx)
		}
		return v.run(ctx)
	})
}

// applying is one apply, whichever way its part is chosen.
type applying struct {
	*app
	c *applyCmd
	s *session.Session
	r patch.Result
	o patch.ApplyOptions
}

// run applies what o says and tells what was done.
func (v *applying) run(ctx context.Context) error {
	if v.o.Part != nil && v.o.Part.Tree == v.r.Have {
		return v.nothing()
	}
	o, err := v.targets(ctx)
	if err != nil {
		return v.withoutTests(err)
	}
	applied, err := v.s.Apply(ctx, v.r, o, v.c.Waive)
	if unsaid := v.conflicts(err); unsaid != nil {
		return unsaid
	}
	if err != nil {
		return v.withoutTests(decided(v.r.ID, err))
	}
	v.showHooks(applied.Hooks)
	if v.c.JSON {
		err = v.json(appliedReport(applied))
	} else {
		v.showApplied(v.s, applied, o)
	}
	if err == nil && len(applied.Conflicts) > 0 {
		next := []string{"git mergetool, then git add", "git ftl undo takes it all back"}
		if applied.DryRun {
			next = []string{"git ftl apply --merge " + applied.ID}
		}
		err = marked(applied, next)
	}
	return err
}

// conflicts prints for programs why nothing was written.
func (v *applying) conflicts(err error) error {
	var conflict *patch.ConflictError
	if !v.c.JSON || !errors.As(err, &conflict) {
		return nil
	}
	return v.json(appliedReport(patch.Applied{ID: v.r.ID, Left: v.r.Left, Result: v.r, DryRun: v.c.DryRun, Conflicts: conflict.Paths}))
}

// decided adds the ways on to the error of a result that was applied already.
func decided(id string, err error) error {
	if !errors.Is(err, patch.ErrDecided) {
		return err
	}
	return &exitError{code: exitFailed, err: err, hints: []string{
		"git ftl undo " + id + " takes it back",
		fmt.Sprintf("git cherry-pick -n ftl/snapshots/%s..ftl/results/%s takes it anew, after a git revert", id, id),
	}}
}

// nothing says that no part was chosen.
func (v *applying) nothing() error {
	if v.c.JSON {
		return v.json(appliedReport(patch.Applied{ID: v.r.ID, Left: v.r.Left, Result: v.r, DryRun: v.c.DryRun}))
	}
	fmt.Fprintf(v.stdout, "%s: nothing was chosen, nothing was written\n", v.r.ID)
	return nil
}

// applied is what apply --json and undo --json print.
type applied struct {
	ID     string        `json:"id"`
	Files  []appliedFile `json:"files"`
	Left   []string      `json:"left"` // paths of the result that were not taken
	State  string        `json:"state"`
	DryRun bool          `json:"dry_run"`

	Conflicts []appliedConflict `json:"conflicts"`
	Commit    string            `json:"commit,omitempty"` // that was made on HEAD
}

// appliedConflict is a path that was written in conflict, or left alone.
type appliedConflict struct {
	Path    string `json:"path"`
	Lines   string `json:"lines,omitempty"` // of the markers
	Why     string `json:"why"`
	Against string `json:"against,omitempty"`
}

// appliedFile is one path that was written.
type appliedFile struct {
	Path   string `json:"path"`
	Change string `json:"change"`
	Merged bool   `json:"merged"`         // with the user's own edits
	Test   bool   `json:"test,omitempty"` // it was written beside the agent, and is no part of the result
}

func appliedReport(p patch.Applied) applied {
	r := applied{ID: p.ID, Files: []appliedFile{}, Left: append([]string{}, p.Left...), State: string(p.Result.State), DryRun: p.DryRun}
	r.Conflicts = []appliedConflict{}
	for _, c := range p.Conflicts {
		r.Conflicts = append(r.Conflicts, appliedConflict{c.Path, c.Lines, c.Why, c.Against})
	}
	if !p.Head.IsZero() {
		r.Commit = p.Head.String()
	}
	for _, f := range p.Files {
		r.Files = append(r.Files, appliedFile{f.Path, string(f.Change), f.Merged, f.Beside})
	}
	return r
}

// undoneReport is the same for an undo, which leaves the whole result or goes back
// to a part of it.
func undoneReport(p patch.Applied) applied {
	r := appliedReport(p)
	if p.Result.State != patch.Partial {
		r.Left = []string{}
	}
	return r
}

func (a *app) showApplied(s *session.Session, p patch.Applied, o patch.ApplyOptions) {
	if len(p.Files) == 0 && len(p.Conflicts) > 0 {
		fmt.Fprintf(a.stdout, "%s: no file was written; %s\n", p.ID, touched(p, o, "nothing was written"))
		return
	}
	if len(p.Files) == 0 {
		all := "all of it"
		if len(p.Left) > 0 {
			all = "this part"
		}
		fmt.Fprintf(a.stdout, "%s: your working tree has %s already; %s\n", p.ID, all, touched(p, o, "nothing was written"))
		a.sayLeft(s, p.Left)
		return
	}
	did := "applied"
	if slices.ContainsFunc(p.Files, func(f patch.Written) bool { return f.Merged }) {
		did = "applied, merged with your edits"
	}
	if o.DryRun {
		did = "would be " + did + "; nothing was written"
	}
	fmt.Fprintf(a.stdout, "%s: %s %s; %s\n", p.ID, ofAll(p), did, touched(p, o, "index and HEAD unchanged"))
	if len(p.Left) == 0 { // else the user has just named them
		fmt.Fprintln(a.stdout, writtenLine(p.Files))
	}
	if o.DryRun {
		a.sayLeft(s, p.Left)
		return
	}
	if !o.Index && o.Commit == nil {
		a.newFiles(s, p.Files)
	}
	undo := "undo: git ftl undo"
	if !p.Head.IsZero() {
		undo = "undo: git revert " + p.Head.String()[:12]
	}
	a.sayLeft(s, p.Left, undo)
}

// ofAll counts the files that were written, of those of the result where they
// are not all, and the tests that came along.
func ofAll(p patch.Applied) string {
	n, all := 0, len(p.Result.Files)
	for _, f := range p.Files {
		if !f.Beside {
			n++
		}
	}
	files, tests := plural(n, "file"), plural(len(p.Files)-n, "test file")
	if n < all || n == all && len(p.Left) > 0 {
		files = fmt.Sprintf("%d of %s", n, plural(all, "file"))
	}
	switch len(p.Files) {
	case n:
		return files
	case len(p.Files) - n:
		return tests
	}
	return files + " and " + tests
}

// sayLeft names what is left of a result, in one line with more to say.
func (a *app) sayLeft(s *session.Session, left []string, more ...string) {
	if len(left) > 0 {
		const most = 12
		names := make([]string, 0, most+1)
		for i, p := range left {
			if i == most {
				names = append(names, fmt.Sprintf("and %d more", len(left)-most))
				break
			}
			names = append(names, clean(quoteArgs([]string{fromHere(s, p)})))
		}
		more = append([]string{"left: " + strings.Join(names, " ")}, more...)
	}
	if len(more) > 0 {
		a.ui.line("%s", strings.Join(more, "    "))
	}
}

// fromHere is a path of the repository from where the user stands.
func fromHere(s *session.Session, p string) string {
	rel, err := filepath.Rel(filepath.FromSlash("/"+s.Repo.Prefix), filepath.FromSlash("/"+p))
	if err != nil {
		return p
	}
	return filepath.ToSlash(rel)
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
		odd = odd || clean(f.Path) != f.Path
		added = append(added, fromHere(s, f.Path))
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
