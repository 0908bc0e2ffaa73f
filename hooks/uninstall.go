package hooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Uninstall takes hooks out of every folder of the repository that git-ftl has put
// them into, whatever core.hooksPath is now. What was there before is back byte for
// byte, with its mode, or as the link that it was. A hook that is not as git-ftl left
// it stays, and is named in a Change that says "left". It can be called again after a
// kill.
func Uninstall(ctx context.Context, repo *git.Repo, names []string, dryRun bool) ([]Change, error) {
	unlock, err := repo.Lock(ctx, lockName)
	if err != nil {
		return nil, err
	}
	defer unlock()
	rec, err := readRecord(repo)
	if err != nil {
		return nil, err
	}
	var all []Change
	for _, dir := range rec.dirs(repo) {
		folder := rec.folder(repo, dir)
		for _, name := range names {
			c, err := take(dir, name, folder, dryRun)
			if err != nil {
				return all, fmt.Errorf("take hook %s out of %s: %w", name, dir, err)
			}
			if c.Did != "" {
				all = append(all, c)
			}
		}
		if len(folder.Hooks) > 0 {
			continue
		}
		delete(rec, key(repo, dir))
		if folder.Made && !dryRun {
			_ = os.Remove(dir) // where it is empty
		}
	}
	if dryRun {
		return all, nil
	}
	return all, rec.write(repo)
}

// dirs are the folders that can have hooks of git-ftl's.
func (r record) dirs(repo *git.Repo) []string {
	dirs := []string{filepath.Join(repo.CommonDir, "hooks")}
	for k := range r {
		dir := filepath.FromSlash(k)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(repo.CommonDir, dir)
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// take takes one hook out; the zero Change where there is none.
func take(dir, name string, folder *folderRecord, dryRun bool) (Change, error) {
	h, err := look(dir, name, folder.Hooks[name])
	if err != nil {
		return Change{}, err
	}
	c := Change{Name: name, File: h.path}
	switch {
	case h.kind == edited:
		c.Did, c.Why = "left", "it was git-ftl's and was edited since"
		return c, nil
	case h.kind == foreign && h.was != nil && !h.twin():
		c.Did, c.Why = "left", fmt.Sprintf("it replaced git-ftl's; %s has the hook from before", h.orig)
		return c, nil
	case h.was != nil:
		c.Did = "restored"
		if orig := folder.Hooks[name].Orig; orig != nil && *orig != *h.was {
			c.Why = "with the changes that were made to " + filepath.Base(h.orig) + " since"
		}
	case h.kind == ours:
		c.Did = "removed"
	}
	if dryRun {
		return c, nil
	}
	delete(folder.Hooks, name)
	if err := dropStray(dir, name); err != nil || c.Did == "" {
		return c, err
	}
	return c, h.restore()
}

// dropStray removes a shim that lefthook has moved aside, to where nothing runs it.
func dropStray(dir, name string) error {
	path := filepath.Join(dir, name+".old")
	if data, err := os.ReadFile(path); err != nil || !isShim(data) {
		return nil
	}
	return os.Remove(path)
}
