package patch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// ErrOccupied says that a folder to check out into has something in it, or is
// no folder.
var ErrOccupied = errors.New("is there already and is no empty folder")

// Checkout makes a linked work tree at dir, an absolute path, with HEAD detached
// at the result's commit. No hook runs and no filter, since the result's
// attributes would choose it: content that a filter stands for stays as it is in
// the tree. Where it fails, nothing is left. Errors: ErrForeign, ErrOccupied.
func (q *Queue) Checkout(ctx context.Context, r Result, dir string) error {
	if r.State == Foreign {
		return fmt.Errorf("check out %s: %w", r.ID, ErrForeign)
	}
	made, err := vacant(dir)
	if err != nil {
		return fmt.Errorf("check out %s: %w", r.ID, err)
	}
	config, err := q.noFilters(ctx)
	if err != nil {
		return fmt.Errorf("check out %s: %w", r.ID, err)
	}
	err = q.repo.Do(ctx, git.Call{
		Args: []string{"worktree", "add", "--no-checkout", "--detach", "--", dir, r.Commit.String()}, Config: config,
	})
	if err == nil {
		err = q.fill(ctx, dir, config)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("check out %s: %w", r.ID, err), q.drop(context.WithoutCancel(ctx), dir, made))
	}
	return nil
}

// vacant reports whether dir is to be made; an empty folder is as good.
func vacant(dir string) (made bool, err error) {
	fi, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if fi.IsDir() {
		names, err := os.ReadDir(dir)
		if err != nil || len(names) == 0 {
			return false, err
		}
	}
	return false, fmt.Errorf("%s %w", quoted(dir), ErrOccupied)
}

func (q *Queue) fill(ctx context.Context, dir string, config []string) error {
	if err := q.step("checkout"); err != nil {
		return err
	}
	return q.repo.Do(ctx, git.Call{Config: config, Args: []string{
		"-C", dir, "--git-dir=" + filepath.Join(dir, ".git"), "--work-tree=" + dir,
		"reset", "-q", "--hard", "--no-recurse-submodules",
	}})
}

// drop removes a half work tree, also one that git was killed over.
func (q *Queue) drop(ctx context.Context, dir string, made bool) error {
	remove := git.Call{Args: []string{"worktree", "remove", "--force", "--", dir}}
	if q.repo.Do(ctx, remove) != nil && made {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		_ = q.repo.Do(ctx, remove) // git may not know of it at all
	}
	if made {
		return nil
	}
	return os.MkdirAll(dir, 0o777&^q.umask)
}
