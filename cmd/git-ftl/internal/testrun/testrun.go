// Package testrun knows how tests that a model wrote run in a sandbox, in the
// languages that git-ftl knows, and reads what the runners say. It gives shell
// scripts and takes their output: it starts nothing, reads no file, and sends
// nothing. Output is the word of a program that may be hostile: it is bounded, and
// can lie about its own tests alone. No script installs anything or needs a network.
package testrun

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

// File is one file, by its path from the top of the repository, with slashes.
type File struct{ Path, Content string }

// Folder may hold files of any name that only tests need.
const Folder = "ftl_tests"

// Kit knows how new tests of one language run in a tree.
type Kit struct {
	Language string   // of package language
	Runner   string   // the command that runs them, in short
	Style    string   // what a test file must be like, in sentences for who writes it
	Names    []string // examples of paths

	tree tree
	kind kind
}

// kind is how tests of one language run.
type kind struct {
	style func(t tree, dir string) (runner, text string, names []string) // of tests in a project's folder
	check func(t tree, dir, file string) error                           // refuses where no runner would look; nil takes all
	run   func(t tree, dir string, test File) Run
}

func kinds() map[string]kind {
	return map[string]kind{
		language.Python:     {pythonStyle, nil, pythonRun},
		language.JavaScript: {nodeStyle, nil, nodeRun},
		language.TypeScript: {nodeStyle, nil, nodeRun},
		language.Go:         {goStyle, nil, goRun},
		language.Java:       {javaStyle, javaCheck, javaRun},
		language.Cpp:        {cppStyle, nil, cppRun},
		language.Rust:       {rustStyle, rustCheck, rustRun},
	}
}

// NewKit looks at the projects of a tree, all its paths, and at manifests by
// content. Tests are in the language of the first project that has one. The error
// says that there is none.
func NewKit(projects []language.Project, paths []string, content func(file string) string) (Kit, error) {
	for _, p := range projects {
		k, ok := kinds()[p.Language]
		if !ok {
			continue
		}
		t := newTree(projects, p.Language, paths, content)
		kit := Kit{Language: p.Language, tree: t, kind: k}
		kit.Runner, kit.Style, kit.Names = k.style(t, p.Dir)
		return kit, nil
	}
	return Kit{}, errors.New("no language is known here that tests are written in")
}

// Check refuses the path of a new file that no runner would find, nor a test could
// use.
func (k Kit) Check(file string) error {
	if isHelper(k.Language, file) {
		return nil
	}
	dir, ok := k.tree.project(file)
	switch {
	case !language.Tests(k.Language, file):
		return refused(file, "no test is named so; want "+strings.Join(k.Names, " or "))
	case !ok:
		return refused(file, "outside every project in that language")
	case k.kind.check != nil:
		return k.kind.check(k.tree, dir, file)
	}
	return nil
}

func refused(file, why string) error { return fmt.Errorf("path %q: %s", file, why) }

// isHelper reports whether a file is one that tests use.
func isHelper(lang, file string) bool {
	return strings.HasPrefix(file, Folder+"/") && !language.Tests(lang, file)
}

// Run is one test file's run. Its files are put into the workspace before, and taken
// away after.
type Run struct {
	Path   string // the test file
	Files  []File // with those that it uses
	Script string // for "sh -c" at the top of the workspace; writes there and in the folder for temporary files

	format string // of the output where the script names none
}

// Runs gives one run for each test file, in their order. Files that are no tests
// belong to every run.
func (k Kit) Runs(tests []File) []Run {
	var helpers []File
	for _, f := range tests {
		if !language.Tests(k.Language, f.Path) {
			helpers = append(helpers, f)
		}
	}
	var runs []Run
	for _, f := range tests {
		dir, ok := k.tree.project(f.Path)
		if !ok || !language.Tests(k.Language, f.Path) {
			continue
		}
		r := k.kind.run(k.tree, dir, f)
		r.Path, r.Files, r.Script = f.Path, append([]File{f}, helpers...), prelude+r.Script
		runs = append(runs, r)
	}
	return runs
}

// tree is what is known of the repository.
type tree struct {
	files    map[string]bool
	paths    []string
	content  func(file string) string
	projects []language.Project // of the language, the deepest first
	language string
}

func newTree(projects []language.Project, lang string, paths []string, content func(string) string) tree {
	t := tree{files: map[string]bool{}, paths: paths, content: content, language: lang}
	for _, file := range paths {
		t.files[file] = true
	}
	for _, p := range projects {
		if family(p.Language) == family(lang) {
			t.projects = append(t.projects, p)
		}
	}
	slices.SortStableFunc(t.projects, func(a, b language.Project) int { return len(b.Dir) - len(a.Dir) })
	return t
}

// family is one name for languages that one runner takes.
func family(lang string) string {
	if lang == language.TypeScript {
		return language.JavaScript
	}
	return lang
}

// project is the folder of the project that a file belongs to.
func (t tree) project(file string) (dir string, ok bool) {
	for _, p := range t.projects {
		if within(p.Dir, file) {
			return p.Dir, true
		}
	}
	return "", false
}

// command is what a project's folder says that runs its tests.
func (t tree) command(dir string) string {
	for _, p := range t.projects {
		if p.Dir == dir {
			return p.Test
		}
	}
	return ""
}

// nearest is the folder of a file, or the next one above down to top, that has one
// of these files; top where none has.
func (t tree) nearest(top, file string, names ...string) string {
	for dir := parent(file); dir != top && dir != ""; dir = parent(dir) {
		for _, name := range names {
			if t.files[path.Join(dir, name)] {
				return dir
			}
		}
	}
	return top
}

func parent(file string) string {
	if dir := path.Dir(file); dir != "." && dir != "/" {
		return dir
	}
	return ""
}

func within(dir, file string) bool { return dir == "" || strings.HasPrefix(file, dir+"/") }

// below is a file's path from a folder that it is in.
func below(dir, file string) string {
	if dir == "" {
		return file
	}
	return strings.TrimPrefix(file, dir+"/")
}

// quote writes a word as a shell reads it.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// at writes a path for a shell, from where the script is: such that no tool takes
// it for an option.
func at(file string) string { return quote("./" + file) }

// prelude is what all scripts use. What they say of themselves stands in lines that
// begin with mark.
const prelude = `need() {
	command -v "$1" >/dev/null 2>&1 || { echo "ftl-tests: missing $1"; exit 127; }
}
ftl=$(mktemp -d) || exit 1
trap 'rm -rf "$ftl"' EXIT
report() { # FORMAT FILE...
	[ -f "$2" ] || return 0
	printf '\nftl-tests: report %s\n' "$1"
	shift
	for file; do head -c 1048576 "$file"; done
}
`
