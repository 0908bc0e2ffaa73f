package patch

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Current is the work tree as the caller has just staged it.
type Current struct {
	Tree    plumbing.Hash
	Head    plumbing.Hash // commit, zero in an unborn repository
	LeftOut []string      // paths that Tree leaves out, folders with or without a slash
}

// ApplyOptions says what of a result to apply, and how. What was applied
// before stays so: each apply takes of what is left.
type ApplyOptions struct {
	Now    Current
	DryRun bool          // compute everything, write nothing
	Seen   plumbing.Hash // the commit of the result that the user decided on; zero takes any
	Paths  []string      // files or folders to take, all where it is empty; slashes, from the top
	Part   *Part         // what to take, in place of Paths
	Beside []NewFile     // what comes along

	Index  bool           // stage the change as well, beside what is staged
	Commit *CommitOptions // commit the change on HEAD as well
	Merge  bool           // write conflicts as markers, and their stages to the index

	// Check looks at what is taken, before anything is written; its error ends the
	// apply. nil looks at nothing.
	Check func(ctx context.Context, objs *git.Objects, taken []git.Change) error
}

// Applied says what an apply or an undo wrote, or would write.
type Applied struct {
	ID     string
	Files  []Written     // sorted by path
	Left   []string      // paths of the result that remain to be applied
	Result Result        // as it is now
	Commit plumbing.Hash // at refs/ftl/applied/ID: the work tree before; zero where nothing was written
	DryRun bool

	Conflicts []Conflict    // written with ApplyOptions.Merge or UndoOptions.Merge, or left alone by the latter
	Head      plumbing.Hash // commit that was made, zero where none was
	Hooks     string        // what the hooks of that commit printed
}

// Written is one path that was written.
type Written struct {
	Path   string
	Change Kind
	Merged bool // what was written differs from what the agent made
	Beside bool // it came along, and is no part of the result
}

// Apply merges a result with the work tree and writes the outcome, all or
// nothing. It first finishes what a crash left. Errors: ErrUnknown,
// *AmbiguousError, ErrForeign, ErrDecided, ErrChanged, ErrPaths,
// *ConflictError, *UnsafeError, *InterruptedError, and with Index, Merge or
// Commit *BusyError, ErrUnmerged, *HookError.
func (q *Queue) Apply(ctx context.Context, id string, o ApplyOptions) (Applied, error) {
	unlock, err := q.lock(ctx)
	if err != nil {
		return Applied{}, err
	}
	defer unlock()
	if _, err := q.recover(ctx); err != nil {
		return Applied{}, err
	}
	r, err := q.Find(ctx, id)
	if err != nil {
		return Applied{}, err
	}
	if err := o.fits(r); err != nil {
		return Applied{}, fmt.Errorf("apply %s: %w", r.ID, err)
	}
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	a := &apply{q: q, objs: objs, o: o, r: r}
	done, err := a.run(ctx)
	if err != nil {
		return Applied{}, fmt.Errorf("apply %s: %w", r.ID, err)
	}
	return done, nil
}

// fits refuses a result that cannot be applied, or is not what was chosen from.
func (o ApplyOptions) fits(r Result) error {
	switch {
	case r.State == Foreign:
		return ErrForeign
	case r.State == Whole:
		return ErrDecided
	case !o.Seen.IsZero() && o.Seen != r.Commit, o.Part != nil && o.Part.Have != r.Have:
		return ErrChanged
	}
	return nil
}

// apply is one apply on its way.
type apply struct {
	q       *Queue
	objs    *git.Objects
	o       ApplyOptions
	r       Result
	from    plumbing.Hash // commit: what base returns, zero before its first call
	ours    plumbing.Hash // tree: the work tree, left-out paths as in Have
	theirs  plumbing.Hash // tree: Have with what is taken
	comes   plumbing.Hash // tree: theirs with what comes along
	merged  plumbing.Hash
	changes []git.Change // ours to merged
	left    outs
	beside  map[plumbing.Hash]bool // content of what comes along
	restore bool                   // of a snapshot: no result is decided by it

	index     map[string][]indexEntry // the user's, where it is to be written
	indexed   []indexStep
	headTree  plumbing.Hash // HEAD with what is taken; zero where nothing is to be committed
	conflicts []Conflict    // that are written
}

