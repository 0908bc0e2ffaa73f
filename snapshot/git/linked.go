package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// Tree returns the work tree of the repository that has a key, nil where its folder
// is not there.
func (r *Repo) Tree(ctx context.Context, key string) (*Repo, error) {
	if key == r.Key() {
		return r, nil
	}
	out, err := r.Output(ctx, Call{Args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("list work trees: %w", err)
	}
	env := slices.DeleteFunc(slices.Clone(r.env), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_DIR=") || strings.HasPrefix(kv, "GIT_WORK_TREE=")
	})
	for field := range strings.SplitSeq(string(out), "\x00") {
		dir, ok := strings.CutPrefix(field, "worktree ")
		if !ok {
			continue
		}
		other, err := Open(ctx, filepath.FromSlash(dir), env)
		if err == nil && other.Key() == key && sameFolder(other.CommonDir, r.CommonDir) {
			return other, nil
		}
	}
	return nil, ctx.Err()
}

func sameFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
