package patch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// view reads a tree folder by folder and keeps what it read.
type view struct {
	objs *git.Objects
	tree plumbing.Hash
	dirs map[string]*folder
}

type folder struct {
	entries map[string]git.Entry
	folded  map[string][]string // names by fold
}

func newView(objs *git.Objects, tree plumbing.Hash) *view {
	return &view{objs: objs, tree: tree, dirs: map[string]*folder{}}
}

// folder reads a folder by path ("." is the top), an empty one where there is
// none.
func (v *view) folder(dir string) (*folder, error) {
	if f := v.dirs[dir]; f != nil {
		return f, nil
	}
	hash := v.tree
	if dir != "." {
		e, err := v.lookup(dir)
		if err != nil {
			return nil, err
		}
		hash = plumbing.ZeroHash
		if e.Mode == filemode.Dir {
			hash = e.Hash
		}
	}
	f := &folder{entries: map[string]git.Entry{}}
	if !hash.IsZero() {
		t, err := v.objs.Tree(hash)
		if err != nil {
			return nil, err
		}
		for _, e := range t.Entries {
			f.entries[e.Name] = git.Entry{Mode: e.Mode, Hash: e.Hash}
		}
	}
	v.dirs[dir] = f
	return f, nil
}

// lookup returns the entry at a path, a folder's too, the zero Entry where
// there is none.
func (v *view) lookup(p string) (git.Entry, error) {
	f, err := v.folder(path.Dir(p))
	if err != nil {
		return git.Entry{}, err
	}
	return f.entries[path.Base(p)], nil
}

// lookupFolded is lookup where case and normal form do not count.
func (v *view) lookupFolded(p string) (git.Entry, error) {
	dir, e := ".", git.Entry{Mode: filemode.Dir, Hash: v.tree}
	for _, name := range parts(p) {
		f, err := v.folder(dir)
		if err != nil {
			return git.Entry{}, err
		}
		if _, ok := f.entries[name]; !ok {
			if same := f.alike(name); len(same) > 0 {
				name = same[0]
			}
		}
		e = f.entries[name]
		dir = path.Join(dir, name)
	}
	return e, nil
}

// alike lists the names that some file system takes for this one.
func (f *folder) alike(name string) []string {
	if f.folded == nil {
		f.folded = map[string][]string{}
		for n := range f.entries {
			f.folded[fold(n)] = append(f.folded[fold(n)], n)
		}
	}
	return f.folded[fold(name)]
}

// blocker returns the first leading part of a path that is no folder in the
// tree, "" where all are folders or absent.
func (v *view) blocker(p string) (string, git.Entry, error) {
	for end := range prefixes(p) {
		if end == len(p) {
			break
		}
		e, err := v.lookup(p[:end])
		if err != nil {
			return "", e, err
		}
		if e != (git.Entry{}) && e.Mode != filemode.Dir {
			return p[:end], e, nil
		}
	}
	return "", git.Entry{}, nil
}

// gate checks changes as they stand in the tree that they led to.
type gate struct {
	repo *git.Repo
	view *view // of the tree after the changes
	left outs
}

// check refuses what Parse refuses, but judged against a whole tree: names
// alike, links through other links, and what git's own index refuses. Errors:
// *UnsafeError.
func (g gate) check(ctx context.Context, changes []git.Change) error {
	for _, c := range changes {
		if c.New == (git.Entry{}) {
			continue
		}
		if err := checkPath(c.Path); err != nil {
			return err
		}
		if err := g.checkEntry(c); err != nil {
			return err
		}
	}
	return g.checkIndex(ctx, changes)
}

func (g gate) checkEntry(c git.Change) error {
	switch c.New.Mode {
	case filemode.Regular, filemode.Executable:
	case filemode.Symlink:
		target, _, err := g.view.link(c.Path)
		if err != nil {
			return err
		}
		if err := g.view.checkLink(c.Path, target, g.left); err != nil {
			return err
		}
	default:
		return &UnsafeError{Path: c.Path, Why: fmt.Sprintf("has the mode %o", c.New.Mode)}
	}
	if c.Old != (git.Entry{}) {
		return nil
	}
	return g.checkAlike(c.Path)
}

// checkAlike refuses a new path beside which the tree has one that differs only
// in case or normal form, at any level.
func (g gate) checkAlike(p string) error {
	for end := range prefixes(p) {
		dir, name := path.Split(p[:end])
		f, err := g.view.folder(path.Clean(dir))
		if err != nil {
			return err
		}
		for _, other := range f.alike(name) {
			if other != name {
				return &UnsafeError{Path: p, Why: "collides with " + quoted(dir+other) + " where case or normal form do not count"}
			}
		}
	}
	return nil
}

// checkIndex lets git itself judge the paths, with the rules of every system
// on, in an index that is thrown away.
func (g gate) checkIndex(ctx context.Context, changes []git.Change) error {
	dir, err := os.MkdirTemp(g.repo.State, "index-")
	if err != nil {
		return fmt.Errorf("make scratch index: %w", err)
	}
	defer os.RemoveAll(dir)
	var in bytes.Buffer
	first := ""
	for _, c := range changes {
		if c.New == (git.Entry{}) {
			continue
		}
		if first == "" {
			first = c.Path
		}
		fmt.Fprintf(&in, "%o %s\t%s\x00", uint32(c.New.Mode), c.New.Hash, c.Path)
	}
	if in.Len() == 0 {
		return nil
	}
	err = g.fillIndex(ctx, path.Join(dir, "index"), in.String())
	var exit *git.ExitError
	if !asExit(err, &exit) {
		return err
	}
	// A full disk is no fault of the paths: it refuses a harmless one as well.
	harmless := fmt.Sprintf("100644 %s\tx\x00", plumbing.ComputeHash(plumbing.BlobObject, nil))
	if again := g.fillIndex(ctx, path.Join(dir, "probe"), harmless); again != nil {
		return err
	}
	return &UnsafeError{Path: first, Why: "git refuses it or a file after it: " + oneLine(exit.Stderr)}
}

func (g gate) fillIndex(ctx context.Context, index, info string) error {
	return g.repo.Do(ctx, git.Call{
		Args:   []string{"update-index", "-z", "--index-info"},
		Config: []string{"core.protectHFS=true", "core.protectNTFS=true"},
		Index:  index,
		Stdin:  strings.NewReader(info),
	})
}
