package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errCrash = errors.New("crash")

// crashAt stops at the n-th step, and counts the steps that it saw.
func (l *lab) crashAt(n int) *int {
	seen := 0
	l.q.hook = func(string) error {
		if seen++; seen == n {
			return errCrash
		}
		return nil
	}
	return &seen
}

func (l *lab) calm() { l.q.hook = func(string) error { return nil } }

// stripped drops folders and times: content and modes of files decide whether a
// tree is the one before or the one after.
func stripped(all map[string]string) map[string]string {
	out := map[string]string{}
	for p, s := range all {
		part := strings.SplitN(s, " ", 3)
		if !strings.HasPrefix(part[0], "d") {
			out[p] = part[0] + " " + part[2]
		}
	}
	return out
}

// After a crash at any step, recovery leaves the tree before or
// after, never between, for apply and for undo.
func TestCrashAtAnyStep(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "x\n")
	l.write("run", "x\n")
	l.write("dir/one", "x\n")
	l.write("dir/two", "x\n")
	l.write("tofolder", "x\n")
	l.must(os.Symlink("a", l.path("kind")))
	base := l.snapshot()
	r := l.store(base, file("a", "y\n"), executable("run", "x\n"), gone("dir/one"), gone("dir/two"), file("dir", "f\n"),
		gone("tofolder"), file("tofolder/x", "x\n"), file("kind", "k\n"), link("new/link", "../a"))
	now := l.now()
	before := stripped(l.disk())
	l.apply(r.ID)
	after := stripped(l.disk())
	l.undo()

	apply := func() error {
		_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: now})
		return err
	}
	undo := func() error {
		_, err := l.q.Undo(t.Context(), UndoOptions{})
		return err
	}
	ways := map[bool]int{}
	for n := 1; ; n++ {
		l.crashAt(n)
		err := apply()
		l.calm()
		if err == nil {
			break
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("apply, step %d: %v", n, err)
		}
		done := l.settled(fmt.Sprintf("apply, step %d", n), before, after)
		ways[done]++
		if !done {
			l.must(apply())
		}
		l.must(undo())
		if d := cmp.Diff(before, stripped(l.disk())); d != "" {
			t.Fatalf("apply, step %d, undone:\n%s", n, d)
		}
	}
	l.must(undo())
	for n := 1; ; n++ {
		l.must(apply())
		l.crashAt(n)
		err := undo()
		l.calm()
		if err == nil {
			break
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("undo, step %d: %v", n, err)
		}
		if applied := l.settled(fmt.Sprintf("undo, step %d", n), before, after); applied {
			l.must(undo())
		}
	}
	if ways[true] == 0 || ways[false] == 0 {
		t.Errorf("recovery went one way only: %v", ways)
	}
}

// settled recovers and reports whether the tree is the one after.
func (l *lab) settled(where string, before, after map[string]string) bool {
	l.t.Helper()
	if _, err := l.q.Recover(context.Background()); err != nil {
		l.t.Fatalf("%s: recover: %v", where, err)
	}
	got := stripped(l.disk())
	isBefore, isAfter := cmp.Equal(before, got), cmp.Equal(after, got)
	if !isBefore && !isAfter {
		l.t.Fatalf("%s: between:\n%s", where, cmp.Diff(before, got))
	}
	if said, err := l.q.Recover(context.Background()); said != "" || err != nil {
		l.t.Fatalf("%s: recovered twice: %s %v", where, said, err)
	}
	if left, _ := filepath.Glob(filepath.Join(l.repo.State, "stage-*")); len(left) > 0 {
		l.t.Fatalf("%s: left %v", where, left)
	}
	return isAfter
}

