package llm

import (
	"fmt"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// language is how tests are named in one.
type language struct {
	name     string
	names    *lazyregexp.Regexp // of a test file, by its last element
	folder   string             // a folder in which any source file is a test; "" for none
	examples []string           // for the model
}

// testFolder may hold files of any name that only tests need.
const testFolder = "ftl_tests"

// What the runners find by default.
var (
	pythonTest = lazyregexp.New(`^(test_.+|.+_test)\.py$`)
	scriptTest = lazyregexp.New(`\.(test|spec)\.[cm]?[jt]sx?$`)
	goTest     = lazyregexp.New(`^[^_].*_test\.go$`)
	javaTest   = lazyregexp.New(`^(Test.+|.+Tests?|.+IT)\.java$`)
	cppTest    = lazyregexp.New(`^(test_.+|.+[_.](unit)?test)\.(cc|cpp|cxx)$`)
	rustTest   = lazyregexp.New(`^.+_test\.rs$`)
)

// languageOf finds a language by a name that people use for it.
func languageOf(name string) (language, error) {
	switch strings.ToLower(name) {
	case "python", "py":
		return language{"Python", pythonTest, "", []string{"tests/test_name.py"}}, nil
	case "typescript", "ts":
		return language{"TypeScript", scriptTest, "", []string{"src/name.test.ts"}}, nil
	case "javascript", "js", "node":
		return language{"JavaScript", scriptTest, "", []string{"src/name.test.js"}}, nil
	case "go", "golang":
		return language{"Go", goTest, "", []string{"folder/of/the/package/name_test.go"}}, nil
	case "java":
		return language{"Java", javaTest, "", []string{"src/test/java/the/package/NameTest.java"}}, nil
	case "c++", "cpp", "cxx":
		return language{"C++", cppTest, "", []string{"tests/name_test.cpp"}}, nil
	case "rust", "rs":
		return language{"Rust", rustTest, "tests", []string{"tests/name.rs"}}, nil
	}
	return language{}, fmt.Errorf("no tests are written in %q", clip(name, 40))
}

// element is what one part of a test's path may be: no dot in front, so that no
// tool's settings, and nothing that only some systems allow.
var element = lazyregexp.New(`^[A-Za-z0-9_@(\[][A-Za-z0-9_+.@()\[\]-]*$`)

// device are names that Windows takes for something else, whatever follows them.
var device = lazyregexp.New(`(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)`)

// settings are files that runners run or read besides tests.
var settings = lazyregexp.New(`(?i)^(conftest\.py|sitecustomize\.py|usercustomize\.py|.*\.pth|package(-lock)?\.json|.*\.config\.[cm]?[jt]s|build\.rs|makefile)$`)

// check refuses a path that is no test's.
func (l language) check(p string) error {
	if p == "" || len(p) > 200 || path.Clean(p) != p {
		return fmt.Errorf("path %q: want a short one from the root of the repository", clip(p, 100))
	}
	elements := strings.Split(p, "/")
	for _, e := range elements {
		if !element.MatchString(e) || strings.HasSuffix(e, ".") || device.MatchString(e) {
			return fmt.Errorf("path %q: %q is not allowed in it", clip(p, 100), clip(e, 40))
		}
	}
	last := elements[len(elements)-1]
	if settings.MatchString(last) {
		return fmt.Errorf("path %q: settings of tools are not tests", p)
	}
	if elements[0] == testFolder && len(elements) > 1 || l.names.MatchString(last) {
		return nil
	}
	if l.folder != "" && elements[0] == l.folder && strings.HasSuffix(last, ".rs") {
		return nil
	}
	return fmt.Errorf("path %q: no test of %s is named so; want %s", p, l.name, strings.Join(l.examples, ", "))
}
