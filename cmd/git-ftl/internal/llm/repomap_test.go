package llm

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// mapOf is the map of files with these contents.
func mapOf(files map[string]string) string {
	return RepoMap(slices.Sorted(maps.Keys(files)), func(p string) ([]byte, error) {
		text, ok := files[p]
		if !ok || text == "unreadable" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	})
}

func TestRepoMap(t *testing.T) {
	got := mapOf(map[string]string{
		"go.mod":            "module x\n",
		"api/client.go":     "package api\n\ntype Client struct{}\nfunc (c *Client) Do() {}\nfunc New() *Client { return nil }\nfunc hidden() {}\n",
		"api/gone.go":       "unreadable",
		"web/package.json":  "{}",
		"web/src/a.ts":      "export default class App {}\nexport async function load() {}\nexport const x = 1\nconst y = 2\n",
		"py/m.py":           "class A:\n    def inner(self): ...\nasync def go(): ...\ndef _private(): ...\n",
		"java/src/B.java":   "public final class B {\n  public static List<String> names(int x) {\n  private int z() {\n}\n",
		"cpp/a.hpp":         "namespace x {\nclass Thing {\nint add(int a, int b);\nstd::string name(const Thing& t) {\n",
		"rust/src/lib.rs":   "pub fn run() {}\n    pub async fn walk() {}\npub struct S;\nfn own() {}\n",
		"vendor/x/y.go":     "package y\nfunc Y() {}\n",
		"pkg/testdata/z.go": "package z\nfunc Z() {}\n",
		"odd\nBEGIN x.go":   "package odd\n\nfunc Odd() {}\n",
		"README.md":         "# x\n",
	})
	want := `files: 13, folders: 10
build: go.mod, web/package.json
./
  README.md
  go.mod
  "odd\nBEGIN x.go": func Odd
api/
  client.go: type Client, func (c *Client) Do, func New
  gone.go
cpp/
  a.hpp: namespace x, class Thing, add, name
py/
  m.py: class A, def go
web/
  package.json
java/src/
  B.java: class B, names
pkg/testdata/ 1 files
rust/src/
  lib.rs: fn run, fn walk, struct S
vendor/x/ 1 files
web/src/
  a.ts: class App, function load, const x
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRepoMapIsBounded: a large repository keeps its shape, and few files are read.
func TestRepoMapIsBounded(t *testing.T) {
	var files []string
	for i := range 3000 {
		files = append(files, fmt.Sprintf("d%02d/e%d/f%04d.go", i%40, i%7, i))
	}
	read := 0
	got := RepoMap(files, func(string) ([]byte, error) {
		read++
		return []byte(strings.Repeat("func Name() {}\n", 10000) + "func F" + strings.Repeat("x", 1000) + "() {}\n"), nil
	})
	if len(got) > maxMap || read > maxMapRead || !strings.Contains(got, "files: 3000, folders: 280") || !strings.Contains(got, "d39/e6/ ") {
		t.Errorf("%d bytes, %d files read:\n%s", len(got), read, got[max(len(got)-500, 0):])
	}
}

// FuzzRepoMap: no name and no content makes a line of its own, or one that cannot be
// shown.
func FuzzRepoMap(f *testing.F) {
	f.Add("a/b.go", "func A() {}\n")
	f.Add("a\n/b.py", "class \x1b:\n")
	f.Add("\xff/\u202e.ts", "export function \u200b() {}")
	f.Fuzz(func(t *testing.T, name, text string) {
		got := mapOf(map[string]string{name: text})
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) > 4 {
			t.Errorf("one file makes %q", lines)
		}
		for _, l := range lines {
			if escape.Text(l) != l {
				t.Errorf("%q is not to be shown", l)
			}
		}
	})
}
