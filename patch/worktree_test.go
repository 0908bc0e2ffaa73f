package patch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The result's own attributes name a filter of the user's, and the user has
// hooks: neither runs.
func TestCheckoutRunsNothing(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.committed()
	ran := filepath.Join(t.TempDir(), "ran")
	for _, kind := range []string{"smudge", "clean", "process"} {
		l.git("config", "filter.evil."+kind, "echo "+kind+" >> '"+ran+"'; cat")
	}
	l.git("config", "filter.evil.required", "true")
	l.hook("post-checkout", "echo hook >> '"+ran+"'\n")
	r := l.store(l.snapshot(), file(".gitattributes", "* filter=evil\ncrlf text eol=crlf -filter\n"), file("b/c", "new\n"), file("crlf", "y\n"), link("l", "b"))
	dir := filepath.Join(t.TempDir(), "some where", "wt")
	l.must(l.q.Checkout(t.Context(), r, dir))
	if _, err := os.Stat(ran); err == nil {
		t.Errorf("ran %s", readFile(t, ran))
	}
	if readFile(t, filepath.Join(dir, "b/c")) != "new\n" || readFile(t, filepath.Join(dir, "crlf")) != "y\r\n" {
		t.Error("wrong content")
	}
	for _, name := range []string{"smudge", "clean", "process", "required"} {
		l.git("config", "--unset", "filter.evil."+name)
	}
	if got := l.git("-C", dir, "--git-dir="+dir+"/.git", "--work-tree="+dir, "status", "--porcelain"); got != "" {
		t.Errorf("status:\n%s", got)
	}
	if got := l.git("-C", dir, "--git-dir="+dir+"/.git", "rev-parse", "HEAD"); got != r.Commit.String() {
		t.Errorf("HEAD is %s", got)
	}
	l.git("worktree", "remove", dir)
}

func TestCheckoutRefuses(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.committed()
	r := l.store(l.snapshot(), file("a", "y\n"))
	full := t.TempDir()
	l.must(os.WriteFile(filepath.Join(full, "f"), nil, 0o644))
	linked := filepath.Join(t.TempDir(), "link")
	l.must(os.Symlink(t.TempDir(), linked))
	for name, dir := range map[string]string{"full": full, "file": filepath.Join(full, "f"), "link": linked} {
		if err := l.q.Checkout(t.Context(), r, dir); !errors.Is(err, ErrOccupied) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	foreign := r
	foreign.State = Foreign
	if err := l.q.Checkout(t.Context(), foreign, filepath.Join(t.TempDir(), "wt")); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v", err)
	}
	if got := l.git("worktree", "list"); strings.Contains(got, "\n") {
		t.Errorf("left %s", got)
	}
}

func TestFailingCheckoutLeavesNothing(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.committed()
	r := l.store(l.snapshot(), file("a", "y\n"))
	empty := t.TempDir()
	for name, dir := range map[string]string{"new": filepath.Join(t.TempDir(), "wt"), "empty": empty} {
		ctx, cancel := context.WithCancel(t.Context())
		l.q.hook = func(step string) error {
			if step == "checkout" {
				cancel()
			}
			return nil
		}
		if err := l.q.Checkout(ctx, r, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
		left, err := os.ReadDir(dir)
		if name == "new" && err == nil || len(left) > 0 || name == "empty" && err != nil {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
		if got := l.git("worktree", "list"); strings.Contains(got, "\n") {
			t.Errorf("%s: left %s", name, got)
		}
	}
}
