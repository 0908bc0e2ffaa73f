package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Paths looks at files of the work tree, and at all files in folders that git does
// not ignore. Every line counts as new. Paths are from the top, with slashes.
func (l *Look) Paths(ctx context.Context, paths []string) (lint.Report, error) {
	root, err := os.OpenRoot(l.s.Repo.Dir)
	if err != nil {
		return lint.Report{}, err
	}
	defer root.Close()
	names, err := l.s.expand(ctx, root, paths)
	if err != nil {
		return lint.Report{}, err
	}
	d := &diskFiles{root: root, names: names}
	changes := make([]git.Change, 0, len(names))
	for i, name := range names {
		if e, ok := d.entry(i); ok {
			changes = append(changes, git.Change{Path: name, New: e})
		}
	}
	base, err := l.s.headTree(ctx)
	if err != nil {
		return lint.Report{}, err
	}
	return l.changes(ctx, d, terms{base: base}, changes)
}

// expand lists files: what is named, and what a folder holds.
func (s *Session) expand(ctx context.Context, root *os.Root, paths []string) ([]string, error) {
	var names, folders []string
	for _, p := range paths {
		fi, err := root.Lstat(path.Clean("./" + p))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: no such file", p)
		case fi.IsDir():
			folders = append(folders, path.Clean("./"+p))
		default:
			names = append(names, path.Clean(p))
		}
	}
	if len(folders) == 0 {
		return names, nil
	}
	out, err := s.Repo.Output(ctx, git.Call{Args: append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"}, folders...)})
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names, err
}

// diskFiles reads files of the work tree in place of blobs: the last bytes of an
// object name say which.
type diskFiles struct {
	root  *os.Root
	names []string
}

func (d *diskFiles) entry(i int) (git.Entry, bool) {
	fi, err := d.root.Lstat(d.names[i])
	if err != nil {
		return git.Entry{}, false // git knows it, and it was deleted
	}
	e := git.Entry{Mode: filemode.Regular, Hash: plumbing.NewHash(fmt.Sprintf("%040x", i+1))}
	switch {
	case fi.Mode()&os.ModeSymlink != 0:
		e.Mode = filemode.Symlink
	case !fi.Mode().IsRegular():
		return e, false
	case fi.Mode()&0o100 != 0:
		e.Mode = filemode.Executable
	}
	return e, true
}

// Stream implements lint.Blobs.
func (d *diskFiles) Stream(h plumbing.Hash, _ plumbing.ObjectType, f func(size int64, r io.Reader) error) error {
	i := int(h[16])<<24 | int(h[17])<<16 | int(h[18])<<8 | int(h[19])
	name := d.names[i-1]
	fi, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if fi.Mode()&os.ModeSymlink != 0 {
		target, err := d.root.Readlink(name)
		if err != nil {
			return err
		}
		return f(int64(len(target)), strings.NewReader(target))
	}
	file, err := d.root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return f(fi.Size(), file)
}