func (a *apply) run(ctx context.Context) (Applied, error) {
	for _, step := range []func(context.Context) error{
		a.allowed, a.choose, a.bring, a.look, a.leaveOut, a.merge, a.check, a.mergeIndex, a.mergeHead,
	} {
		if err := step(ctx); err != nil {
			return Applied{}, err
		}
	}
	d, err := openDisk(a.q.repo.Dir)
	if err != nil {
		return Applied{}, err
	}
	defer d.Close()
	p := &plan{apply: a, disk: d}
	if err := p.verify(ctx); err != nil {
		return Applied{}, err
	}
	done, err := a.report()
	if err != nil || a.o.DryRun {
		return done, err
	}
	j, err := p.write(ctx)
	if err != nil {
		return done, err
	}
	done.Commit, done.Head = hashOf(j.Record.Applied), hashOf(j.Record.Commit)
	done.Hooks = j.said.String() + a.q.afterCommit(ctx, j)
	return done, nil
}

// look lets the caller look at what is taken.
func (a *apply) look(ctx context.Context) error {
	if a.o.Check == nil {
		return nil
	}
	taken, err := a.objs.Diff(a.r.Have, a.comes)
	if err != nil {
		return err
	}
	return a.o.Check(ctx, a.objs, taken)
}

// leaveOut gives both sides the entry of Have at paths that the work tree's
// snapshot leaves out, so that they neither look deleted nor get overwritten.
func (a *apply) leaveOut(context.Context) error {
	a.ours, a.left = a.o.Now.Tree, newOuts(a.o.Now.LeftOut)
	if len(a.o.Now.LeftOut) == 0 {
		return nil
	}
	var conflicts []Conflict
	theirs, err := a.objs.Diff(a.r.Have, a.comes)
	if err != nil {
		return err
	}
	for _, c := range theirs {
		if a.left.cover(c.Path) {
			conflicts = append(conflicts, Conflict{Path: c.Path, Why: "left out of the snapshot"})
		}
	}
	if len(conflicts) > 0 {
		return &ConflictError{a.r.ID, conflicts}
	}
	mine, err := a.objs.Diff(a.o.Now.Tree, a.r.Have)
	if err != nil {
		return err
	}
	back := slices.DeleteFunc(mine, func(c git.Change) bool { return !a.left.cover(c.Path) })
	if len(back) > 0 {
		a.ours, err = a.objs.Rewrite(a.o.Now.Tree, back)
	}
	return err
}

// base returns the commit over which every merge of this apply goes: its tree
// is what was applied so far.
func (a *apply) base(context.Context) (plumbing.Hash, error) {
	if a.r.Have == a.r.BaseTree {
		return a.r.Base, nil
	}
	if !a.from.IsZero() {
		return a.from, nil
	}
	var err error
	a.from, err = a.wrap(a.r.Have)
	return a.from, err
}

// wrap makes a commit of a tree between the result's base and the result.
func (a *apply) wrap(tree plumbing.Hash) (plumbing.Hash, error) {
	who := a.q.signature(a.q.now())
	return a.objs.WriteCommit(&object.Commit{Author: who, Committer: who, TreeHash: tree,
		Message: "Applied of " + a.r.ID + "\n", ParentHashes: []plumbing.Hash{a.r.Base}})
}

func (a *apply) merge(ctx context.Context) error {
	base, err := a.base(ctx)
	if err != nil {
		return err
	}
	m, err := merger{a.q, a.objs, base}.merge(ctx, a.ours, a.comes)
	if err != nil {
		return err
	}
	if len(m.conflicts) > 0 {
		if err := a.mark(&m); err != nil {
			return err
		}
	}
	a.merged = m.tree
	a.changes, err = a.objs.Diff(a.ours, m.tree)
	return err
}

