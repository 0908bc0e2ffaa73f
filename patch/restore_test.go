package patch

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRestore: the work tree becomes what it was, and undo takes that back byte
// for byte.
func TestRestore(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "*.log\n")
	l.write("edited", "one\r\n")
	l.write("removed/deep/file", "gone soon\n")
	l.write("folder", "a file at first\n")
	l.write("tool", "#!/bin/sh\n")
	l.must(os.Chmod(l.path("tool"), 0o755))
	l.must(os.Symlink("/outside", l.path("link")))
	l.write("same", "same\n")
	snap := l.snapshot()
	then := l.disk()

	l.write("edited", "two\n")
	l.must(os.RemoveAll(l.path("removed")))
	l.must(os.Remove(l.path("folder")))
	l.write("folder/now", "a folder now\n")
	l.must(os.Chmod(l.path("tool"), 0o644))
	l.must(os.Remove(l.path("link")))
	l.write("new/untracked", "new\n")
	l.write("ignored.log", "log\n")
	before := l.disk()

	o := RestoreOptions{Now: l.now(), DryRun: true}
	dry, err := l.q.Restore(t.Context(), "pppp", snap, o)
	l.must(err)
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Errorf("a dry run wrote: %s", d)
	}
	o.DryRun = false
	done, err := l.q.Restore(t.Context(), "pppp", snap, o)
	l.must(err)
	if d := cmp.Diff(dry.Files, done.Files); d != "" {
		t.Errorf("the dry run said otherwise: %s", d)
	}
	then["ignored.log"] = before["ignored.log"]
	if d := cmp.Diff(untimed(then), untimed(l.disk())); d != "" {
		t.Errorf("restored: %s", d)
	}
	undone := l.undo()
	if undone.ID != "pppp" {
		t.Errorf("undone is %s", undone.ID)
	}
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Errorf("undone: %s", d)
	}
	if _, err := l.q.Undo(t.Context(), UndoOptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("a second undo gives %v", err)
	}
}

// TestRestoreLeavesAlone: what either side leaves out, what git ignores, and
// what was not asked for.
func TestRestoreLeavesAlone(t *testing.T) {
	l := newLab(t)
	l.write(".env", "then\n")
	l.write("cache", "then\n")
	l.write("a/x", "then\n")
	l.write("a/y", "then\n")
	l.write("b", "then\n")
	snap := l.snapshot()
	l.write(".gitignore", "cache\n.env\n")
	for _, p := range []string{".env", "cache", "a/x", "b", "secret.pem"} {
		l.write(p, "now\n")
	}
	before := l.disk()
	l.must(os.Remove(l.repo.Path("test-index"))) // it would go on to track what is ignored now
	now := l.now()
	now.LeftOut = []string{".env"}
	o := RestoreOptions{Now: now, LeftOut: []string{"secret.pem"}, Paths: []string{"nothing"}}
	if _, err := l.q.Restore(t.Context(), "pppp", snap, o); !errors.Is(err, ErrPaths) {
		t.Errorf("a path that is nowhere gives %v", err)
	}
	o.Paths = []string{"a", ".env", "cache", "secret.pem"}
	done, err := l.q.Restore(t.Context(), "pppp", snap, o)
	l.must(err)
	if d := cmp.Diff([]string{".env", "cache", "secret.pem"}, done.Left); d != "" {
		t.Error(d)
	}
	if l.read("a/x") != "then\n" || l.read("b") != "now\n" || l.read(".env") != "now\n" || l.read("cache") != "now\n" || l.read("secret.pem") != "now\n" {
		t.Errorf("got %v", l.disk())
	}
	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
}

// TestRestoreIsNoDecision: a result of the snapshot's ID is as before, and its
// own apply can still be undone below the restore.
func TestRestoreIsNoDecision(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	r := l.store(base, file("a", "y\n"))
	l.apply(r.ID)
	l.write("b", "later\n")
	if _, err := l.q.Restore(t.Context(), r.ID, base, RestoreOptions{Now: l.now()}); err != nil {
		t.Fatal(err)
	}
	if l.read("a") != "x\n" {
		t.Errorf("a is %q", l.read("a"))
	}
	state := func() State {
		found, err := l.q.Find(t.Context(), r.ID)
		l.must(err)
		return found.State
	}
	if got := state(); got != Whole {
		t.Errorf("restored: %s", got)
	}
	l.undo()
	if got := state(); got != Whole || l.read("a") != "y\n" || l.read("b") != "later\n" {
		t.Errorf("the restore undone: %s, %v", got, l.disk())
	}
	l.undo()
	if got := state(); got != Undone || l.read("a") != "x\n" {
		t.Errorf("the apply undone: %s, %v", got, l.disk())
	}
}

// untimed drops the times from what disk describes.
func untimed(disk map[string]string) map[string]string {
	all := map[string]string{}
	for p, s := range disk {
		f := strings.SplitN(s, " ", 3)
		all[p] = f[0] + " " + f[2]
	}
	return all
}
