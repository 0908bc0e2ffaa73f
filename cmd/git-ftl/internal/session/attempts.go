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
func (r *run) take(ctx context.Context) (snapshot.Snapshot, error) {
	b := r.task.Beside
	if b == nil {
		return r.Store.Take(ctx, r.snapshotOptions(r.out.ID))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.snap.Commit.IsZero() {
		return r.Store.Share(ctx, b.snap, r.out.ID)
	}
	snap, err := r.Store.Take(ctx, r.snapshotOptions(r.out.ID))
	if err == nil {
		b.snap = snap
	}
	return snap, err
}
