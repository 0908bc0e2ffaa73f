package patch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

const (
	maxPath = 4095 // bytes
	maxName = 255  // bytes of a component
)

var devicePattern = lazyregexp.New(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)([0-9]|¹|²|³))$`)

var shortGitPattern = lazyregexp.New(`(?i)^git~[0-9]+$`)

// checkPath refuses a path that some system would not take literally as a file
// of the tree. Errors: *UnsafeError.
func checkPath(p string) error {
	refuse := func(why string) error { return &UnsafeError{Path: p, Why: why} }
	switch {
	case p == "":
		return refuse("the path is empty")
	case len(p) > maxPath:
		return refuse("the path is too long")
	case strings.HasPrefix(p, "/"):
		return refuse("the path is absolute")
	case strings.Contains(p, "\x00"):
		return refuse("the path has a NUL")
	case strings.Contains(p, `\`):
		return refuse("the path has a backslash")
	}
	for name := range strings.SplitSeq(p, "/") {
		if why := unsafeName(name); why != "" {
			return refuse(why)
		}
	}
	return nil
}

// unsafeName says what is wrong with one component, "" if nothing is.
func unsafeName(name string) string {
	base, _, _ := strings.Cut(name, ".")
	switch {
	case name == "":
		return "the path has an empty component"
	case name == ".", name == "..":
		return `the path has the component "` + name + `"`
	case len(name) > maxName:
		return "a component of the path is too long"
	case isDotGit(name):
		return "the path enters .git"
	case strings.Contains(name, ":"):
		return "the path has a colon, which names a stream or a drive on Windows"
	case devicePattern.MatchString(strings.TrimRight(base, " ")):
		return "the path names a device on Windows"
	}
	return ""
}

// isDotGit reports whether some file system takes the name for ".git": folded
// case, code points that HFS+ ignores, NTFS streams, trailing dots and spaces,
// and 8.3 names.
func isDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(stripIgnorable(name), ". ")
	return strings.EqualFold(name, ".git") || shortGitPattern.MatchString(name)
}

// stripIgnorable drops the code points that HFS+ ignores in a name.
func stripIgnorable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, s)
}

// fold returns a key that is equal for names that some file system takes for
// one: case and normal form do not count, nor what isDotGit leaves out.
func fold(name string) string {
	var b strings.Builder
	if utf8.ValidString(name) {
		name = norm.NFKC.String(stripIgnorable(name))
	}
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError:
			b.WriteString(name[i : i+n])
		case r == 'ß', r == 'ẞ':
			b.WriteString("ss")
		default:
			b.WriteRune(foldRune(r))
		}
		i += n
	}
	if short := strings.TrimRight(b.String(), ". "); short != "" {
		return short
	}
	return b.String()
}

// foldRune returns the least rune that differs from r in case only.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// checkSpellings refuses a patch whose own paths some file system takes for one
// another, and files below files. Files that were there before may be so.
func checkSpellings(files []File) error {
	type use struct {
		path  string
		added bool
		file  bool
	}
	seen := map[string]use{}
	for _, f := range files {
		if f.Change == Deleted {
			continue
		}
		added := f.Change != Modified
		for end := range prefixes(f.Path) {
			prefix := f.Path[:end]
			key := foldPath(prefix)
			before, ok := seen[key]
			now := use{prefix, added, end == len(f.Path)}
			switch {
			case !ok:
				seen[key] = now
			case before.path != prefix && (added || before.added):
				return &UnsafeError{Path: f.Path, Why: "collides with " + quoted(before.path) + " where case or normal form do not count"}
			case before.path == prefix && (before.file || now.file):
				return &UnsafeError{Path: f.Path, Why: "is below a file or symlink of the patch"}
			}
		}
	}
	return nil
}

func foldPath(p string) string {
	names := strings.Split(p, "/")
	for i, name := range names {
		names[i] = fold(name)
	}
	return strings.Join(names, "/")
}

// prefixes yields the end of each leading part of a path, the whole path last.
func prefixes(p string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range len(p) {
			if p[i] == '/' && !yield(i) {
				return
			}
		}
		yield(len(p))
	}
}
