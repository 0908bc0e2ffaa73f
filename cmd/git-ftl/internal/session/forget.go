package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// forget removes all that carries the ID of a task: its result and what undo
// needs of it, its snapshot and its files. The task's record goes last, so that
// after a kill the next collection finds what is left. What runs, is held or is
// younger after all stays without an error.
func (c *collector) forget(ctx context.Context, what Collected) error {
	if c.keep[what.Name] {
		return nil
	}
	unlock, free, err := c.Repo.TryLock("task-" + what.Name)
	if err != nil || !free {
		return err
	}
	defer unlock()
	freed, err := c.Queue.Drop(ctx, what.Name, patch.DropOptions{Before: c.before, DryRun: c.out.DryRun})
	if errors.Is(err, patch.ErrKept) {
		return nil
	}
	if err != nil {
		return err
	}
	files, bytes := c.filesOf(what.Name)
	what.Bytes = freed + bytes
	return c.take(what, func() error {
		err := c.Repo.UpdateRefs(ctx, "", git.RefUpdate{Name: startRef(what.Name), Any: true})
		if err = errors.Join(err, c.dropSnapshot(ctx, what.Name)); err != nil {
			return err
		}
		return removeAll(files)
	})
}

// dropSnapshot lets a result keep the snapshot that it starts from.
func (c *collector) dropSnapshot(ctx context.Context, id string) error {
	at, err := c.Repo.Ref(ctx, "refs/ftl/snapshots/"+id)
	if err != nil || at.IsZero() || c.based[at.String()] {
		return err
	}
	return c.Store.Drop(ctx, id)
}

// filesOf lists what the state folder has of a task in any of its folders, by
// name, the lock first and the record last, and the bytes of it all.
func (c *collector) filesOf(id string) (files []string, bytes int64) {
	record := c.Repo.Path("tasks", id+".json")
	for _, pattern := range []string{id, id + ".*", id + "-*"} {
		found, _ := git.Glob(c.Repo.State, "*", pattern) // the pattern is a fixed one
		files = append(files, found...)
	}
	result := c.Repo.Path("results", id+".json") // of which the queue says the size
	for _, f := range files {
		if f != result {
			bytes += sizeOf(f)
		}
	}
	files = slices.DeleteFunc(files, func(f string) bool { return f == record })
	return append(append([]string{c.Repo.Path("locks", "task-"+id)}, files...), record), bytes
}

func removeAll(files []string) error {
	for _, f := range files {
		if err := os.RemoveAll(f); err != nil && !strings.HasPrefix(filepath.Base(f), "task-") {
			return err // a lock that is held cannot go on every system, and does no harm
		}
	}
	return nil
}

// sizeOf is the bytes of a file, or of all files in a folder. What cannot be
// looked at counts nothing.
func sizeOf(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// age is how long ago a file was written, 0 where there is none.
func (s *Session) age(path string) time.Duration {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return s.Now().Sub(info.ModTime())
}
