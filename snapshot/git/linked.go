package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LinkedTrees returns the linked work trees of the repository, also those whose folder
// is gone. They are for refs and configuration alone: Dir is that of r.
func (r *Repo) LinkedTrees() ([]*Repo, error) {
	entries, err := os.ReadDir(filepath.Join(r.CommonDir, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list work trees: %w", err)
	}
	var all []*Repo
	for _, e := range entries {
		other := *r
		other.GitDir = filepath.Join(r.CommonDir, "worktrees", e.Name())
		if _, err := os.Stat(filepath.Join(other.GitDir, "HEAD")); err != nil {
			continue
		}
		other.env = append(r.env[:len(r.env):len(r.env)], "GIT_DIR="+other.GitDir)
		all = append(all, &other)
	}
	return all, nil
}
