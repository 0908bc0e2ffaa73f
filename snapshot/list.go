package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
)

// Info is a kept snapshot and when it was taken.
type Info struct {
	Snapshot
	Created time.Time // to the second
}

// List returns the kept snapshots of the repository, of all its work trees,
// newest first and those of one second by ID. As with Load, all but the hashes
// is for display only. A ref that no snapshot can have, or whose object is no
// commit, is passed over.
func (s *Store) List(ctx context.Context) ([]Info, error) {
	all, err := s.repo.Refs(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	objects := s.repo.Objects(ctx)
	defer func() { _ = objects.Close() }()
	var list []Info
	for name, hash := range all {
		id := strings.TrimPrefix(name, refs)
		if !validID(id) {
			continue
		}
		snap, created, err := read(objects, id, hash)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("list snapshots: %w", ctx.Err())
		}
		if err == nil {
			list = append(list, Info{Snapshot: snap, Created: created})
		}
	}
	slices.SortFunc(list, func(a, b Info) int {
		if c := b.Created.Compare(a.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// Share keeps the commit of a snapshot under another ID too, for another task
// that starts from it: Load(id) gives what it returns. Errors: git.ErrMoved
// where id is taken.
func (s *Store) Share(ctx context.Context, snap Snapshot, id string) (Snapshot, error) {
	if !validID(id) {
		return Snapshot{}, fmt.Errorf("share snapshot %s: invalid id %q", snap.ID, id)
	}
	if err := s.repo.UpdateRefs(ctx, "", git.RefUpdate{Name: refs + id, New: snap.Commit}); err != nil {
		return Snapshot{}, fmt.Errorf("share snapshot %s as %s: %w", snap.ID, id, err)
	}
	snap.ID = id
	return snap, nil
}

// Drop forgets snapshots, all or none; what no other ref holds of them goes with
// git's next gc. One that is already gone is no error. Errors: ErrUnknown for
// what cannot be an ID.
func (s *Store) Drop(ctx context.Context, ids ...string) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	updates := make([]git.RefUpdate, 0, len(ids))
	for _, id := range ids {
		if !validID(id) {
			return fmt.Errorf("drop snapshot %q: %w", id, ErrUnknown)
		}
		updates = append(updates, git.RefUpdate{Name: refs + id, Any: true})
	}
	if len(updates) == 0 {
		return nil
	}
	if err := s.repo.UpdateRefs(ctx, "", updates...); err != nil {
		return fmt.Errorf("drop snapshots: %w", err)
	}
	return nil
}

// read makes a snapshot of its commit.
func read(objects *git.Objects, id string, hash plumbing.Hash) (Snapshot, time.Time, error) {
	c, err := objects.Commit(hash)
	if err != nil {
		return Snapshot{}, time.Time{}, err
	}
	snap := Snapshot{ID: id, Commit: hash, Tree: c.TreeHash}
	if len(c.ParentHashes) > 0 {
		snap.Parent = c.ParentHashes[0]
	}
	snap.decode(c.Message)
	return snap, c.Committer.When, nil
}
