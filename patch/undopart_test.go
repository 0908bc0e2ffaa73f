package patch

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (l *lab) undoWith(o UndoOptions) Applied {
	l.t.Helper()
	done, err := l.q.Undo(l.t.Context(), o)
	l.must(err)
	return done
}

func TestUndoOfPathsLeavesTheRestUndoable(t *testing.T) {
	l := newLab(t)
	l.write("d/a", "x\n")
	l.write("d/b", "x\n")
	l.write("c", "x\n")
	r := l.store(l.snapshot(), file("d/a", "y\n"), file("d/b", "y\n"), file("d/new", "y\n"), file("c", "y\n"))
	before := l.disk()
	l.apply(r.ID)
	l.write("c", "edited\n") // no matter for the others
	part := l.undoWith(UndoOptions{Paths: []string{"d/a", "d/new"}})
	if part.Result.State != Partial || !slices.Equal(part.Left, []string{"d/a", "d/new"}) || len(part.Files) != 2 {
		t.Errorf("got %+v", part)
	}
	if l.read("d/a") != "x\n" || l.read("d/b") != "y\n" || l.read("c") != "edited\n" {
		t.Errorf("got %v", l.disk())
	}
	l.write("c", "y\n")
	l.apply(r.ID)
	if l.read("d/a") != "y\n" {
		t.Error("what was given back was not applied again")
	}
	l.undo()
	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
	if found, err := l.q.Find(t.Context(), r.ID); err != nil || found.State != Undone {
		t.Errorf("state %s %v", found.State, err)
	}
	if _, err := l.q.Undo(t.Context(), UndoOptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("got %v", err)
	}
}

func TestUndoOfPathsThatNameNothing(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	r := l.store(l.snapshot(), file("a", "y\n"))
	l.apply(r.ID)
	if _, err := l.q.Undo(t.Context(), UndoOptions{Paths: []string{"b"}}); !errors.Is(err, ErrPaths) {
		t.Errorf("got %v", err)
	}
	if l.read("a") != "y\n" {
		t.Error("undo wrote")
	}
}

// The times of folders come back with the last part.
func TestUndoInPartsIsByteExact(t *testing.T) {
	l, r := stagedLab(t)
	before, index := l.disk(), l.entries()
	l.applyWith(r.ID, ApplyOptions{Index: true})
	for _, p := range []string{"added", "f", "new"} {
		l.undoWith(UndoOptions{Paths: []string{p}})
	}
	l.undo()
	if d := cmp.Diff(before, l.disk()) + cmp.Diff(index, l.entries()); d != "" {
		t.Error(d)
	}
}

func TestUndoMergesWithEdits(t *testing.T) {
	l := newLab(t)
	l.git("config", "core.autocrlf", "true")
	crlf := func(changed map[int]string) string {
		out := ""
		for _, c := range numbered(changed) {
			if c == '\n' {
				out += "\r"
			}
			out += string(c)
		}
		return out
	}
	l.write("f", crlf(nil))
	l.write("clash", "a\nb\nc\n")
	l.write("bin", "x\x00")
	l.write("plain", "x\n")
	l.write("del", "x\n")
	r := l.store(l.snapshot(), file("f", numbered(map[int]string{25: "agent"})), file("clash", "a\nits\nc\n"),
		file("bin", "y\x00"), file("plain", "y\n"), file("del", "y\n"), file("added", "y\n"))
	l.apply(r.ID)
	l.git("gc", "-q", "--prune=now")
	if l.read("f") != crlf(map[int]string{25: "agent"}) {
		t.Fatalf("got %q", l.read("f"))
	}
	l.write("f", crlf(map[int]string{5: "mine", 25: "agent"}))
	l.write("clash", "a\nits and mine\nc\n")
	l.write("bin", "z\x00")
	l.write("added", "mine\n")
	l.must(os.Remove(l.path("del")))
	done := l.undoWith(UndoOptions{Merge: true})
	want := []Conflict{
		{Path: "added", Why: "edited since, and not a file before and after; left alone"},
		{Path: "bin", Why: "edited since, and binary; left alone"},
		{Path: "clash", Why: "contents", Lines: "2-6"},
		{Path: "del", Why: "edited since, and not a file before and after; left alone"},
	}
	if d := cmp.Diff(want, done.Conflicts); d != "" {
		t.Error(d)
	}
	for p, content := range map[string]string{
		"f": crlf(map[int]string{5: "mine"}), "plain": "x\n", "bin": "z\x00", "added": "mine\n",
		"clash": "a\n<<<<<<< working tree\nits and mine\n=======\nb\n>>>>>>> before " + r.ID + "\nc\n",
	} {
		if l.read(p) != content {
			t.Errorf("%s has %q", p, l.read(p))
		}
	}
	if _, err := os.Stat(l.path("del")); err == nil {
		t.Error("a deleted file came back")
	}
	if done.Result.State != Partial || !slices.Equal(done.Left, []string{"clash", "f", "plain"}) {
		t.Errorf("state %s, left %v", done.Result.State, done.Left)
	}
	// What was left alone can still be undone.
	l.write("bin", "y\x00")
	l.write("added", "y\r\n")
	l.write("del", "y\r\n")
	l.undo()
	if l.read("bin") != "x\x00" || l.read("del") != "x\n" {
		t.Errorf("got %v", l.disk())
	}
}

// A rollback of an undo restores times as well.
func TestFailedUndoKeepsTimes(t *testing.T) {
	l := newLab(t)
	l.write("d/a", "x\n")
	l.write("d/b", "x\n")
	r := l.store(l.snapshot(), file("d/a", "y\n"), file("d/b", "y\n"), file("new/c", "y\n"))
	l.apply(r.ID)
	before := l.disk()
	// Not a crash: an error in the middle, which is taken back at once.
	l.q.hook = func(step string) error {
		if step == "rename d/a" {
			l.write("d/b", "edited\n")
		}
		return nil
	}
	_, err := l.q.Undo(t.Context(), UndoOptions{})
	l.calm()
	var conflict *ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v", err)
	}
	after := l.disk()
	for _, p := range []string{"d/a", "d", "new", "new/c", "."} {
		if before[p] != after[p] {
			t.Errorf("%s was %s, is %s", p, before[p], after[p])
		}
	}
}

func TestFilesInPlaceOfLinks(t *testing.T) {
	l := newLab(t)
	l.git("config", "core.symlinks", "false")
	l.must(os.Symlink("old", l.path("l")))
	l.git("-c", "core.symlinks=true", "add", "l")
	l.must(os.Remove(l.path("l")))
	l.write("l", "old")
	l.write("f", "x\n")
	l.git("add", "f")
	tree := l.git("write-tree")
	commit := l.git("commit-tree", "-m", "base", tree)
	l.git("update-ref", "HEAD", commit)
	base := Base{Commit: hashOf(commit), Tree: hashOf(tree)}
	r := l.store(base, link("l", "new"), link("n", "f"), file("f", "y\n"))
	before := l.disk()
	done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: Current{Tree: base.Tree, Head: base.Commit}, Index: true})
	l.must(err)
	for _, p := range []string{"l", "n"} {
		fi, err := os.Lstat(l.path(p))
		l.must(err)
		if !fi.Mode().IsRegular() {
			t.Errorf("%s is %v", p, fi.Mode())
		}
	}
	if l.read("l") != "new" || l.read("n") != "f" || len(done.Files) != 3 {
		t.Errorf("got %v", l.disk())
	}
	if got := l.git("status", "--porcelain"); got != "M  f\nM  l\nA  n" {
		t.Errorf("status:\n%s", got)
	}
	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
}
