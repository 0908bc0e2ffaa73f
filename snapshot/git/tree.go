package git

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Entry is a file of a tree, a symlink or a submodule. The zero Entry stands
// for "no such file".
type Entry struct {
	Mode filemode.FileMode
	Hash plumbing.Hash
}

// Change is a path whose entry differs between two trees.
type Change struct {
	Path     string // slashes, from the root of the tree, raw bytes
	Old, New Entry
}

// SortTree sorts entries in git's order, where a folder counts as "name/".
func SortTree(entries []object.TreeEntry) {
	slices.SortFunc(entries, func(a, b object.TreeEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
}

func sortKey(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// Diff lists what differs between two trees, sorted by path. Equal folders are
// not entered, so that its cost follows the change. The zero hash is the empty
// tree. A file that became a folder is a deletion and additions.
func (o *Objects) Diff(old, new plumbing.Hash) ([]Change, error) {
	var changes []Change
	if err := o.diff("", old, new, &changes); err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

func (o *Objects) diff(dir string, old, new plumbing.Hash, changes *[]Change) error {
	if old == new {
		return nil
	}
	was, err := o.entries(old)
	if err != nil {
		return err
	}
	is, err := o.entries(new)
	if err != nil {
		return err
	}
	for name, n := range is {
		w := was[name]
		delete(was, name)
		if err := o.diffEntry(below(dir, name), w, n, changes); err != nil {
			return err
		}
	}
	for name, w := range was {
		if err := o.diffEntry(below(dir, name), w, Entry{}, changes); err != nil {
			return err
		}
	}
	return nil
}

// below does not clean as path.Join would: a hostile tree's ".." has to show.
func below(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (o *Objects) diffEntry(p string, was, is Entry, changes *[]Change) error {
	if was == is {
		return nil
	}
	var oldDir, newDir plumbing.Hash
	if was.Mode == filemode.Dir {
		oldDir, was = was.Hash, Entry{}
	}
	if is.Mode == filemode.Dir {
		newDir, is = is.Hash, Entry{}
	}
	if was != is {
		*changes = append(*changes, Change{Path: p, Old: was, New: is})
	}
	return o.diff(p, oldDir, newDir, changes)
}

func (o *Objects) entries(h plumbing.Hash) (map[string]Entry, error) {
	all := map[string]Entry{}
	if h.IsZero() {
		return all, nil
	}
	t, err := o.Tree(h)
	if err != nil {
		return nil, err
	}
	for _, e := range t.Entries {
		all[e.Name] = Entry{Mode: e.Mode, Hash: e.Hash}
	}
	return all, nil
}

// Lookup finds one path of a tree; the zero Entry where it is not there, a
// folder's own entry where it names one.
func (o *Objects) Lookup(tree plumbing.Hash, p string) (Entry, error) {
	e := Entry{Mode: filemode.Dir, Hash: tree}
	for part := range strings.SplitSeq(p, "/") {
		if e.Mode != filemode.Dir {
			return Entry{}, nil
		}
		all, err := o.entries(e.Hash)
		if err != nil {
			return Entry{}, err
		}
		e = all[part]
	}
	return e, nil
}

// Rewrite returns the tree that results from setting each path's New entry in
// base; a zero entry removes the path, and folders left empty go too. A path
// below a former file, or a file in place of a former folder, replaces it.
func (o *Objects) Rewrite(base plumbing.Hash, changes []Change) (plumbing.Hash, error) {
	root := &node{}
	for _, c := range changes {
		n := root
		for part := range strings.SplitSeq(c.Path, "/") {
			n = n.child(part)
		}
		n.set, n.entry = true, c.New
	}
	h, err := o.rewrite(base, root)
	if err == nil && h.IsZero() {
		return o.WriteTree(nil)
	}
	return h, err
}

type node struct {
	set   bool // entry replaces what the base has here
	entry Entry
	kids  map[string]*node
}

func (n *node) child(name string) *node {
	if n.kids == nil {
		n.kids = map[string]*node{}
	}
	if n.kids[name] == nil {
		n.kids[name] = &node{}
	}
	return n.kids[name]
}

// rewrite returns the zero hash for a folder that became empty.
func (o *Objects) rewrite(base plumbing.Hash, n *node) (plumbing.Hash, error) {
	all, err := o.entries(base)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	for name, kid := range n.kids {
		e := all[name]
		if kid.set {
			// A removal beside additions below the same name is a file that
			// became a folder.
			if kid.entry != (Entry{}) || e.Mode != filemode.Dir {
				e = kid.entry
			}
		}
		if kid.kids != nil && (kid.entry == Entry{} || !kid.set) {
			var below plumbing.Hash
			if e.Mode == filemode.Dir {
				below = e.Hash
			}
			h, err := o.rewrite(below, kid)
			if err != nil {
				return plumbing.ZeroHash, err
			}
			e = Entry{Mode: filemode.Dir, Hash: h}
			if h.IsZero() {
				e = Entry{}
			}
		}
		all[name] = e
	}
	var entries []object.TreeEntry
	for name, e := range all {
		if e != (Entry{}) {
			entries = append(entries, object.TreeEntry{Name: name, Mode: e.Mode, Hash: e.Hash})
		}
	}
	if len(entries) == 0 {
		return plumbing.ZeroHash, nil
	}
	return o.WriteTree(entries)
}
