package danger

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

// allowed is how many findings 1,000 lines of code may give that nobody meant
// harm with.
const allowed = 0.2

// TestCleanCode holds the rules against the sources of Go itself and of the
// modules that this one is built from, as if all of it were new.
func TestCleanCode(t *testing.T) {
	std := goList(t, "env", "GOROOT")[0] + "/src"
	trees := map[string][]string{"net": {std + "/net"}}
	if !testing.Short() {
		trees = map[string][]string{"go": {std}, "modules": goList(t, "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all")}
	}
	for name, roots := range trees {
		t.Run(name, func(t *testing.T) {
			rules, n, lines := map[string]int{}, 0, 0
			for _, root := range roots {
				lines += countTree(t, root, rules)
			}
			for rule, of := range rules {
				n += of
				t.Logf("%6d %s", of, rule)
			}
			if lines == 0 {
				t.Fatal("no code was read")
			}
			share := float64(n) * 1000 / float64(lines)
			t.Logf("%d findings in %d lines: %.3f in 1,000", n, lines, share)
			if share > allowed {
				t.Errorf("%.3f findings in 1,000 lines, at most %.1f may be", share, allowed)
			}
		})
	}
}

// goList runs the go command and returns the lines that it prints.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// countTree adds how often each rule hits in a tree, and returns the lines of its
// code.
func countTree(t *testing.T, root string, rules map[string]int) (lines int) {
	t.Helper()
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil || language(p, text) == 0 {
			return err
		}
		lines += bytes.Count(text, []byte("\n"))
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		d := doc.New(filepath.ToSlash(rel), git.Entry{}, git.Entry{Mode: filemode.Regular}, text, nil)
		for _, h := range Hits(d, "") {
			rules[h.Rule]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
