package llm

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
)

func TestWriteTests(t *testing.T) {
	files := func(all ...TestFile) turn { return says(t, map[string]any{"files": all}) }
	good := TestFile{"api/retry_test.go", "package api\n"}
	for _, row := range []struct {
		name  string
		turns []turn
		want  []TestFile
		err   string
		asked int
	}{
		{"good", []turn{files(good)}, []TestFile{good}, "", 1},
		{"a helper in its folder", []turn{files(good, TestFile{"ftl_tests/data.json", "{}"})}, []TestFile{good, {"ftl_tests/data.json", "{}"}}, "", 1},
		{"outside, then good", []turn{files(TestFile{"../x_test.go", ""}), files(good)}, []TestFile{good}, "", 2},
		{"outside twice", []turn{files(TestFile{"../x_test.go", ""})}, nil, `".." is not allowed`, 2},
		{"no test", []turn{files(TestFile{"main.go", ""})}, nil, "no test of go is named so", 2},
		{"where no runner looks, then good", []turn{files(TestFile{"web/a_test.go", ""}), files(good)}, []TestFile{good}, "", 2},
		{"there already", []turn{files(TestFile{"api/old_test.go", ""})}, nil, "already", 2},
		{"twice", []turn{files(good, TestFile{"api/Retry_test.go", ""})}, nil, "twice", 2},
		{"none", []turn{files()}, nil, "no JSON", 2},
		{"NUL", []turn{files(TestFile{"a_test.go", "\x00"})}, nil, "NUL", 2},
		{"too large", []turn{files(TestFile{"a_test.go", strings.Repeat("x", maxTestFile+1)})}, nil, "more than 65536", 2},
		{"too large together", []turn{files(TestFile{"a_test.go", strings.Repeat("x", maxTestFile)}, TestFile{"b_test.go", strings.Repeat("x", maxTestFile)},
			TestFile{"c_test.go", strings.Repeat("x", maxTestFile)}, TestFile{"d_test.go", strings.Repeat("x", maxTestFile)}, TestFile{"e_test.go", "x"})}, nil, "together", 2},
		{"down", []turn{limited()}, nil, "slow down", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m, canned := newModel(t, row.turns...)
			got, reply, err := m.WriteTests(t.Context(), TestInput{Task: "x", Language: "Go",
				Exists: func(p string) bool { return p == "api/old_test.go" },
				Check: func(p string) error {
					if path.Dir(p) == "web" {
						return errors.New("no runner looks there")
					}
					return nil
				}})
			if (err == nil) != (row.err == "") || err != nil && row.name != "none" && !strings.Contains(err.Error(), row.err) {
				t.Errorf("got %v, want %q", err, row.err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
			if n := len(canned.Asked()); n != row.asked || reply.Prompt != "tests/2" {
				t.Errorf("asked %d times by %q", n, reply.Prompt)
			}
			var e *chat.Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%v is no *chat.Error", err)
			}
		})
	}
	m, canned := newModel(t, files(good))
	if _, _, err := m.WriteTests(t.Context(), TestInput{Language: "COBOL"}); err == nil || len(canned.Asked()) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestTestPaths(t *testing.T) {
	for name, row := range map[string]struct{ good, bad []string }{
		"Python": {
			[]string{"test_a.py", "tests/test_a.py", "pkg/a_test.py", "ftl_tests/__init__.py"},
			[]string{"a.py", "tests/conftest.py", "ftl_tests/conftest.py", "test_.py", "tests/helper.py", "test_a.txt", "sitecustomize.py", "ftl_tests/x.pth"},
		},
		"typescript": {
			[]string{"a.test.ts", "src/__tests__/a.spec.tsx", "app/[id]/(x)/page.test.mts"},
			[]string{"a.ts", "test/a.ts", "jest.config.js", "ftl_tests/vitest.config.ts", "ftl_tests/package.json"},
		},
		"js":   {[]string{"a.test.js", "a.spec.cjs"}, []string{"a.js", ".test.js"}},
		"go":   {[]string{"a_test.go", "x/y/a_test.go"}, []string{"a.go", "_a_test.go", "_test.go"}},
		"JAVA": {[]string{"src/test/java/a/BTest.java", "a/TestB.java", "a/BTests.java", "a/BIT.java"}, []string{"a/B.java", "a/Tested.jav"}},
		"c++":  {[]string{"tests/a_test.cpp", "test_a.cc", "a_unittest.cc"}, []string{"a.cpp", "CMakeLists.txt"}},
		"rust": {[]string{"tests/a.rs", "crates/x/tests/a.rs"}, []string{"src/a.rs", "src/a_test.rs", "tests/sub/a.rs", "build.rs", "tests/a.toml", "ftl_tests/build.rs", "ftl_tests/sub/build.rs"}},
	} {
		l, spoken, err := speak(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(row.good, spoken.example) {
			if err := checkPath(l, p); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		hostile := []string{
			"", ".", "..", "/a_test.go", "../a_test.go", "a/../b_test.go", "./a_test.go", "a//b_test.go", "a/", ".git/a_test.go", ".GIT/a_test.go", "git~1/a_test.go", ".git ./a_test.go",
			".github/workflows/a_test.go", "a\\b_test.go", "C:a_test.go", "con/a_test.go", "aux.test.js", "nul_/../x", "a\x00_test.go", "a\n_test.go", "a\u202e_test.go", "é_test.go", "a b_test.go",
			"$(id)_test.go", "-rf_test.go", "ftl_tests", "ftl_tests/", "ftl_tests/../a", "ftl_tests/.env", "x/ftl_tests/a.sh", "a./b_test.go", strings.Repeat("a", 200) + "_test.go",
		}
		for _, p := range append(row.bad, hostile...) {
			if checkPath(l, p) == nil {
				t.Errorf("%s takes %q", name, p)
			}
		}
	}
}

// FuzzTestPath: what is taken stays inside, is no setting, and is one file on every
// system.
func FuzzTestPath(f *testing.F) {
	for _, seed := range []string{"a_test.go", "../a_test.go", ".git/x_test.go", "ftl_tests/a", "tests/a.rs", "COM1.test.js"} {
		f.Add(byte(0), seed)
		f.Add(byte(4), seed)
	}
	names := []string{"python", "typescript", "javascript", "go", "java", "c++", "rust"}
	f.Fuzz(func(t *testing.T, which byte, p string) {
		l, _, err := speak(names[int(which)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		if checkPath(l, p) != nil {
			return
		}
		if !fs.ValidPath(p) || p == "." || strings.ContainsAny(p, "\\:*?\"<>|~\x00\n\r\t ") {
			t.Errorf("takes %q", p)
		}
		for e := range strings.SplitSeq(p, "/") {
			if e[0] == '.' || e[0] == '-' || strings.HasSuffix(e, ".") || strings.EqualFold(strings.TrimSuffix(e, path.Ext(e)), "con") {
				t.Errorf("takes %q", p)
			}
		}
	})
}
