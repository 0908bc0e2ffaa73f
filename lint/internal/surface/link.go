package surface

import (
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

const (
	maxHops   = 40   // links that one resolution may pass
	maxTarget = 4096 // bytes
)

// link blocks every new symlink, and says so more loudly of one that leaves the
// tree: what writes to it later writes elsewhere.
func (s *scan) link(c Context) {
	if why := resolve(s.Path, string(s.Text), c.Link); why != "" {
		s.whole("surface/link-outside", doc.Block, "a symlink whose target "+why, "replace the link by what it is to name")
		return
	}
	s.whole("surface/link", doc.Block, "a symlink: what reads or writes it means another file", "look at its target")
}

// resolve follows a link as a file system would and says what is wrong with it,
// "" if nothing is.
func resolve(p, target string, link func(string) (string, bool)) string {
	at := strings.Split(path.Dir(p), "/")
	if at[0] == "." {
		at = nil
	}
	todo, why := steps(target)
	for hops := 0; why == "" && len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == ".." && len(at) == 0:
			return "leaves the tree"
		case name == "..":
			at = at[:len(at)-1]
			continue
		case isDotGit(fold(name)):
			return "enters .git"
		}
		at = append(slices.Clip(at), name)
		next, isLink := "", false
		if link != nil {
			next, isLink = link(strings.Join(at, "/"))
		}
		if !isLink {
			continue
		}
		if hops++; hops > maxHops {
			return "passes too many links"
		}
		var more []string
		more, why = steps(next)
		todo = append(more, todo...)
		at = at[:len(at)-1]
	}
	return why
}

// steps splits a target at what any system takes for a separator, and refuses
// one that needs no tree to be judged.
func steps(target string) (names []string, why string) {
	plain := strings.ReplaceAll(target, `\`, "/")
	switch {
	case target == "":
		return nil, "is empty"
	case len(target) > maxTarget:
		return nil, "is too long"
	case strings.Contains(target, "\x00"):
		return nil, "has a NUL"
	case hiddenInName(target):
		return nil, "has characters that are not shown"
	case strings.HasPrefix(plain, "/"), len(plain) > 1 && plain[1] == ':':
		return nil, "is absolute"
	case strings.HasPrefix(plain, "~"):
		return nil, "names a home"
	}
	return strings.Split(plain, "/"), ""
}

// isDotGit reports whether a folded name is git's own folder.
func isDotGit(name string) bool { return name == ".git" || matchName("git~*", name) }
