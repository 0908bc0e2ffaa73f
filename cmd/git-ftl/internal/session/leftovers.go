package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// workTrees removes what was kept for work trees that are gone: their private
// index with its refs, and what undo and a cut-off apply needed.
func (c *collector) workTrees(ctx context.Context) error {
	byKey, err := c.workTreeRefs(ctx)
	if err != nil {
		return err
	}
	for _, folder := range []string{"index", "applied", "journal"} {
		names, err := c.ids(folder)
		if err != nil {
			return err
		}
		for _, name := range names {
			for _, ending := range []string{".lock", ".stage", ".json.new"} {
				name = strings.TrimSuffix(name, ending)
			}
			byKey[name] = append(byKey[name], nil...)
		}
	}
	var failed error
	for key, updates := range byKey {
		if !c.living(key) {
			failed = errors.Join(failed, c.dropWorkTree(ctx, key, updates))
		}
	}
	return failed
}

// workTreeRefs are the refs that private indexes need, by key.
func (c *collector) workTreeRefs(ctx context.Context) (map[string][]git.RefUpdate, error) {
	refs, err := c.Repo.Refs(ctx, "refs/ftl/")
	if err != nil {
		return nil, err
	}
	byKey := map[string][]git.RefUpdate{}
	for name, at := range refs {
		if dir := path.Dir(name); dir == "refs/ftl/index" || dir == "refs/ftl/staged" {
			key := path.Base(name)
			byKey[key] = append(byKey[key], git.RefUpdate{Name: name, Old: at})
		}
	}
	return byKey, nil
}

// living reports whether a key names a work tree that git still knows, or one
// that cannot be told.
func (c *collector) living(key string) bool {
	name, linked := strings.CutPrefix(key, "wt-")
	if !linked {
		return true
	}
	_, err := os.Lstat(filepath.Join(c.Repo.CommonDir, "worktrees", name))
	return !errors.Is(err, fs.ErrNotExist)
}

func (c *collector) dropWorkTree(ctx context.Context, key string, updates []git.RefUpdate) error {
	files := c.filesOfWorkTree(key)
	gone := Collected{What: "work tree", Name: strings.TrimPrefix(key, "wt-"), Why: "it is gone"}
	for _, f := range files {
		gone.Bytes += sizeOf(f)
	}
	for _, lock := range []string{"worktree-" + key, "index-" + key} {
		unlock, free, err := c.Repo.TryLock(lock)
		if err != nil || !free {
			return err
		}
		defer unlock()
	}
	return c.take(gone, func() error {
		err := removeAll(files)
		if err == nil && len(updates) > 0 {
			err = c.Repo.UpdateRefs(ctx, "", updates...)
		}
		return err
	})
}

// filesOfWorkTree lists what the state folder has of a work tree.
func (c *collector) filesOfWorkTree(key string) []string {
	files := []string{c.Repo.Path("applied", key), c.Repo.Path("lfs", key)}
	for _, ending := range []string{"", ".json", ".lock", ".json.new"} {
		files = append(files, c.Repo.Path("index", key+ending))
	}
	// Where a stage was made on another file system, it went with the work tree.
	if dir, err := c.Repo.ReadState("journal/" + key + ".stage"); err == nil && filepath.Dir(string(dir)) == c.Repo.State {
		files = append(files, string(dir))
	}
	return append(files, c.Repo.Path("journal", key+".json"), c.Repo.Path("journal", key+".stage"))
}

// exports removes those whose sandbox is gone, and the notes of its setup.
func (c *collector) exports(context.Context) error {
	names, err := c.ids("exports")
	if err != nil {
		return err
	}
	var failed error
	for _, name := range names {
		if c.recorded(name) {
			continue
		}
		gone := Collected{What: "export", Name: name, Why: "its sandbox is gone", Bytes: sizeOf(c.Repo.Path("exports", name))}
		failed = errors.Join(failed, c.take(gone, func() error { return c.pool.DropExport(name) }))
	}
	return failed
}

func (c *collector) recorded(sandbox string) bool {
	return slices.ContainsFunc(c.boxes, func(b container.Info) bool { return b.Name == sandbox })
}

// scratch removes what killed commands left of files for a moment, once no
// command can still be at it.
func (c *collector) scratch(context.Context) error {
	var left []string
	for _, pattern := range []string{
		"fsck-*", "index-*", "stage-*", "merge-*", ".new-*", "*/.new-*", "*/*/.new-*", "spool/*", "setup/*", "ca/*", "apt/*", "stop/*", "modules/*", "edit/*",
	} {
		found, err := git.Glob(c.Repo.State, filepath.FromSlash(pattern))
		if err != nil {
			return err
		}
		left = append(left, found...)
	}
	stages := c.stages()
	var failed error
	for _, f := range left {
		name := filepath.Base(f)
		of := filepath.Base(filepath.Dir(f))
		used := (of == "setup" || of == "ca" || of == "apt") && c.recorded(strings.TrimSuffix(name, ".pem")) || c.keep[name] || stages[f]
		young := tidyEvery
		if of == "edit" {
			young *= 30 // what a person wrote, kept since it could not be applied
		}
		if used || c.age(f) < young {
			continue
		}
		gone := Collected{What: "scratch", Name: name, Why: "no command needs it", Bytes: sizeOf(f)}
		failed = errors.Join(failed, c.take(gone, func() error { return os.RemoveAll(f) }))
	}
	return failed
}

// stages are the folders that an apply under way may go on from.
func (c *collector) stages() map[string]bool {
	set := map[string]bool{}
	notes, _ := git.Glob(c.Repo.State, "journal", "*.stage")
	for _, note := range notes {
		if dir, err := os.ReadFile(note); err == nil {
			set[string(dir)] = true
		}
	}
	return set
}
