package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
)

// ErrNotTaken says that no task of this machine took a snapshot: a clone brought
// it.
var ErrNotTaken = errors.New("snapshot has no local record, so it was not taken here")

// Taken is a snapshot and the task that it was taken for.
type Taken struct {
	snapshot.Info
	Task     string // as it was given; "" where no record knows the snapshot
	WorkTree string // key of the work tree that it shows, "" likewise
}

// Snapshots lists those of this work tree, or of all and also those that no record
// knows; newest first.
func (s *Session) Snapshots(ctx context.Context, all bool) ([]Taken, error) {
	infos, err := s.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	var list []Taken
	for _, info := range infos {
		t := Taken{Info: info}
		if o, err := s.taker(info); err == nil {
			t.Task, t.WorkTree = o.Task, o.WorkTree
		}
		if all || t.WorkTree == s.Repo.Key() {
			list = append(list, t)
		}
	}
	return list, nil
}

// taker is the record of the task that took a snapshot. Errors: ErrNotTaken.
func (s *Session) taker(info snapshot.Info) (Outcome, error) {
	o, err := s.Task(info.ID)
	if errors.Is(err, fs.ErrNotExist) || err == nil && o.Snapshot != info.Commit.String() {
		return Outcome{}, fmt.Errorf("snapshot %s: %w", info.ID, ErrNotTaken)
	}
	return o, err
}

// Snapshot finds one of the repository by a prefix of its ID that only it has, or
// by its ID. Errors: snapshot.ErrUnknown, *patch.AmbiguousError.
func (s *Session) Snapshot(ctx context.Context, prefix string) (Taken, error) {
	prefix = strings.ToLower(prefix)
	all, err := s.Snapshots(ctx, true)
	if err != nil {
		return Taken{}, err
	}
	var fit []Taken
	several := &patch.AmbiguousError{Prefix: prefix}
	for _, t := range all {
		if t.ID == prefix {
			return t, nil
		}
		if prefix != "" && strings.HasPrefix(t.ID, prefix) {
			fit, several.IDs = append(fit, t), append(several.IDs, t.ID)
		}
	}
	switch len(fit) {
	case 0:
		return Taken{}, fmt.Errorf("%q: %w", prefix, snapshot.ErrUnknown)
	case 1:
		return fit[0], nil
	}
	return Taken{}, several
}

// Restore makes the working tree, or o.Paths of it, what it was in a snapshot; the
// rest of o is filled in here. Errors: ErrNotTaken and those of patch.Queue.Restore.
func (s *Session) Restore(ctx context.Context, t Taken, o patch.RestoreOptions) (patch.Applied, error) {
	taker, err := s.taker(t.Info)
	if err != nil {
		return patch.Applied{}, err
	}
	staged, err := s.Store.Stage(ctx, s.snapshotOptions(""))
	if err != nil {
		return patch.Applied{}, err
	}
	o.Now = patch.Current{Tree: staged.Tree, Head: staged.Head}
	for _, l := range staged.LeftOut {
		o.Now.LeftOut = append(o.Now.LeftOut, l.Path)
	}
	for _, l := range append(taker.LeftOut, t.LeftOut...) {
		o.LeftOut = append(o.LeftOut, l.Path)
	}
	return s.Queue.Restore(ctx, t.ID, patch.Base{Commit: t.Commit, Tree: t.Tree}, o)
}

// CleanSnapshots drops the snapshots that no result and no running task needs, of
// all work trees, or only says which.
func (s *Session) CleanSnapshots(ctx context.Context, dryRun bool) ([]Collected, error) {
	c := &collector{Session: s}
	if err := c.look(ctx); err != nil {
		return nil, err
	}
	all, err := s.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	gone := []Collected{}
	for _, info := range all {
		if c.has[info.ID] || c.keep[info.ID] || c.based[info.Commit.String()] {
			continue
		}
		free, err := s.dropUnused(ctx, info.ID, dryRun)
		if err != nil {
			return gone, err
		}
		if free {
			gone = append(gone, Collected{What: "snapshot", Name: info.ID, Why: "no result needs it"})
		}
	}
	return gone, nil
}

// dropUnused drops a snapshot unless its task is alive.
func (s *Session) dropUnused(ctx context.Context, id string, dryRun bool) (free bool, err error) {
	unlock, free, err := s.Repo.TryLock("task-" + id)
	if err != nil || !free {
		return false, err
	}
	defer unlock()
	if at, err := s.Repo.Ref(ctx, resultRef(id)); err != nil || !at.IsZero() { // made since the results were listed
		return false, err
	}
	if dryRun {
		return true, nil
	}
	return true, s.Store.Drop(ctx, id)
}
