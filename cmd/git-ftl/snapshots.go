package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
)

type snapshotsCmd struct {
	List    snapshotsListCmd    `cmd:"" default:"withargs" help:"List the snapshots of this work tree, newest first."`
	Show    snapshotsShowCmd    `cmd:"" help:"Show what a snapshot has over its commit, and what was left out."`
	Restore snapshotsRestoreCmd `cmd:"" help:"Put the working tree, or paths of it, back to a snapshot; git ftl undo takes that back."`
	Clean   snapshotsCleanCmd   `cmd:"" help:"Remove the snapshots that no result and no running task needs."`
}

type snapshotsListCmd struct {
	All  bool `help:"Those of all work trees, and those that a clone brought."`
	JSON bool `name:"json" help:"Print a JSON array."`
}

// snapshotLine is one snapshot of the listing.
type snapshotLine struct {
	ID       string             `json:"id"`
	Created  time.Time          `json:"created"`
	Branch   string             `json:"branch"`
	Commit   string             `json:"commit"` // of the snapshot
	Head     string             `json:"head"`   // commit that it was taken on, "" if unborn
	Dirty    int                `json:"dirty"`
	Task     string             `json:"task"`
	WorkTree string             `json:"work_tree"`
	LeftOut  []snapshot.LeftOut `json:"left_out"`
}

func lineOf(t session.Taken) snapshotLine {
	l := snapshotLine{
		ID: t.ID, Created: t.Created, Branch: t.Branch, Commit: t.Commit.String(), Dirty: t.Dirty,
		Task: t.Task, WorkTree: t.WorkTree, LeftOut: append([]snapshot.LeftOut{}, t.LeftOut...),
	}
	if !t.Parent.IsZero() {
		l.Head = t.Parent.String()
	}
	return l
}

// place says where a snapshot was taken.
func (l snapshotLine) place() string {
	at := l.Branch
	if l.Head != "" {
		at += " " + l.Head[:7]
	}
	if at = strings.TrimSpace(at); l.Dirty > 0 {
		at += " + " + plural(l.Dirty, "dirty file")
	}
	return at
}

// Run implements the verb.
func (c *snapshotsListCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		all, err := s.Snapshots(ctx, c.All)
		if err != nil {
			return err
		}
		lines := []snapshotLine{}
		for _, t := range all {
			lines = append(lines, lineOf(t))
		}
		if c.JSON {
			return a.json(lines)
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, l := range lines {
			subject := "no task here knows it"
			if l.WorkTree != "" {
				subject = session.Subject(l.Task)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.ID, when(l.Created), clean(l.place()), clean(subject))
		}
		return w.Flush()
	})
}

type snapshotsShowCmd struct {
	ID   string `arg:"" help:"Snapshot."`
	JSON bool   `name:"json" help:"Print one JSON object, without the files."`
}

// emptyTree is what a snapshot without a commit is compared with.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Run implements the verb.
func (c *snapshotsShowCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		t, err := s.Snapshot(ctx, c.ID)
		if err != nil {
			return err
		}
		l := lineOf(t)
		if c.JSON {
			return a.json(l)
		}
		fmt.Fprintf(a.stdout, "%-9s %s\n%-9s %s\n%-9s %s\n", "snapshot", l.ID+"  "+l.Commit, "taken", when(l.Created), "from", clean(l.place()))
		for _, o := range l.LeftOut {
			fmt.Fprintf(a.stdout, "%-9s %s  %s\n", "left out", clean(o.Path), clean(o.Why))
		}
		base := l.Head
		if base == "" {
			base = emptyTree
		}
		return a.git(ctx, "diff", "--stat", "--no-ext-diff", base, l.Commit, "--")
	})
}

// git runs git for the user, with their own pager and colours, and no hook.
func (a *app) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir, cmd.Env = a.dir, a.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, handed(a.stdout), a.stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{code: max(exit.ExitCode(), exitFailed), err: err, quiet: true} // git has said why
	}
	return err
}

type snapshotsRestoreCmd struct {
	ID     string `arg:"" help:"Snapshot; paths of it follow after --."`
	DryRun bool   `short:"n" name:"dry-run" help:"Only say what would be written."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
}

// Run implements the verb.
func (c *snapshotsRestoreCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		t, err := s.Snapshot(ctx, c.ID)
		if err != nil {
			return err
		}
		o := patch.RestoreOptions{DryRun: c.DryRun}
		if o.Paths, err = a.repoPaths(s.Repo); err != nil {
			return err
		}
		done, err := s.Restore(ctx, t, o)
		if err != nil {
			return explainRestore(t.ID, err)
		}
		if c.JSON {
			r := appliedReport(done)
			r.State = ""
			return a.json(r)
		}
		a.showRestored(done)
		return nil
	})
}

// explainRestore says what an error means where no result is in play.
func explainRestore(id string, err error) error {
	var conflict *patch.ConflictError
	switch {
	case errors.Is(err, patch.ErrPaths):
		return &exitError{code: exitFailed, err: fmt.Errorf("snapshot %s has nothing at these paths", id), hints: []string{"git ls-tree -r --name-only ftl/snapshots/" + id}}
	case errors.As(err, &conflict):
		e := &exitError{}
		e.explainConflict(conflict)
		e.hints = []string{"move what is in its way, or name what you want: git ftl snapshots restore " + id + " -- PATH…"}
		return e
	}
	return err
}

func (a *app) showRestored(done patch.Applied) {
	if len(done.Files) == 0 {
		fmt.Fprintf(a.stdout, "%s: your working tree is as in the snapshot; nothing was written\n", done.ID)
	} else {
		did := "as in the snapshot; index and HEAD unchanged"
		if done.DryRun {
			did = "would be " + did + "; nothing was written"
		}
		fmt.Fprintf(a.stdout, "%s: %s %s\n%s\n", done.ID, plural(len(done.Files), "file"), did, writtenLine(done.Files))
	}
	if len(done.Left) > 0 {
		fmt.Fprintf(a.stdout, "left alone (ignored, left out or submodules): %s\n", clean(strings.Join(done.Left, " ")))
	}
	if !done.DryRun && len(done.Files) > 0 {
		a.ui.line("undo: git ftl undo")
	}
}

type snapshotsCleanCmd struct {
	DryRun bool `short:"n" name:"dry-run" help:"Only say what would be removed."`
	JSON   bool `name:"json" help:"Print a JSON array."`
}

// Run implements the verb.
func (c *snapshotsCleanCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		gone, err := s.CleanSnapshots(ctx, c.DryRun)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(gone)
		}
		did := "removed"
		if c.DryRun {
			did = "would be removed"
		}
		for _, g := range gone {
			fmt.Fprintf(a.stdout, "%s  %s %s  %s\n", did, g.What, g.Name, g.Why)
		}
		if len(gone) == 0 {
			fmt.Fprintln(a.stdout, "nothing to remove")
		}
		return nil
	})
}
