package surface

import (
	"github.com/git-ftl/git-ftl/snapshot/git"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// foldPath splits a path into components as the laxest file system reads them:
// case, normal form and what HFS+ ignores do not count, nor trailing dots and
// spaces and what NTFS takes for a stream.
func foldPath(p string) []string {
	names := strings.Split(p, "/")
	for i, name := range names {
		names[i] = fold(name)
	}
	return names
}

func fold(name string) string {
	if utf8.ValidString(name) {
		name = norm.NFKC.String(strings.Map(visible, name))
	}
	// NFKC of a full-width colon or of a one-dot leader is the plain one, so the
	// cut comes after it.
	short, _, _ := strings.Cut(name, ":")
	short = strings.ToLower(strings.TrimRight(short, ". "))
	if short == "" {
		return strings.ToLower(name)
	}
	return short
}

// visible drops what HFS+ ignores in a name.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

var shortName = doc.Pattern(`^[^.~]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$`)

// spelling blocks names that some system reads as another's, or that a terminal
// does not show as they are.
func (s *scan) spelling() {
	if s.Old != (git.Entry{}) || s.New == (git.Entry{}) {
		return // the name is none of the change's
	}
	for name := range strings.SplitSeq(s.Path, "/") {
		switch {
		case shortName().MatchString(name):
			s.whole("surface/short-name", doc.Block, "a name that Windows may take for the short form of another file's", "choose another name")
		case fold(name) != ".." && strings.TrimRight(name, ". ") != name && name != "." && name != "..":
			s.whole("surface/name", doc.Block, "a name that ends in a dot or a space, which Windows leaves out", "choose another name")
		case hiddenInName(name):
			s.whole("text/name", doc.Block, "a file name with control or invisible characters: it is not what it looks like", "choose another name")
		default:
			continue
		}
		return
	}
}

// hiddenInName reports whether a name has characters that are not seen.
func hiddenInName(name string) bool {
	var p pen
	for rest := []byte(name); len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		rest = rest[n:]
		switch p.judge(r, rest) {
		case shown, joiner:
		default:
			return true
		}
	}
	return false
}

// globs are patterns of paths.
type globs []glob

// glob is one pattern: "name" is a file at any depth, "a/b" the end of a path, "a/"
// what lies below such a folder, "/a" begins at the top. "*" stands for any
// characters of one component.
type glob struct {
	names      []string
	top, below bool
}

// paths reads patterns, folded, separated by white space.
func paths(patterns string) globs {
	var all globs
	for p := range strings.FieldsSeq(patterns) {
		p, top := strings.CutPrefix(p, "/")
		p, below := strings.CutSuffix(p, "/")
		all = append(all, glob{strings.Split(p, "/"), top, below})
	}
	return all
}

// match reports whether one of the patterns matches a path. folder says that the
// path may itself name a folder.
func (all globs) match(names []string, folder bool) bool {
	for i := range all {
		if all[i].match(names, folder) {
			return true
		}
	}
	return false
}

func (g *glob) match(names []string, folder bool) bool {
	last := len(names) - len(g.names)
	if !g.below {
		return last >= 0 && (!g.top || last == 0) && g.begins(names[last:])
	}
	if !folder {
		last--
	}
	for i := 0; i <= last && (!g.top || i == 0); i++ {
		if g.begins(names[i:]) {
			return true
		}
	}
	return false
}

// begins reports whether names begin with a pattern's components.
func (g *glob) begins(names []string) bool {
	for i, want := range g.names {
		if !matchName(want, names[i]) {
			return false
		}
	}
	return true
}

func matchName(pattern, name string) bool {
	before, rest, any := strings.Cut(pattern, "*")
	switch {
	case !any:
		return pattern == name
	case !strings.HasPrefix(name, before):
		return false
	case strings.Contains(rest, "*"):
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	return len(name) >= len(before)+len(rest) && strings.HasSuffix(name, rest)
}

// covers reports whether a path is, or lies below, another.
func covers(folder, names []string) bool {
	if len(folder) > len(names) {
		return false
	}
	for i, name := range folder {
		if name != names[i] {
			return false
		}
	}
	return true
}
