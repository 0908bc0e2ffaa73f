package testrun

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

// kitOf is the kit of a tree: names of files, and what is in those that matter.
func kitOf(t *testing.T, tree map[string]string) (Kit, error) {
	t.Helper()
	var paths []string
	for name := range tree {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	content := func(file string) string { return tree[file] }
	return NewKit(language.Detect(paths, content, nil), paths, content)
}

func TestKit(t *testing.T) {
	type files = map[string]string
	for _, row := range []struct {
		name         string
		tree         files
		runner       string
		style        string   // a part of it
		names        []string // the first is taken
		takes, stops []string
	}{
		{"unittest", files{"a.py": ""}, "python3 -m unittest", "unittest.TestCase", []string{"tests/test_name.py"}, []string{"test_a.py", "ftl_tests/data.json"}, []string{"a.py", "ftl_test/x"}},
		{"pytest", files{"pyproject.toml": "pytest"}, "python3 -m pytest", "plain assert", []string{"tests/test_name.py"}, nil, []string{"conftest.py"}},
		{"Django", files{"manage.py": "", "requirements.txt": "django"}, "python3 manage.py test", "django.test", []string{"app/tests/test_name.py"}, nil, nil},
		{"below the top", files{"py/pyproject.toml": "", "py/a.py": ""}, "python3 -m unittest", "", []string{"py/tests/test_name.py"}, nil, []string{"test_a.py"}},
		{"Go", files{"go.mod": ""}, "go test ./...", "package", []string{"folder/of/the/package/name_test.go"}, nil, []string{"a.go"}},
		{"Go below the top", files{"srv/go.mod": ""}, "go test ./...", "package", []string{"srv/folder/of/the/package/name_test.go"}, nil, []string{"a_test.go", "srvx/a_test.go"}},
		{"vitest", files{"package.json": `{"devDependencies":{"vitest":"1"}}`}, "npx vitest run", "vitest", []string{"src/name.test.js"}, nil, []string{"a.js"}},
		{"jest and TypeScript", files{"package.json": `{"devDependencies":{"jest":"1","typescript":"5"}}`}, "npx jest", "Jest", []string{"src/name.test.ts"}, nil, nil},
		{"mocha", files{"package.json": `{"devDependencies":{"mocha":"1"}}`}, "npx mocha", "Mocha", []string{"src/name.test.js"}, nil, nil},
		{"Node alone", files{"package.json": `{}`}, "node --test", "node:test", []string{"src/name.test.js"}, nil, nil},
		{"Maven", files{"pom.xml": "<artifactId>junit-jupiter</artifactId>"}, "mvn test", "JUnit 5", []string{"src/test/java/the/package/NameTest.java"}, []string{"m/src/test/java/ATest.java"}, []string{"tests/ATest.java"}},
		{"Gradle", files{"build.gradle": "testImplementation 'junit:junit:4.13'", "gradlew": ""}, "gradle test", "JUnit 4", []string{"src/test/java/the/package/NameTest.java"}, nil, []string{"ATest.java"}},
		{"Maven without JUnit", files{"pom.xml": ""}, "java -ea", "no JUnit", []string{"tests/NameTest.java"}, nil, nil},
		{"Java with JUnit's tests", files{"A.java": "", "tests/ATest.java": "import org.junit.Test;"}, "java", "JUnit 4", []string{"tests/NameTest.java"}, nil, nil},
		{"CMake", files{"CMakeLists.txt": ""}, "cmake", "main returns 0", []string{"tests/name_test.cpp"}, nil, []string{"a.cpp", "tests/CMakeLists.txt"}},
		{"CMake with GoogleTest", files{"CMakeLists.txt": "", "tests/CMakeLists.txt": "find_package(GTest)"}, "cmake", "GoogleTest", []string{"tests/name_test.cpp"}, nil, nil},
		{"C", files{"a.c": "", "Makefile": ""}, "c++", `extern "C"`, []string{"tests/name_test.cpp"}, nil, []string{"tests/a_test.c"}},
		{"Rust", files{"Cargo.toml": "[package]", "src/lib.rs": ""}, "cargo test", "makes public", []string{"tests/name.rs"}, nil, []string{"src/a_test.rs", "tests/a/b.rs", "ftl_tests/tests/a.rs"}},
		{"a Rust workspace", files{"Cargo.toml": "[workspace]", "b/Cargo.toml": "[package]", "a/Cargo.toml": "[package]", "a/src/main.rs": ""}, "cargo test", "CARGO_BIN_EXE",
			[]string{"a/tests/name.rs", "b/tests/name.rs"}, nil, []string{"tests/a.rs", "c/tests/a.rs"}},
		{"a crate that finds no tests", files{"Cargo.toml": "[package]\nautotests = false", "src/lib.rs": ""}, "cargo test", "", []string{}, nil, []string{"tests/name.rs"}},
		{"the first of two", files{"go.mod": "", "web/package.json": "{}"}, "go test ./...", "", []string{"folder/of/the/package/name_test.go"}, nil, []string{"web/a.test.js"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			k, err := kitOf(t, row.tree)
			if err != nil {
				t.Fatal(err)
			}
			if k.Runner != row.runner || !strings.Contains(k.Style, row.style) || len(row.names) > 0 && !slices.Equal(k.Names, row.names) {
				t.Errorf("%q, %q, %q", k.Runner, k.Style, k.Names)
			}
			for _, file := range append(row.takes, row.names...) {
				if err := k.Check(file); err != nil {
					t.Error(err)
				}
			}
			for _, file := range row.stops {
				if k.Check(file) == nil {
					t.Errorf("takes %s", file)
				}
			}
		})
	}
	if k, err := kitOf(t, map[string]string{"README.md": ""}); err == nil {
		t.Errorf("%+v", k)
	}
}

// TestRuns: one run for each test file, with the files that tests use.
func TestRuns(t *testing.T) {
	k, err := kitOf(t, map[string]string{"go.mod": "", "sub/go.mod": ""})
	if err != nil {
		t.Fatal(err)
	}
	a, b, data := File{"sub/a_test.go", "package a\n\nfunc TestA(t *testing.T) {}\nfunc ExampleB() {}\nfunc helper() {}\n"}, File{"b_test.go", "package b\n"}, File{"ftl_tests/data.json", "{}"}
	var got [][]File
	for _, r := range k.Runs([]File{a, data, b}) {
		if r.Path != r.Files[0].Path || !strings.HasPrefix(r.Script, prelude) {
			t.Errorf("%+v", r)
		}
		got = append(got, r.Files)
	}
	if diff := cmp.Diff([][]File{{a, data}, {b, data}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := k.Runs([]File{a})[0].Script; !strings.Contains(s, "cd './sub'") || !strings.Contains(s, "'^(TestA|ExampleB)$' './'") {
		t.Error(s)
	}
}

// TestScriptsQuote: a script is one that a shell reads, and a path does nothing in
// it, whatever it is made of.
func TestScriptsQuote(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	for _, name := range []string{"python3", "uv", "node", "go", "mvn", "gradle", "javac", "java", "cmake", "c++", "cc", "cargo", "vitest", "jest", "mocha"} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\necho a tool ran\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const evil = `x'"; touch "$MARK"; $(touch "$MARK") -e #`
	for name, tree := range map[string]map[string]string{
		evil + "/tests/test_a.py":                          {evil + "/pyproject.toml": "pytest"},
		evil + "/app/tests/test_b.py":                      {evil + "/pyproject.toml": "", evil + "/uv.lock": "", evil + "/manage.py": "", evil + "/tests/test_old.py": ""},
		evil + "/a.test.js":                                {evil + "/package.json": `{}`},
		evil + "/b.test.ts":                                {evil + "/package.json": `{"devDependencies":{"vitest":"1","typescript":"5"}}`},
		evil + "/c.test.js":                                {evil + "/package.json": `{"devDependencies":{"jest":"1"}}`},
		evil + "/d.test.js":                                {evil + "/package.json": `{"devDependencies":{"mocha":"1"}}`},
		evil + "/a_test.go":                                {evil + "/go.mod": ""},
		evil + "/m/src/test/java/a/ATest.java":             {evil + "/pom.xml": "junit-jupiter", evil + "/m/pom.xml": ""},
		evil + "/m/src/test/java/a/BTest.java":             {evil + "/build.gradle": "junit-jupiter", evil + "/m/build.gradle": ""},
		evil + "/CTest.java":                               {"A.java": ""},
		evil + "/a_test.cpp":                               {evil + "/CMakeLists.txt": "gtest"},
		evil + "/b_test.cpp":                               {"a.cpp": ""},
		evil + "/tests/" + strings.Trim(evil, "/") + ".rs": {evil + "/Cargo.toml": "[package]"},
	} {
		k, err := kitOf(t, tree)
		if err != nil {
			t.Fatal(err)
		}
		runs := k.Runs([]File{{name, "package p;\nimport unittest # TestCase\nfunc TestA(t *testing.T)"}})
		if len(runs) != 1 {
			t.Fatalf("%s: %d runs", name, len(runs))
		}
		dir := t.TempDir()
		mark := filepath.Join(dir, "mark")
		err = errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700), os.Mkdir(filepath.Join(dir, "node_modules"), 0o700),
			os.Symlink(tools, filepath.Join(dir, "node_modules", ".bin")))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(shell, "-c", runs[0].Script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + tools + ":/usr/bin:/bin", "TMPDIR=" + dir, "MARK=" + mark}
		out, _ := cmd.CombinedOutput() // its exit code is the tool's
		if strings.Contains(strings.ToLower(string(out)), "syntax") || !strings.Contains(string(out), "a tool ran") {
			t.Errorf("%s:\n%s", name, out)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s does something:\n%s", name, runs[0].Script)
		}
	}
}

// FuzzRead: reports are bounded whatever is printed, of every format and of none.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/read/*.txtar", "testdata/own/*.txtar"} {
		for _, c := range allCaptured(f, pattern) {
			f.Add(c.format, c.out(), c.exit)
		}
	}
	f.Fuzz(func(t *testing.T, format string, out []byte, exit int) {
		r := Run{format: format}.Read(out, exit)
		bounded(t, r)
		own := ReadOwn(format, out, exit)
		bounded(t, own)
		for _, v := range append(Compare("p", r, own), Compare("p", own, r)...) {
			if !slices.Contains([]string{"passed", "failed", "invalid", "skipped"}, v.State) {
				t.Errorf("%+v", v)
			}
		}
		CompareOwn(r, own)
	})
}

func bounded(t *testing.T, r Report) {
	t.Helper()
	if (r.Missing == "") != (len(r.Cases) > 0) || len(r.Cases) > maxCases+1 || len(r.Missing) > maxName {
		t.Errorf("%d cases, missing %q", len(r.Cases), r.Missing)
	}
	for _, c := range r.Cases {
		valid := strings.ToValidUTF8(c.Name+c.Output, "") == c.Name+c.Output
		if len(c.Name) > maxName+len("…") || strings.ContainsAny(c.Name, "\n") || len(c.Output) > maxOutput || c.State == "" || !valid {
			t.Errorf("%+v", c)
		}
		if (c.State == Failed || c.State == Broken) && c.Output == "" {
			t.Errorf("%+v says nothing", c)
		}
	}
}
