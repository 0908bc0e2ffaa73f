package surface

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// TestCleanText holds the rules on characters and content against the sources of
// Go itself, as if all of it were new: what blocks there is a false alarm, but
// for the tests of such characters.
func TestCleanText(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	if testing.Short() {
		root = filepath.Join(root, "net")
	}
	rules, files := countText(t, root)
	for rule, n := range rules {
		t.Logf("%6d %s", n, rule)
	}
	if files == 0 {
		t.Fatal("no file was read")
	}
	for rule, n := range rules {
		if strings.HasSuffix(rule, " block") && n*1000 > files {
			t.Errorf("%s: %d hits in %d files", rule, n, files)
		}
	}
}

// countText returns how often each rule hits in the files of a tree, by severity.
func countText(t *testing.T, root string) (rules map[string]int, files int) {
	t.Helper()
	rules = map[string]int{}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		files++
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		d := doc.New(filepath.ToSlash(rel), git.Entry{}, git.Entry{Mode: filemode.Regular}, text, nil)
		for _, h := range Hits(d, Context{}) {
			rules[h.Rule+" "+string(h.Severity)]++
			if h.Severity == doc.Block {
				t.Logf("%s %s:%d %.80q", h.Rule, rel, d.Line(h.Start), d.Text[h.Start:h.End])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules, files
}
