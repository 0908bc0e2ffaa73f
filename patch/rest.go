package patch

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// Rest merges what is left of a result onto another snapshot, so that a
// follow-up can start from it, and returns a commit upon that snapshot with the
// result's subject and trailers; onto's own commit where nothing is left, or
// where the snapshot has all of it. No ref moves. Errors: ErrForeign,
// *ConflictError, *UnsafeError.
func (q *Queue) Rest(ctx context.Context, r Result, onto Base) (plumbing.Hash, error) {
	commit, err := q.rest(ctx, r, onto)
	if err != nil {
		return commit, fmt.Errorf("merge what is left of %s: %w", r.ID, err)
	}
	return commit, nil
}

func (q *Queue) rest(ctx context.Context, r Result, onto Base) (plumbing.Hash, error) {
	if r.State == Foreign {
		return plumbing.ZeroHash, ErrForeign
	}
	if r.Have == r.Tree {
		return onto.Commit, nil
	}
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	a := &apply{q: q, objs: objs, r: r, o: ApplyOptions{Now: Current{Tree: onto.Tree, LeftOut: onto.LeftOut}}}
	for _, step := range []func(context.Context) error{a.choose, a.bring, a.leaveOut, a.merge, a.check} {
		if err := step(ctx); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	if len(a.changes) == 0 {
		return onto.Commit, nil
	}
	// Not the merged tree itself: for the merge it has what the snapshot leaves out.
	tree, err := objs.Rewrite(onto.Tree, a.changes)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	r.Tree = tree
	return objs.WriteCommit(q.commit(ctx, r, onto.Commit))
}
