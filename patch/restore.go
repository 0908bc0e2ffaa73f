package patch

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// RestoreOptions says what of a snapshot to put back, and how.
type RestoreOptions struct {
	Now     Current
	LeftOut []string // paths that the snapshot left out: they stay as they are
	DryRun  bool     // compute everything, write nothing
	Paths   []string // files or folders to put back, all where it is empty; slashes, from the top
}

// Restore makes the work tree what it was in a snapshot of this machine, whose ID,
// commit and tree it is given as base of no result. Files that the snapshot lacks
// go, where o.Now has them; those that either of the two leaves out, that git
// ignores, and submodules stay, and are named in Applied.Left. It is undone like
// an apply. Errors: ErrPaths, *ConflictError, *UnsafeError, *InterruptedError.
func (q *Queue) Restore(ctx context.Context, id string, snap Base, o RestoreOptions) (Applied, error) {
	unlock, err := q.lock(ctx)
	if err != nil {
		return Applied{}, err
	}
	defer unlock()
	if _, err := q.recover(ctx); err != nil {
		return Applied{}, err
	}
	d, err := openDisk(q.repo.Dir)
	if err != nil {
		return Applied{}, err
	}
	defer d.Close()
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	r := &restore{snap: snap, o: o, plan: plan{disk: d, apply: &apply{
		q: q, objs: objs, restore: true, ours: o.Now.Tree, o: ApplyOptions{Now: o.Now, DryRun: o.DryRun},
		r: Result{ID: id, Base: snap.Commit, BaseTree: snap.Tree},
	}}}
	done, err := r.run(ctx)
	if err != nil {
		return Applied{}, fmt.Errorf("restore snapshot %s: %w", id, err)
	}
	return done, nil
}

// restore is one Restore on its way: an apply of the way from the work tree to
// the snapshot, in which nothing has to be merged.
type restore struct {
	plan
	snap Base
	o    RestoreOptions
	stay []string // paths that differ and are not touched
}

func (r *restore) run(ctx context.Context) (Applied, error) {
	if err := r.choose(); err != nil {
		return Applied{}, err
	}
	// Its content is the user's own, links and odd names too; what git refuses to
	// have in an index stays out all the same.
	if err := (gate{repo: r.q.repo}).checkIndex(ctx, r.changes); err != nil {
		return Applied{}, err
	}
	if err := r.verify(ctx); err != nil {
		return Applied{}, err
	}
	done := Applied{ID: r.r.ID, Result: r.r, Left: r.stay, DryRun: r.o.DryRun}
	for _, c := range r.changes {
		done.Files = append(done.Files, Written{Path: c.Path, Change: kindOf(c)})
	}
	if r.o.DryRun || len(done.Files) == 0 {
		return done, nil
	}
	j, err := r.write(ctx)
	if err == nil {
		done.Commit = hashOf(j.Record.Applied)
	}
	return done, err
}

// choose finds what to write.
func (r *restore) choose() error {
	all, err := r.objs.Diff(r.o.Now.Tree, r.snap.Tree)
	if err != nil {
		return err
	}
	now, then := newOuts(r.o.Now.LeftOut), newOuts(r.o.LeftOut)
	for _, c := range all {
		if len(r.o.Paths) > 0 && !named(r.o.Paths, c.Path) {
			continue
		}
		ignored, err := r.ignored(c)
		if err != nil {
			return err
		}
		if ignored || now.cover(c.Path) || then.cover(c.Path) || c.Old.Mode == submodule || c.New.Mode == submodule {
			r.stay = append(r.stay, c.Path)
		} else {
			r.changes = append(r.changes, c)
		}
	}
	if err := r.known(); err != nil {
		return err
	}
	r.merged, err = r.objs.Rewrite(r.o.Now.Tree, slices.Clone(r.changes))
	return err
}

// ignored reports whether a file of the snapshot's name is there that the work
// tree's own snapshot does not have.
func (r *restore) ignored(c git.Change) (bool, error) {
	if c.Old != (git.Entry{}) {
		return false, nil
	}
	fi, err := r.disk.lstat(c.Path)
	if absent(err) {
		return false, nil
	}
	return err == nil && !fi.IsDir(), err
}

// known returns ErrPaths where nothing is to be done, and a path that was asked for
// is in neither tree.
func (r *restore) known() error {
	if len(r.changes)+len(r.stay) > 0 {
		return nil
	}
	now, then := newView(r.objs, r.o.Now.Tree), newView(r.objs, r.snap.Tree)
	for _, p := range r.o.Paths {
		a, err := now.lookup(p)
		if err != nil {
			return err
		}
		b, err := then.lookup(p)
		if err != nil {
			return err
		}
		if p != "." && a == (git.Entry{}) && b == (git.Entry{}) {
			return ErrPaths
		}
	}
	return nil
}