// A crash within a rollback is rolled back as well.
func TestCrashWhileRollingBack(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		l := newLab(t)
		l.write("a", "x\n")
		l.write("b", "x\n")
		l.write("c/d", "x\n")
		r := l.store(l.snapshot(), file("a", "y\n"), file("b", "y\n"), gone("c/d"), file("e/f", "n\n"))
		before := stripped(l.disk())
		l.q.hook = func(step string) error {
			if step == "rename b" {
				return errCrash
			}
			return nil
		}
		if _, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()}); !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		// The staged content is lost: there is only the way back.
		stages, _ := filepath.Glob(filepath.Join(l.repo.State, "stage-*"))
		for _, s := range stages {
			l.must(os.RemoveAll(s))
		}
		l.crashAt(n)
		_, err := l.q.Recover(t.Context())
		l.calm()
		if d := cmp.Diff(before, stripped(l.disk())); err == nil && d != "" {
			t.Fatalf("not rolled back:\n%s", d)
		}
		if err == nil {
			if n < 4 {
				t.Errorf("the rollback had %d steps only", n)
			}
			return
		}
		if said, err := l.q.Recover(t.Context()); err != nil || !strings.HasPrefix(said, "took back") {
			t.Fatalf("step %d: %s %v", n, said, err)
		}
		if d := cmp.Diff(before, stripped(l.disk())); d != "" {
			t.Fatalf("step %d: not rolled back:\n%s", n, d)
		}
	}
}

// A file that is neither old nor new stops the recovery, which names it.
func TestRecoverStopsAtForeignFiles(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.write("b", "x\n")
	r := l.store(l.snapshot(), file("a", "y\n"), file("b", "y\n"))
	l.q.hook = func(step string) error {
		if step == "rename b" {
			return errCrash
		}
		return nil
	}
	_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()})
	if !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	l.calm()
	l.write("b", "foreign\n")
	before := l.disk()
	for range 2 {
		_, err = l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()})
		var stop *InterruptedError
		if !errors.As(err, &stop) || len(stop.Paths) != 1 || stop.Paths[0] != "b" {
			t.Fatalf("got %v", err)
		}
	}
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
	l.write("b", "x\n")
	if said, err := l.q.Recover(t.Context()); err != nil || !strings.HasPrefix(said, "finished") {
		t.Errorf("%s %v", said, err)
	}
	if l.read("a") != "y\n" || l.read("b") != "y\n" {
		t.Errorf("got %v", l.disk())
	}
}

// Once all is in place, later edits are no concern of the recovery.
func TestEditsAfterTheLastStepAreFine(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	r := l.store(l.snapshot(), file("a", "y\n"))
	l.q.hook = func(step string) error {
		if step == "finish" {
			return errCrash
		}
		return nil
	}
	if _, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()}); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	l.calm()
	l.write("a", "z\n")
	if said, err := l.q.Recover(t.Context()); err != nil || !strings.HasPrefix(said, "finished") {
		t.Errorf("%s %v", said, err)
	}
	if found, err := l.q.Find(t.Context(), r.ID); err != nil || found.State != Whole || l.read("a") != "z\n" {
		t.Errorf("got %v %v", found.State, err)
	}
}

// What a file holds that only its owner may read stays so in the object store.
func TestSavedBytesArePrivate(t *testing.T) {
	l := newLab(t)
	l.git("config", "core.autocrlf", "true")
	l.write("a", "secret\r\n")
	l.must(os.Chmod(l.path("a"), 0o600))
	r := l.store(l.snapshot(), file("a", "y\n"))
	l.apply(r.ID)
	var saved string
	for _, line := range strings.Split(l.git("ls-tree", "-r", "refs/ftl/applied/"+r.ID+"^2"), "\n") {
		saved = strings.Fields(line)[2]
	}
	raw := l.git("cat-file", "blob", saved)
	if raw != "secret\r" {
		t.Errorf("saved %q", raw)
	}
	fi, err := os.Stat(filepath.Join(l.repo.GitDir, "objects", saved[:2], saved[2:]))
	l.must(err)
	if fi.Mode().Perm()&0o077 != 0 {
		t.Errorf("object has mode %v", fi.Mode())
	}
	for _, name := range []string{"results/" + r.ID + ".json", "applied/main/1.json"} {
		fi, err := os.Stat(filepath.Join(l.repo.State, name))
		l.must(err)
		if fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, fi.Mode())
		}
	}
	if data := readFile(t, filepath.Join(l.repo.State, "applied/main/1.json")); bytes.Contains([]byte(data), []byte("secret")) {
		t.Error("the record holds content")
	}
}
