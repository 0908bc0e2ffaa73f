package session

import (
	"context"
	"sync"

	"github.com/git-ftl/git-ftl/snapshot"
)

// Attempts is what several tasks that start from the same have in common: one
// snapshot. It is safe for concurrent use.
type Attempts struct {
	mu   sync.Mutex
	snap snapshot.Snapshot // zero until one is taken
}

// take makes the snapshot of a task, or gives it that of an attempt beside it.
func (r *run) take(ctx context.Context) (err error) {
	if b := r.task.Beside; b == nil {
		r.snap, err = r.Store.Take(ctx, r.takeOptions(r.out.ID))
	} else {
		r.snap, err = b.take(ctx, r)
	}
	r.on(r.snap.Commit, r.snap.Tree)
	return err
}

func (b *Attempts) take(ctx context.Context, r *run) (snapshot.Snapshot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.snap.Commit.IsZero() {
		return r.Store.Share(ctx, b.snap, r.out.ID)
	}
	snap, err := r.Store.Take(ctx, r.takeOptions(r.out.ID))
	if err == nil {
		b.snap = snap
	}
	return snap, err
}
