package llm

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Bounds of a map.
const (
	maxMap      = 24 << 10 // bytes
	maxMapRead  = 400      // files whose names are read
	maxMapNames = 16       // of one file
	maxMapFiles = 60       // of one folder
)

// built are files that say how a project is built and tested.
var built = lazyregexp.New(`(?i)^(go\.mod|package\.json|tsconfig\.json|pyproject\.toml|setup\.(py|cfg)|requirements.*\.txt|tox\.ini|pytest\.ini|pom\.xml|build\.gradle(\.kts)?|settings\.gradle(\.kts)?|cargo\.toml|cmakelists\.txt|meson\.build|makefile|(jest|vitest)\.config\..*)$`)

// plain is a path that can be nothing but one.
var plain = lazyregexp.New(`^[A-Za-z0-9_./@+()\[\]-]+$`)

// RepoMap is a repository in at most 24 KiB of text: folders, files, what they
// declare for others, and how it is built. files are paths with slashes; read
// gives the beginning of one, 64 KiB are enough, and is asked for few. What it
// cannot read is listed by name.
func RepoMap(files []string, read func(path string) ([]byte, error)) string {
	folders := map[string][]string{}
	var builds []string
	for _, f := range files {
		folders[path.Dir(f)] = append(folders[path.Dir(f)], f)
		if built.MatchString(path.Base(f)) && strings.Count(f, "/") < 3 {
			builds = append(builds, shown(f))
		}
	}
	m := mapper{read: read, left: maxMapRead}
	m.line("files: %d, folders: %d\n", len(files), len(folders))
	m.line("build: %s\n", clip(strings.Join(builds, ", "), 1000))
	names := slices.SortedFunc(maps.Keys(folders), byDepth)
	for i, folder := range names {
		if m.b.Len() > maxMap-200 {
			m.line("and %d more folders\n", len(names)-i)
			break
		}
		m.folder(folder, folders[folder])
	}
	return m.b.String()
}

// mapper writes a map.
type mapper struct {
	b    strings.Builder
	read func(string) ([]byte, error)
	left int // files that may still be read
}

func (m *mapper) line(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); m.b.Len()+len(line) <= maxMap {
		m.b.WriteString(line)
	}
}

// folder writes a folder in full, or a line of it where others wrote it or the
// map is half full.
func (m *mapper) folder(name string, files []string) {
	slices.Sort(files)
	if made.MatchString(name+"/") || strings.Contains("/"+name+"/", "/testdata/") || m.b.Len() > maxMap*3/4 {
		m.line("%s/ %d files\n", shown(name), len(files))
		return
	}
	m.line("%s/\n", shown(name))
	for i, f := range files {
		if i == maxMapFiles {
			m.line("  and %d more files\n", len(files)-i)
			return
		}
		m.line("  %s%s\n", shown(path.Base(f)), m.names(f))
	}
}

// names are what a file declares, as the end of its line.
func (m *mapper) names(file string) string {
	pattern := declared(file)
	if pattern == nil || m.left == 0 || m.b.Len() > maxMap*3/4 {
		return ""
	}
	m.left--
	text, err := m.read(file)
	if err != nil {
		return ""
	}
	if all := declarations(pattern, text); len(all) > 0 {
		return ": " + strings.Join(all, ", ")
	}
	return ""
}

// shown is a path on a line of its own or in a list, in which it can say nothing
// else.
func shown(p string) string {
	if !plain.MatchString(p) {
		p = escape.Text(strconv.Quote(p))
	}
	return clip(p, 200)
}

// byDepth puts what is near the root first.
func byDepth(a, b string) int {
	depth := func(p string) int {
		if p == "." {
			return 0
		}
		return strings.Count(p, "/") + 1
	}
	if d := depth(a) - depth(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
