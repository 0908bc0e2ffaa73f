package language_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

// TestTests: what runners find, what is a project's test, and what decides on tests.
func TestInlineTests(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"none", "fn a() {}\n// #[test] in words\nlet s = \"#[test]\";\n", ""},
		{"a module", "fn a() {}\n\n#[cfg(test)]\nmod tests {}\n", "#[cfg(test)]\nmod tests {}\n"},
		{"a function", "fn a() {}\n  #[test]\nfn b() {}\n", "  #[test]\nfn b() {}\n"},
		{"of a runtime", "#[tokio::test]\nasync fn b() {}\n", "#[tokio::test]\nasync fn b() {}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := language.InlineTests(tc.text); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestTests(t *testing.T) {
	all := []string{language.Python, language.TypeScript, language.JavaScript, language.Go, language.Java, language.Cpp, language.Rust}
	for _, row := range []struct {
		file    string
		of      []string // languages whose runner finds it
		test    bool
		setting bool
	}{
		{"test_a.py", []string{"python"}, true, false},
		{"a/b_test.py", []string{"python"}, true, false},
		{"a/testing_tools.py", nil, false, false},
		{"tests/helper.py", nil, true, false},
		{"src/a.test.ts", []string{"typescript", "javascript"}, true, false},
		{"src/a.spec.jsx", []string{"typescript", "javascript"}, true, false},
		{"src/__tests__/a.js", nil, true, false},
		{"src/__snapshots__/a.test.js.snap", nil, true, false},
		{"src/contest.js", nil, false, false},
		{"a_test.go", []string{"go"}, true, false},
		{"a/testdata/x.golden", nil, true, false},
		{"latest.go", nil, false, false},
		{"src/test/java/a/B.java", nil, true, false},
		{"a/BTest.java", []string{"java"}, true, false},
		{"a/Testimonial.java", nil, false, false},
		{"a/Latest.java", nil, false, false},
		{"a/b_test.cc", []string{"c++"}, true, false},
		{"a/b_unittest.cpp", []string{"c++"}, true, false},
		{"a/test_b.c", nil, true, false},
		{"tests/a.rs", []string{"rust"}, true, false},
		{"crates/x/tests/a.rs", []string{"rust"}, true, false},
		{"tests/common/mod.rs", nil, true, false},
		{"src/lib.rs", nil, false, false},
		{"Test/a.md", nil, true, false},
		{"conftest.py", nil, false, true},
		{"a/pytest.ini", nil, false, true},
		{"pyproject.toml", nil, false, true},
		{"web/package.json", nil, false, true},
		{"vitest.config.mts", nil, false, true},
		{"jest.setup.js", nil, false, true},
		{".mocharc.json", nil, false, true},
		{"pom.xml", nil, false, true},
		{"a/build.gradle.kts", nil, false, true},
		{"CMakeLists.txt", nil, false, true},
		{"Cargo.toml", nil, false, true},
		{".cargo/config.toml", nil, false, true},
		{"Makefile", nil, false, true},
		{"makefile.md", nil, false, false},
		{"go.mod", nil, false, false},
		{"README.md", nil, false, false},
	} {
		t.Run(row.file, func(t *testing.T) {
			var of []string
			for _, lang := range all {
				if language.Tests(lang, row.file) {
					of = append(of, lang)
				}
			}
			got := []any{of, language.IsTest(row.file), language.IsTestSetting(row.file)}
			if diff := cmp.Diff([]any{row.of, row.test, row.setting}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for file, want := range map[string]bool{
		"conftest.py": true, "tests/conftest.py": true, "a/pytest.ini": true, "sitecustomize.py": true, "jest.config.js": true, ".mocharc.json": true, "GNUmakefile": true, ".cargo/config.toml": true,
		"package.json": false, "pyproject.toml": false, "pom.xml": false, "Makefile": false, "vite.config.ts": false, "a_test.go": false, "contest.py": false,
	} {
		if got := language.IsTestSwitch(file); got != want || got && !language.IsTestSetting(file) {
			t.Errorf("%s: switch %t, want %t; setting %t", file, got, want, language.IsTestSetting(file))
		}
	}
	if language.Tests("cobol", "a_test.go") {
		t.Error("a language that is none has tests")
	}
}

func TestFrameworks(t *testing.T) {
	for _, row := range []struct {
		name string
		tree files
		dir  string
		want []string
	}{
		{"none", files{"go.mod": ""}, "", nil},
		{"pytest", files{"requirements-dev.txt": "pytest>=7"}, "", []string{"pytest"}},
		{"pytest by a setting", files{"conftest.py": ""}, "", []string{"pytest"}},
		{"of another folder", files{"a/requirements.txt": "pytest", "package.json": `{"devDependencies":{"jest":"1"}}`}, "a", []string{"pytest"}},
		{"Node's", files{"package.json": `{"devDependencies":{"mocha":"1","tsx":"4"},"dependencies":{"vitest":"1"}}`}, "", []string{"vitest", "mocha", "tsx"}},
		{"a manifest that is none", files{"package.json": `{"devDependencies": ["jest"`}, "", nil},
		{"Maven", files{"pom.xml": "", "m/pom.xml": "<artifactId>junit-jupiter</artifactId>"}, "", []string{"junit5"}},
		{"Gradle and JUnit 4", files{"build.gradle": "testImplementation 'junit:junit:4.13'"}, "", []string{"junit4"}},
		{"Gradle's platform", files{"app/build.gradle.kts": "tasks.test { useJUnitPlatform() }"}, "", []string{"junit5"}},
		{"CMake", files{"CMakeLists.txt": "", "t/CMakeLists.txt": "find_package(Catch2)\nfind_package(GTest)"}, "", []string{"gtest", "catch2"}},
		{"others' code", files{"CMakeLists.txt": "", "third_party/x/CMakeLists.txt": "gtest"}, "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var paths []string
			for name := range row.tree {
				paths = append(paths, name)
			}
			got := language.Frameworks(row.dir, paths, func(file string) string { return row.tree[file] })
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
