package patch

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

const maxHops = 40 // links that one resolution may pass

// checkTarget refuses a symlink target that needs no tree to be judged. Errors:
// *UnsafeError.
func checkTarget(p, target string) error {
	refuse := func(why string) error { return &UnsafeError{Path: p, Why: "its target " + why} }
	switch {
	case target == "":
		return refuse("is empty")
	case len(target) > maxLink:
		return refuse("is too long")
	case strings.Contains(target, "\x00"):
		return refuse("has a NUL")
	case strings.Contains(target, `\`):
		return refuse("has a backslash")
	case strings.HasPrefix(target, "/"), len(target) > 1 && target[1] == ':':
		return refuse("is absolute")
	}
	for name := range strings.SplitSeq(target, "/") {
		switch {
		case isDotGit(name):
			return refuse("enters .git")
		case isEnv(name):
			return refuse("enters an env file, which is never part of a snapshot")
		}
	}
	return nil
}

// isEnv reports whether a name is that of an env file: these stay outside of
// snapshots even where git ignores them, and so does every link to them.
func isEnv(name string) bool {
	kind, ok := strings.CutPrefix(fold(name), fold(".env"))
	if kind == "" || !strings.HasPrefix(kind, ".") {
		return ok && kind == ""
	}
	return ok && !slices.ContainsFunc([]string{".example", ".sample", ".template", ".dist", ".defaults"}, func(harmless string) bool {
		return kind == fold(harmless)
	})
}

// checkLink resolves a symlink of the tree through the tree's other links, as a
// file system would, and refuses one that leaves the tree, enters .git or a
// path that was left out. A target that does not exist is fine.
func (v *view) checkLink(p, target string, left outs) error {
	if err := checkTarget(p, target); err != nil {
		return err
	}
	w := walk{view: v, link: p, at: parts(path.Dir(p)), todo: strings.Split(target, "/")}
	for len(w.todo) > 0 {
		name := w.todo[0]
		w.todo = w.todo[1:]
		why, err := w.enter(name)
		if err != nil {
			return err
		}
		if why != "" {
			return &UnsafeError{Path: p, Why: "its target " + quoted(target) + " " + why}
		}
	}
	if end := strings.Join(w.at, "/"); left.cover(end) {
		return &UnsafeError{Path: p, Why: "its target " + quoted(target) + " enters " + quoted(end) + ", which was left out"}
	}
	return nil
}

// walk is the resolution of one link.
type walk struct {
	view *view
	link string
	at   []string // components of where it is
	todo []string // components to go
	hops int
}

// enter takes one component; why says what is wrong with it.
func (w *walk) enter(name string) (why string, err error) {
	switch {
	case name == "" || name == ".":
		return "", nil
	case name == ".." && len(w.at) == 0:
		return "leaves the tree", nil
	case name == "..":
		w.at = w.at[:len(w.at)-1]
		return "", nil
	case isDotGit(name):
		return "enters .git", nil
	}
	here := append(slices.Clip(w.at), name)
	next, isLink, err := w.view.link(strings.Join(here, "/"))
	if err != nil {
		return "", err
	}
	if !isLink {
		w.at = here
		return "", nil
	}
	if w.hops++; w.hops > maxHops {
		return "passes too many links", nil
	}
	w.todo = append(strings.Split(next, "/"), w.todo...)
	return "", checkTarget(w.link, next)
}

// link returns the target of the symlink at a path of the tree, in whatever
// case it is written there.
func (v *view) link(p string) (target string, isLink bool, err error) {
	e, err := v.lookupFolded(p)
	if err != nil || e.Mode != filemode.Symlink {
		return "", false, err
	}
	b, err := v.objs.Blob(e.Hash)
	return string(b), true, err
}

// outs are paths that a snapshot left out, folded.
type outs map[string]bool

func newOuts(paths []string) outs {
	o := outs{}
	for _, p := range paths {
		o[foldPath(strings.TrimSuffix(p, "/"))] = true
	}
	return o
}

// cover reports whether a path is one of them, or below one. Case does not
// count.
func (o outs) cover(p string) bool {
	if len(o) == 0 {
		return false
	}
	p = foldPath(p)
	for end := range prefixes(p) {
		if o[p[:end]] {
			return true
		}
	}
	return false
}

func parts(dir string) []string {
	if dir == "." || dir == "" {
		return nil
	}
	return strings.Split(dir, "/")
}

func quoted(s string) string { return strconv.Quote(s) }
