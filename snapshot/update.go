package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
)

// update brings the plan into the private index. Files that git cannot add are
// left out and named; everything else is staged all the same.
func (st *staging) update(ctx context.Context) error {
	x := st.index
	if err := x.set(ctx, slices.Sorted(maps.Keys(st.drop)), nil); err != nil {
		return err
	}
	if len(st.add) == 0 {
		return nil
	}
	x.dirty = true
	a := adder{index: x, bad: map[string]string{}}
	if err := a.addAll(ctx, slices.Sorted(maps.Keys(st.add))); err != nil {
		return err
	}
	if err := st.leaveBad(ctx, a.bad); err != nil {
		return err
	}
	for p, o := range st.add {
		if !o.tracked {
			x.mem.Extras[p] = true
		}
		if isAttributes(p) {
			x.mem.Attrs[p] = true
		}
		if !o.inside && x.mem.Flags {
			x.mem.User = "" // compare both next time: p may have replaced an entry with a flag
		}
		delete(x.mem.Absent, p)
		delete(x.mem.Links, p)
	}
	return nil
}

func (st *staging) leaveBad(ctx context.Context, bad map[string]string) error {
	var drop []string
	for p, why := range bad {
		if st.add[p].inside {
			drop = append(drop, p)
		}
		st.leave(p, why, st.add[p])
	}
	return st.index.set(ctx, drop, nil)
}

// adder stages files and finds those that cannot be.
type adder struct {
	*index
	bad map[string]string // reasons by path
}

// maxBad bounds how many files may fail one by one before the whole pass does:
// beyond it the cause is no single file.
const maxBad = 100

// addAll tries all at once, again once for a file that changed meanwhile, then
// without those that cannot be opened, then by halves.
func (a *adder) addAll(ctx context.Context, paths []string) error {
	if a.try(ctx, paths) == nil {
		return nil
	}
	err := a.try(ctx, paths)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if whole := a.storeWorks(); whole != nil {
		return whole
	}
	readable := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		why := a.cannotOpen(p)
		if why != "" {
			a.bad[p] = whyUnread + why
		}
		return why != ""
	})
	return a.halve(ctx, readable)
}

func (a *adder) halve(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	err := a.try(ctx, paths)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil || len(a.bad) > maxBad {
		return err
	}
	if len(paths) == 1 {
		a.bad[paths[0]] = "git cannot add it: " + firstLine(err)
		return nil
	}
	half := len(paths) / 2
	if err := a.halve(ctx, paths[:half]); err != nil {
		return err
	}
	return a.halve(ctx, paths[half:])
}

// try stages all paths or none.
func (a *adder) try(ctx context.Context, paths []string) error {
	strict := *a.index
	strict.lenient = nil
	c := strict.call("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
	c.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	err := a.repo.Do(ctx, c)
	if err != nil {
		// git that died by a signal leaves the lock of its index.
		return errors.Join(err, a.unlock())
	}
	return nil
}

// cannotOpen returns why a file cannot be read, "" where it can.
func (a *adder) cannotOpen(p string) string {
	full := filepath.Join(a.repo.Dir, filepath.FromSlash(p))
	info, err := os.Lstat(full)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(full, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return plainError(err)
	}
	_ = f.Close()
	return ""
}

// storeWorks tells a full or read-only disk from a file that cannot be added.
// Errors: ErrNoSpace.
func (a *adder) storeWorks() error {
	f, err := os.CreateTemp(a.repo.ObjectDir(), "tmp_obj_ftl_*")
	if err == nil {
		_, err = f.Write(bytes.Repeat([]byte("probe"), 1<<14))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("write objects: %w", ErrNoSpace)
	case err != nil:
		return fmt.Errorf("write objects: %w", err)
	}
	return nil
}

func firstLine(err error) string {
	var exit *git.ExitError
	if !errors.As(err, &exit) || exit.Stderr == "" {
		return err.Error()
	}
	first, _, _ := strings.Cut(exit.Stderr, "\n")
	return strings.TrimPrefix(strings.TrimPrefix(first, "error: "), "fatal: ")
}

// writeTree makes the tree of the private index, unless that is unchanged since
// the last one.
func (st *staging) writeTree(ctx context.Context) error {
	x := st.index
	if st.cached = !x.dirty && !x.mem.Tree.IsZero(); st.cached {
		st.tree = x.mem.Tree
		return nil
	}
	out, err := x.repo.Output(ctx, x.call("write-tree"))
	st.tree = plumbing.NewHash(strings.TrimSpace(string(out)))
	return err
}
