package llm

import (
	"fmt"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// testFolder may hold files of any name that only tests need.
const testFolder = "ftl_tests"

// spoken is a language's name for a model, and an example of a test's path in it.
type spoken struct{ name, example string }

// speak finds a language by a name that people use for it.
func speak(name string) (lang string, s spoken, err error) {
	if lang, err = language.Parse(name); err != nil {
		return "", spoken{}, fmt.Errorf("write tests: %w", err)
	}
	return lang, map[string]spoken{
		language.Python:     {"Python", "tests/test_name.py"},
		language.TypeScript: {"TypeScript", "src/name.test.ts"},
		language.JavaScript: {"JavaScript", "src/name.test.js"},
		language.Go:         {"Go", "folder/of/the/package/name_test.go"},
		language.Java:       {"Java", "src/test/java/the/package/NameTest.java"},
		language.Cpp:        {"C++", "tests/name_test.cpp"},
		language.Rust:       {"Rust", "tests/name.rs"},
	}[lang], nil
}

// element is what one part of a test's path may be: no dot in front, so that no
// tool's settings, and nothing that only some systems allow.
var element = lazyregexp.New(`^[A-Za-z0-9_@(\[][A-Za-z0-9_+.@()\[\]-]*$`)

// device are names that Windows takes for something else, whatever follows them.
var device = lazyregexp.New(`(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)`)

// settings are files that runners run or read besides tests.
var settings = lazyregexp.New(`(?i)^(conftest\.py|sitecustomize\.py|usercustomize\.py|.*\.pth|package(-lock)?\.json|.*\.config\.[cm]?[jt]s|build\.rs|makefile)$`)

// checkPath refuses a path that is no test's of a language.
func checkPath(lang, p string) error {
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
	if elements[0] == testFolder && len(elements) > 1 || language.Tests(lang, p) {
		return nil
	}
	return fmt.Errorf("path %q: no test of %s is named so", p, lang)
}
