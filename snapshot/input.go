package snapshot

import (
	"context"
	"fmt"
	"path"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Why a change to a path is no part of a result.
const (
	whyInModule = "submodule"
	whyLFS      = "LFS content"
)

// Inputs finds those of some paths that an export shows and a snapshot's own tree
// does not have: files of submodules, and LFS pointers where snap.LFS brought
// their content. A change to one cannot be part of a result. The reason is one or
// two words. Of snap only ID (for messages), Tree and LFS count.
func (s *Store) Inputs(ctx context.Context, snap Snapshot, paths []string) (map[string]string, error) {
	f := inputs{objects: s.repo.Objects(ctx), snap: snap, below: map[string]bool{}, why: map[string]string{}}
	defer func() { _ = f.objects.Close() }()
	if err := f.findAll(paths); err != nil {
		return nil, fmt.Errorf("find inputs of snapshot %s: %w", snap.ID, err)
	}
	return f.why, nil
}

type inputs struct {
	objects *git.Objects
	snap    Snapshot
	below   map[string]bool // paths, and whether they are a submodule or below one
	why     map[string]string
}

func (f *inputs) findAll(paths []string) error {
	modules, err := f.objects.Lookup(f.snap.Tree, ".gitmodules")
	if err != nil || modules == (git.Entry{}) && !f.snap.LFS {
		return err
	}
	for _, p := range paths {
		in, err := f.inModule(p)
		switch {
		case err != nil:
			return err
		case in:
			f.why[p] = whyInModule
		case f.snap.LFS:
			if err := f.findPointer(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// inModule looks at each folder once.
func (f *inputs) inModule(p string) (bool, error) {
	if in, known := f.below[p]; known || p == "." {
		return in, nil
	}
	in, err := f.inModule(path.Dir(p))
	if err != nil {
		return false, err
	}
	if !in {
		e, err := f.objects.Lookup(f.snap.Tree, p)
		if err != nil {
			return false, err
		}
		in = e.Mode == filemode.Submodule
	}
	f.below[p] = in
	return in, nil
}

func (f *inputs) findPointer(p string) error {
	e, err := f.objects.Lookup(f.snap.Tree, p)
	if err != nil || !e.Mode.IsFile() {
		return err
	}
	found, err := readPointers(f.objects, map[string]git.Entry{p: e})
	if len(found) > 0 {
		f.why[p] = whyLFS
	}
	return err
}
