package session

import (
	"context"
	"sync"

	"github.com/git-ftl/git-ftl/snapshot"
)

// Attempts is what several tasks that start from the same have in common: one
// snapshot, and the tests. It is safe for concurrent use.
type Attempts struct {
	mu    sync.Mutex
	snap  snapshot.Snapshot // zero until one is taken
	base  *baseline         // nil until one begins it
	users int               // tasks under way
}

// join counts a task in, until leave is called: the last one ends what goes on
// beside them all.
func (b *Attempts) join() (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.users--; b.users == 0 {
			b.base.end()
			b.base = nil
		}
	}
}

// kill ends what the tests of a task run.
func (b *Attempts) kill(ctx context.Context, id string) bool {
	b.mu.Lock()
	base := b.base
	b.mu.Unlock()
	return base.kill(ctx, id)
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
