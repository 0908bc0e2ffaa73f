package language

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Project is a folder with a manifest of its own.
type Project struct {
	Dir      string // with slashes, "" for the top
	Language string
	Test     string // runs its tests, from Dir; "" where it names none
	Setup    string // fetches what they need, from Dir; "" for nothing
}

// tree is what is known of a folder's content.
type tree struct {
	files   map[string]bool
	content func(file string) string
}

// folder is one folder of a tree.
type folder struct {
	tree
	dir string
}

// has reports whether the folder has one of these files.
func (f folder) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.files[path.Join(f.dir, name)] })
}

// text is the content of a file, "" where there is none.
func (f folder) text(name string) string {
	if !f.has(name) {
		return ""
	}
	return f.content(path.Join(f.dir, name))
}

// within reports whether the folder, or one above it, has one of these files.
func (f folder) within(names ...string) bool {
	for at := f; ; at.dir = parent(at.dir) {
		if at.has(names...) {
			return true
		}
		if at.dir == "" {
			return false
		}
	}
}

// parent is the folder above, "" above the top.
func parent(dir string) string {
	if dir = path.Dir(dir); dir == "." {
		return ""
	}
	return dir
}

// kind is how the projects of a language are known.
type kind struct {
	is     func(folder) bool
	covers func(folder) bool // reports whether a project has those of its kind below it as parts
	read   func(folder) Project
}

func kinds() []kind {
	with := func(names ...string) func(folder) bool { return func(f folder) bool { return f.has(names...) } }
	always := func(folder) bool { return true }
	never := func(folder) bool { return false }
	return []kind{
		{with("go.mod"), never, goProject},
		{with("Cargo.toml"), isWorkspace, rustProject},
		{with("package.json"), hasWorkspaces, nodeProject},
		{with("pom.xml"), always, mavenProject},
		{with("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"), always, gradleProject},
		{isPython, never, pythonProject},
		{with("CMakeLists.txt"), always, cmakeProject},
	}
}

// maxProjects bounds what is looked at.
const maxProjects = 64

// Detect finds the projects of a tree, the top one first. Paths have slashes;
// content gives the text of a manifest, "" where it cannot be had. Where there is
// no manifest, the language of most files is that of the top.
func Detect(paths []string, content func(file string) string, overrides []Override) []Project {
	t := tree{files: map[string]bool{}, content: content}
	dirs := map[string]bool{}
	for _, file := range paths {
		if !foreign(file) {
			t.files[file] = true
			dirs[parent(file)] = true
		}
	}
	var all []Project
	for _, dir := range byDepth(dirs) {
		for _, k := range kinds() {
			if f := (folder{t, dir}); len(all) < maxProjects && k.is(f) && !t.covered(k, dir) {
				all = append(all, corrected(k.read(f), overrides))
			}
		}
	}
	if len(all) == 0 {
		all = t.bare(overrides)
	}
	return all
}

// foreign reports whether a file is someone else's, or only there for tests.
func foreign(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(name string) bool {
		return slices.Contains([]string{"node_modules", "vendor", "third_party", "testdata", "fixtures", ".venv", "venv", "target", "dist", ".git"}, name)
	})
}

func byDepth(dirs map[string]bool) []string {
	var all []string
	for dir := range dirs {
		all = append(all, dir)
	}
	slices.SortFunc(all, func(a, b string) int {
		depth := func(dir string) int {
			if dir == "" {
				return 0
			}
			return 1 + strings.Count(dir, "/")
		}
		return cmp.Or(depth(a)-depth(b), strings.Compare(a, b))
	})
	return all
}

// covered reports whether a folder's project is part of one above it.
func (t tree) covered(k kind, dir string) bool {
	for dir != "" {
		dir = parent(dir)
		if f := (folder{t, dir}); k.is(f) && k.covers(f) {
			return true
		}
	}
	return false
}

// corrected obeys the user on what a project is written in: by a pattern that has
// any file of its folder.
func corrected(p Project, overrides []Override) Project {
	for _, o := range overrides {
		if o.Matches(path.Join(p.Dir, "any file")) {
			p.Language = o.Language
		}
	}
	return p
}

// bare is the project of a tree without a manifest: none where it has no source.
func (t tree) bare(overrides []Override) []Project {
	count := map[string]int{}
	tests := false
	for file := range t.files {
		count[Of(file, overrides)]++
		tests = tests || isPythonTest(file)
	}
	delete(count, "")
	if len(count) == 0 {
		return nil
	}
	var names []string
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	p := Project{Language: names[0]}
	if p.Language == Python && tests {
		p.Test = pytest
	}
	return []Project{p}
}

func isPythonTest(file string) bool {
	name := path.Base(file)
	return strings.HasSuffix(name, "_test.py") || strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py")
}

// Main is the language of most of a tree: that of its first project.
func Main(all []Project) string {
	if len(all) == 0 {
		return ""
	}
	return all[0].Language
}

// Test joins the commands that run the tests of all projects, for "sh -c" at the
// top.
func Test(all []Project) string { return join(all, func(p Project) string { return p.Test }) }

// Setup joins the commands that fetch what the tests of all projects need.
func Setup(all []Project) string { return join(all, func(p Project) string { return p.Setup }) }

func join(all []Project, command func(Project) string) string {
	var parts []string
	for _, p := range all {
		switch text := command(p); {
		case text == "":
		case p.Dir == "":
			parts = append(parts, text)
		default:
			parts = append(parts, "(cd "+quote(p.Dir)+" && "+text+")")
		}
	}
	return strings.Join(parts, " && ")
}

// quote writes a folder as a shell reads it. Its name is the repository's.
func quote(dir string) string {
	plain := !strings.HasPrefix(dir, "-") && !strings.ContainsFunc(dir, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./@+", r))
	})
	if plain {
		return dir
	}
	return "'./" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
}

// Overrides names the projects that are not in the main language, as settings have
// it.
func Overrides(all []Project) []Override {
	var found []Override
	for _, p := range all {
		if p.Dir != "" && p.Language != Main(all) {
			found = append(found, Override{"/" + p.Dir, p.Language})
		}
	}
	return found
}
