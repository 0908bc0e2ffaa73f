package language

import (
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// What the usual runners take for tests, by the last element of a path.
var (
	pythonTest = lazyregexp.New(`^(test_.+|.+_test)\.py$`)
	scriptTest = lazyregexp.New(`^.+\.(test|spec)\.[cm]?[jt]sx?$`)
	goTest     = lazyregexp.New(`^[^_.].*_test\.go$`)
	javaTest   = lazyregexp.New(`^(Test[A-Z0-9].*|.+Tests?|.+IT)\.java$`)
	cppTest    = lazyregexp.New(`^(test_.+|.+[_.](unit)?tests?)\.(cc|cpp|cxx)$`)
	cTest      = lazyregexp.New(`^(test_.+|.+[_.](unit)?tests?)\.c$`)
)

// rustTest is a whole path: cargo looks at one folder of each crate.
var rustTest = lazyregexp.New(`(^|/)tests/[^/]+\.rs$`)

// Tests reports whether a new file would be one of tests, by its path: such that the
// usual runner of the language finds it.
func Tests(language, file string) bool {
	name := path.Base(file)
	switch language {
	case Python:
		return pythonTest.MatchString(name)
	case JavaScript, TypeScript:
		return scriptTest.MatchString(name)
	case Go:
		return goTest.MatchString(name)
	case Java:
		return javaTest.MatchString(name)
	case Cpp:
		return cppTest.MatchString(name)
	case Rust:
		return rustTest.MatchString(file)
	}
	return false
}

// IsTest reports whether a file of a project is one of its tests, or what its tests
// compare with or are made of, by the customs of all languages. Tests that stand
// among other code are not known by a path: see InlineTests.
func IsTest(file string) bool {
	for folder := range strings.SplitSeq(strings.ToLower(path.Dir(file)), "/") {
		switch folder {
		case "test", "tests", "testing", "testdata", "test-data", "__tests__", "__mocks__", "__snapshots__", "spec", "specs", "fixtures", "e2e":
			return true
		}
	}
	for _, language := range []string{Python, JavaScript, Go, Java, Cpp} {
		if Tests(language, file) {
			return true
		}
	}
	return cTest.MatchString(path.Base(file))
}

// rustInline is the end of a file of Rust, from its first test on.
var rustInline = lazyregexp.New(`(?ms)^[ \t]*#\[(cfg\(test\)|([a-z_]+::)*test\b).*\z`)

// HasInlineTests reports whether tests may stand in a file among other code.
func HasInlineTests(file string) bool { return strings.HasSuffix(file, ".rs") }

// InlineTests is the part of such a file from its first test on; "" where it has none.
func InlineTests(text string) string { return rustInline.FindString(text) }

// testSetting are files by which tests can be switched off, or made to pass.
var testSetting = lazyregexp.New(`^(conftest\.py|(site|user)customize\.py|pytest\.(ini|toml)|tox\.(ini|toml)|setup\.(cfg|py)|pyproject\.toml|noxfile\.py|\.coveragerc` +
	`|package\.json|(jest|vitest|vite|karma|playwright|cypress|ava)\.(config|conf|setup|workspace)\.[cm]?[jt]s(on)?|\.mocharc(\..+)?|\.npmrc` +
	`|pom\.xml|(build|settings)\.gradle(\.kts)?|gradle\.properties|junit-platform\.properties|cmakelists\.txt|cmakepresets\.json|ctestcustom\.cmake|meson\.build|(gnu)?makefile|cargo\.toml)$`)

// IsTestSetting reports whether a file says which tests run, and how.
func IsTestSetting(file string) bool {
	return testSetting.MatchString(strings.ToLower(path.Base(file))) || strings.HasSuffix("/"+file, "/.cargo/config.toml") || strings.HasSuffix("/"+file, "/.mvn/maven.config")
}

// testSwitch are those of them that hold for what stands beside and below them,
// without being the manifest of anything.
var testSwitch = lazyregexp.New(`^(conftest\.py|(site|user)customize\.py|pytest\.(ini|toml)|tox\.(ini|toml)|setup\.cfg|\.coveragerc` +
	`|(jest|vitest|karma|playwright|cypress|ava)\.(config|conf|setup|workspace)\.[cm]?[jt]s(on)?|\.mocharc(\..+)?|\.npmrc` +
	`|gradle\.properties|junit-platform\.properties|ctestcustom\.cmake|gnumakefile)$`)

// IsTestSwitch reports whether a file says which tests run, and how, of tests that
// may have been there before it. A new manifest, which is of something new, does not.
func IsTestSwitch(file string) bool {
	return testSwitch.MatchString(strings.ToLower(path.Base(file))) || strings.HasSuffix("/"+file, "/.cargo/config.toml") || strings.HasSuffix("/"+file, "/.mvn/maven.config")
}

// Names of test frameworks, and of what runs TypeScript without a compiler.
const (
	Pytest  = "pytest"
	Vitest  = "vitest"
	Jest    = "jest"
	Mocha   = "mocha"
	TSX     = "tsx"
	JUnit5  = "junit5"
	JUnit4  = "junit4"
	GTest   = "gtest"
	Catch2  = "catch2"
	Doctest = "doctest"
)

// Frameworks lists the test frameworks that the manifests of a folder name.
func Frameworks(dir string, paths []string, content func(file string) string) []string {
	f := folder{tree{files: map[string]bool{}, content: content}, dir}
	var below []string // build files, which name them in any folder
	for _, file := range paths {
		if parent(file) == dir {
			f.files[file] = true
		}
		if isBuildFile(file) && (dir == "" || strings.HasPrefix(file, dir+"/")) && !foreign(file) && len(below) < maxProjects {
			below = append(below, file)
		}
	}
	var found []string
	if f.namesPytest() {
		found = append(found, Pytest)
	}
	m := nodeManifest(f)
	for _, name := range []string{Vitest, Jest, Mocha, TSX} {
		if m.needs(name) {
			found = append(found, name)
		}
	}
	for _, file := range below {
		for _, name := range builtWith(content(file)) {
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

func isBuildFile(file string) bool {
	switch path.Base(file) {
	case "pom.xml", "build.gradle", "build.gradle.kts", "libs.versions.toml", "CMakeLists.txt":
		return true
	}
	return false
}

// builtWith knows frameworks by how build files call them.
func builtWith(text string) []string {
	var found []string
	low := strings.ToLower(text)
	for _, f := range []struct{ name, says string }{
		{JUnit5, "junit-jupiter"}, {JUnit5, "org.junit.jupiter"}, {JUnit5, "junit.jupiter"}, {JUnit5, "junit5"}, {JUnit5, "usejunitplatform"},
		{JUnit5, "spring-boot-starter-test"}, {JUnit4, "junit:junit"}, {JUnit4, "<artifactid>junit</artifactid>"},
		{GTest, "gtest"}, {GTest, "googletest"}, {Catch2, "catch2"}, {Doctest, "doctest"},
	} {
		if strings.Contains(low, f.says) && !slices.Contains(found, f.name) {
			found = append(found, f.name)
		}
	}
	return found
}
