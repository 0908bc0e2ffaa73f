package patch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// What a conflict is with, where it is not the working tree.
const (
	AgainstIndex = "index"
	AgainstHead  = "HEAD"
)

// ErrUnmerged says that the index has conflicts of its own.
var ErrUnmerged = errors.New("the index has unmerged paths")

// BusyError says that an operation of git's is under way, within which neither
// index nor HEAD are git-ftl's to write.
type BusyError struct{ What string } // "merge", "rebase", …

// Error names it.
func (e *BusyError) Error() string { return "a " + e.What + " is under way" }

// wantsIndex reports whether the apply writes the user's index wherever it
// succeeds.
func (a *apply) wantsIndex() bool { return a.o.Index || a.o.Commit != nil }

// allowed refuses to touch index or HEAD while they are in another's hands.
func (a *apply) allowed(ctx context.Context) error {
	if !a.wantsIndex() && !a.o.Merge {
		return nil
	}
	if a.wantsIndex() {
		if err := a.q.idle(); err != nil {
			return err
		}
	}
	var err error
	if a.index, err = a.q.readIndex(ctx, a.objs); err != nil {
		return err
	}
	if p := unmerged(a.index); p != "" {
		return fmt.Errorf("%w, first %s", ErrUnmerged, quoted(p))
	}
	return nil
}

// idle returns a *BusyError where a merge or the like is under way.
func (q *Queue) idle() error {
	for _, op := range []struct{ file, what string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "cherry-pick or revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(q.repo.GitDir, op.file)); err == nil {
			return &BusyError{op.what}
		}
	}
	return nil
}

// mergeIndex merges what is taken with what the user has staged.
func (a *apply) mergeIndex(ctx context.Context) error {
	if !a.wantsIndex() {
		return nil
	}
	tree, err := a.q.indexTree(ctx)
	if err != nil {
		return err
	}
	changes, _, err := a.mergeOther(ctx, tree, AgainstIndex)
	for _, c := range changes {
		st := indexStep{Path: []byte(c.Path), Old: a.index[c.Path]}
		if c.New != (git.Entry{}) {
			e := indexEntry{entry: entryOf(c.New)}
			if len(st.Old) > 0 {
				e.Skip, e.Assume = st.Old[0].Skip, st.Old[0].Assume
			}
			st.New = []indexEntry{e}
		}
		a.indexed = append(a.indexed, st)
	}
	return err
}

// mergeHead merges what is taken with what the user has committed.
func (a *apply) mergeHead(ctx context.Context) error {
	if a.o.Commit == nil {
		return nil
	}
	tree, err := a.objs.WriteTree(nil)
	if err != nil {
		return err
	}
	if !a.o.Now.Head.IsZero() {
		c, err := a.objs.Commit(a.o.Now.Head)
		if err != nil {
			return err
		}
		tree = c.TreeHash
	}
	changes, merged, err := a.mergeOther(ctx, tree, AgainstHead)
	if err != nil || len(changes) == 0 {
		return err
	}
	a.headTree = merged
	return nil
}

// mergeOther merges what is taken with another tree than the work tree's, and
// passes the outcome through the same gate.
func (a *apply) mergeOther(ctx context.Context, ours plumbing.Hash, against string) ([]git.Change, plumbing.Hash, error) {
	base, err := a.base(ctx)
	if err != nil {
		return nil, ours, err
	}
	m, err := merger{a.q, a.objs, base}.merge(ctx, ours, a.comes)
	if err != nil {
		return nil, ours, err
	}
	if len(m.conflicts) > 0 {
		return nil, ours, a.against(m.conflicts, ours, against)
	}
	changes, err := a.objs.Diff(ours, m.tree)
	if err != nil {
		return nil, ours, err
	}
	return changes, m.tree, a.checkTree(ctx, m.tree, changes)
}

// against says what the conflicts are with; a file that is not tracked there
// has no lines to conflict.
func (a *apply) against(conflicts []Conflict, ours plumbing.Hash, against string) error {
	v := newView(a.objs, ours)
	for i := range conflicts {
		c := &conflicts[i]
		c.Against = against
		e, err := v.lookup(c.Path)
		if err != nil {
			return err
		}
		if e == (git.Entry{}) && c.Why == whyDeleted {
			c.Why = "is not there"
		}
	}
	return &ConflictError{a.r.ID, conflicts}
}