// check is the gate, for the merged tree: a merge can bring together what each
// side alone may have.
func (a *apply) check(ctx context.Context) error { return a.checkTree(ctx, a.merged, a.changes) }

func (a *apply) checkTree(ctx context.Context, tree plumbing.Hash, changes []git.Change) error {
	for _, c := range changes {
		if a.left.cover(c.Path) {
			return &ConflictError{a.r.ID, []Conflict{{Path: c.Path, Why: "left out of the snapshot"}}}
		}
		if c.Old.Mode == submodule || c.New.Mode == submodule {
			return &UnsafeError{Path: c.Path, Why: "is a submodule, which an apply does not touch"}
		}
	}
	return gate{a.q.repo, newView(a.objs, tree), a.left}.check(ctx, changes)
}

// report says what is written and what remains.
func (a *apply) report() (Applied, error) {
	done := Applied{ID: a.r.ID, Result: a.r, DryRun: a.o.DryRun, Conflicts: a.conflicts}
	its, theirs := newView(a.objs, a.comes), newView(a.objs, a.theirs)
	for _, c := range a.changes {
		e, err := its.lookup(c.Path)
		if err != nil {
			return done, err
		}
		if e.Mode == filemode.Dir {
			e = git.Entry{}
		}
		along, err := a.cameAlong(c, theirs)
		if err != nil {
			return done, err
		}
		done.Files = append(done.Files, Written{Path: c.Path, Change: kindOf(c), Merged: e != c.New, Beside: along})
	}
	after, err := a.decided()
	done.Left = after.Left
	if !a.o.DryRun {
		done.Result = after
	}
	return done, err
}

// decided is the result as it will be after this apply.
func (a *apply) decided() (Result, error) {
	r := a.r
	r.Have, r.Decided = a.theirs, a.q.now()
	r.State = r.judge()
	return r, complete(a.objs, &r)
}

// judge derives the state from what was applied.
func (r Result) judge() State {
	switch r.Have {
	case r.Tree:
		return Whole
	case r.BaseTree:
		return Undecided
	}
	return Partial
}

func kindOf(c git.Change) Kind {
	none := git.Entry{}
	switch {
	case c.Old == none:
		return Added
	case c.New == none:
		return Deleted
	case (c.Old.Mode == symlink) != (c.New.Mode == symlink):
		return Type
	}
	return Modified
}

// keep stores the work tree before an apply, with a commit that holds what undo
// needs as second parent and what was applied so far as third, and moves
// refs/ftl/applied/ID there. What an earlier apply of the same result kept stays
// reachable as last parent.
func (a *apply) keep(ctx context.Context, side plumbing.Hash) (now, prev plumbing.Hash, err error) {
	who := a.q.signature(a.q.now())
	parents := []plumbing.Hash{a.r.Base, side}
	if !a.restore {
		have, err := a.wrap(a.theirs)
		if err != nil {
			return now, prev, err
		}
		parents = append(parents, have)
	}
	ref := appliedRefs + a.r.ID
	if prev, err = a.q.repo.Ref(ctx, ref); err != nil {
		return now, prev, err
	}
	c := &object.Commit{Author: who, Committer: who, TreeHash: a.o.Now.Tree,
		Message: "Work tree before " + a.r.ID + "\n", ParentHashes: parents}
	if !prev.IsZero() {
		c.ParentHashes = append(c.ParentHashes, prev)
	}
	if now, err = a.objs.WriteCommit(c); err != nil {
		return now, prev, err
	}
	if err := a.objs.Flush(); err != nil {
		return now, prev, err
	}
	return now, prev, a.q.repo.UpdateRefs(ctx, "git-ftl: apply "+a.r.ID, git.RefUpdate{Name: ref, New: now, Old: prev})
}

const appliedRefs = "refs/ftl/applied/"
