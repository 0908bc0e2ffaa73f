package patch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUndoRefusesWhatWasEdited(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.write("b", "x\n")
	r := l.store(l.snapshot(), file("a", "y\n"), file("b", "y\n"), file("c", "y\n"))
	l.apply(r.ID)
	l.write("b", "edited\n")
	l.must(os.Remove(l.path("c")))
	before := l.disk()
	_, err := l.q.Undo(t.Context(), UndoOptions{})
	var edited *EditedError
	if !errors.As(err, &edited) || !slices.Equal(edited.Paths, []string{"b"}) {
		t.Fatalf("got %v", err)
	}
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
	l.write("b", "y\n")
	l.write("c", "y\n")
	l.undo()
	if l.read("a") != "x\n" || l.read("b") != "x\n" {
		t.Errorf("got %v", l.disk())
	}
}

func TestUndoRefusesWhatWasCommitted(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.write("z", "x\n")
	base := l.snapshot()
	l.git("update-ref", "refs/heads/main", base.Commit.String())
	l.git("read-tree", "HEAD")
	r := l.store(base, file("a", "y\n"), file("b", "y\n"), gone("z"))
	l.apply(r.ID)
	l.git("commit", "-q", "--allow-empty", "-m", "unrelated")
	if _, err := l.q.Undo(t.Context(), UndoOptions{DryRun: true}); err != nil {
		t.Fatalf("after an unrelated commit: %v", err)
	}
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "take it")
	take := l.git("rev-parse", "HEAD")
	l.write("other", "o\n")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "later")
	_, err := l.q.Undo(t.Context(), UndoOptions{})
	var committed *CommittedError
	if !errors.As(err, &committed) || committed.Commit.String() != take {
		t.Fatalf("got %v, want commit %s", err, take)
	}
	if l.read("a") != "y\n" {
		t.Error("undo wrote")
	}
}

// TestUndoTakesWhatIsBackAlready: files that the user has put back by other
// means are as undo would leave them.
func TestUndoTakesWhatIsBackAlready(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.write("b", "x\n")
	r := l.store(l.snapshot(), file("a", "y\n"), file("b", "y\n"), file("c", "y\n"))
	before := l.disk()
	l.apply(r.ID)
	l.write("b", "x\n")
	l.must(os.Remove(l.path("c")))
	l.undo()
	if l.read("a") != "x\n" || l.read("b") != "x\n" || len(l.disk()) != len(before) {
		t.Errorf("got %v", l.disk())
	}
	l.apply(r.ID)
	for p := range map[string]bool{"a": true, "b": true} {
		l.write(p, "x\n")
	}
	l.must(os.Remove(l.path("c")))
	l.undo()
	if found, err := l.q.Find(t.Context(), r.ID); err != nil || found.State != Undone {
		t.Errorf("state %s, %v", found.State, err)
	}
}

// TestUndoByID takes an older apply back while the newest one stays.
func TestUndoByID(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.write("b", "x\n")
	first := l.store(l.snapshot(), file("a", "y\n"))
	l.apply(first.ID)
	second := l.store(l.snapshot(), file("b", "y\n"))
	l.apply(second.ID)
	if _, err := l.q.Undo(t.Context(), UndoOptions{ID: first.ID}); err != nil {
		t.Fatal(err)
	}
	if l.read("a") != "x\n" || l.read("b") != "y\n" {
		t.Errorf("got %v", l.disk())
	}
	l.undo()
	if l.read("b") != "x\n" {
		t.Errorf("got %v", l.disk())
	}
}

func TestApplyInUnbornRepository(t *testing.T) {
	l := newLab(t)
	base := l.snapshot()
	r := l.store(base, file("a/b", "x\n"))
	l.apply(r.ID)
	if l.read("a/b") != "x\n" {
		t.Error("not written")
	}
	l.undo()
	if got := l.disk(); len(got) != 1 {
		t.Errorf("left %v", got)
	}
}

// A folder that apply made and into which the user put a file stays.
func TestUndoKeepsFoldersWithOtherFiles(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	r := l.store(l.snapshot(), file("new/x", "x\n"))
	l.apply(r.ID)
	l.write("new/mine", "m\n")
	l.undo()
	if l.read("new/mine") != "m\n" {
		t.Error("lost")
	}
	if _, err := os.Stat(l.path("new/x")); err == nil {
		t.Error("new/x is still there")
	}
}

// Many objects go into packs, and a work tree on another device is staged there.
func TestStageOnAnotherDevice(t *testing.T) {
	shm, err := os.MkdirTemp("/dev/shm", "ftl-test-")
	if err != nil {
		t.Skip("no second file system: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(shm) })
	l := newLab(t)
	l.write("a", "x\n")
	l.must(os.Chmod(l.path("a"), 0o640))
	base := l.snapshot()
	l.git("update-ref", "refs/heads/main", base.Commit.String())
	dir := filepath.Join(shm, "wt")
	l.git("worktree", "add", "-q", "--detach", dir, base.Commit.String())
	w := labAt(t, dir, false)
	before := w.disk()
	r := w.store(base, file("a", "y\n"), link("l", "a"), file("d/e", "y\n"))
	w.apply(r.ID)
	if w.read("a") != "y\n" || w.read("d/e") != "y\n" {
		t.Errorf("got %v", w.disk())
	}
	w.undo()
	if d := cmp.Diff(before, w.disk()); d != "" {
		t.Error(d)
	}
}

// A mount within the work tree cannot be renamed into; it works all the same.
func TestMountInTheWorkTree(t *testing.T) {
	l := newLab(t)
	l.write("m/a", "x\n")
	base := l.snapshot()
	if out, err := exec.Command("mount", "-t", "tmpfs", "tmpfs", l.path("m")).CombinedOutput(); err != nil {
		t.Skipf("cannot mount: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", l.path("m")).Run() })
	l.write("m/a", "x\n")
	before := dirless(l.disk())
	r := l.store(base, executable("m/a", "y\n"), link("m/l", "a"))
	l.apply(r.ID)
	if l.read("m/a") != "y\n" {
		t.Error("not written")
	}
	l.undo()
	if d := cmp.Diff(before, dirless(l.disk())); d != "" {
		t.Error(d)
	}
}
