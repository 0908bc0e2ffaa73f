package patch

import (
	"errors"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// part makes a part of r that has these files, as a part that no ref holds.
func (l *lab) part(r Result, files map[string]string) *Part {
	l.t.Helper()
	var changes []git.Change
	for p, content := range files {
		h, err := l.objs.WriteBlob([]byte(content))
		l.must(err)
		changes = append(changes, git.Change{Path: p, New: git.Entry{Mode: reg, Hash: h}})
	}
	tree, err := l.objs.Rewrite(r.Have, changes)
	l.must(err)
	return &Part{Have: r.Have, Tree: tree}
}

// What was applied survives gc, is what the next apply merges over, and undo goes
// back over it step by step.
func TestPartsMergeOverWhatWasApplied(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", lines(30, nil))
	base := l.snapshot()
	r := l.store(base, file("a", lines(30, map[int]string{2: "two", 15: "mid", 28: "end"})))
	first := l.disk()
	l.write("a", lines(30, map[int]string{8: "mine"}))
	edited := l.disk()

	take := func(want map[int]string, edits map[int]string) Applied {
		t.Helper()
		r, err := l.q.Find(t.Context(), r.ID)
		l.must(err)
		done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Part: l.part(r, map[string]string{"a": lines(30, edits)})})
		l.must(err)
		l.gc()
		if got := l.read("a"); got != lines(30, want) {
			t.Errorf("a is %q", got)
		}
		return done
	}
	done := take(map[int]string{2: "two", 8: "mine"}, map[int]string{2: "two"})
	if done.Result.State != Partial || !cmp.Equal(done.Left, []string{"a"}) {
		t.Errorf("got %+v", done)
	}
	// The user takes the first part back by hand and has the second one already:
	// neither comes again.
	l.write("a", lines(30, map[int]string{8: "mine", 15: "mid"}))
	done = take(map[int]string{8: "mine", 15: "mid"}, map[int]string{2: "two", 15: "mid"})
	if len(done.Files) != 0 || done.Result.State != Partial {
		t.Errorf("got %+v", done)
	}
	if _, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Part: &Part{Have: base.Tree, Tree: r.Tree}}); !errors.Is(err, ErrChanged) {
		t.Errorf("a part of what was left before: %v", err)
	}
	done = l.apply(r.ID)
	if done.Result.State != Whole || len(done.Left) != 0 || l.read("a") != lines(30, map[int]string{8: "mine", 15: "mid", 28: "end"}) {
		t.Errorf("got %+v %q", done, l.read("a"))
	}
	l.gc()
	if got := l.undo().Result; got.State != Partial || l.git("diff", "--name-only", got.Have.String(), got.Tree.String()) != "a" {
		t.Errorf("after undo: %+v", got)
	}
	l.write("a", lines(30, map[int]string{2: "two", 8: "mine"}))
	if got := l.undo().Result; got.State != Undone || got.Have != base.Tree {
		t.Errorf("after undo: %+v", got)
	}
	if l.read("a") != lines(30, map[int]string{8: "mine"}) {
		t.Errorf("a is %q, was %v of %v", l.read("a"), edited, first)
	}
	l.git("fsck", "--no-dangling")
}

// A tree that differs from the result is partial for as long as it does.
func TestPartBeyondTheResult(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	r := l.store(l.snapshot(), file("a", "2\n"))
	done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Part: l.part(r, map[string]string{"a": "2 but better\n"})})
	l.must(err)
	if done.Result.State != Partial || l.read("a") != "2 but better\n" {
		t.Errorf("got %+v", done)
	}
	done = l.apply(r.ID)
	if done.Result.State != Whole || l.read("a") != "2\n" {
		t.Errorf("got %+v", done)
	}
}

// A part passes the same gate as a whole result.
func TestPartPassesTheGate(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	r := l.store(l.snapshot(), file("a", "2\n"))
	h, err := l.objs.WriteBlob([]byte("../../etc/passwd"))
	l.must(err)
	tree, err := l.objs.Rewrite(r.Have, []git.Change{{Path: "way", New: git.Entry{Mode: symlink, Hash: h}}})
	l.must(err)
	var unsafe *UnsafeError
	if err := l.refused(r.ID, ApplyOptions{Now: l.now(), Part: &Part{Have: r.Have, Tree: tree}}); !errors.As(err, &unsafe) || unsafe.Path != "way" {
		t.Errorf("got %v", err)
	}
	if err := l.refused(r.ID, ApplyOptions{Now: l.now(), Part: &Part{Have: r.Have, Tree: plumbing.NewHash("1234")}}); err == nil {
		t.Error("a tree that is not there was taken")
	}
}

// A result whose Have was lost with its ref is listed all the same.
func TestListWithoutHave(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	r := l.store(l.snapshot(), file("a", "2\n"))
	_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Part: l.part(r, map[string]string{"a": "half\n"})})
	l.must(err)
	l.git("update-ref", "-d", "refs/ftl/applied/"+r.ID)
	l.gc()
	found, err := l.q.Find(t.Context(), r.ID)
	if err != nil || found.State != Partial || !cmp.Equal(found.Left, []string{"a"}) {
		t.Errorf("got %+v, %v", found, err)
	}
	l.write("a", "mine\n")
	_ = l.refused(r.ID, ApplyOptions{Now: l.now()})
}

// After a crash at any step, what counts as applied is what is on disk.
func TestCrashOfAPart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", lines(30, nil))
	r := l.store(l.snapshot(), file("a", lines(30, map[int]string{2: "two", 28: "end"})), file("b", "b\n"))
	before := l.read("a")
	half := lines(30, map[int]string{2: "two"})
	ways := map[State]int{}
	for n := 1; ; n++ {
		part := l.part(r, map[string]string{"a": half})
		now := l.now()
		l.crashAt(n)
		_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: now, Part: part})
		l.calm()
		if err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		_, again := l.q.Recover(t.Context())
		l.must(again)
		found, again := l.q.Find(t.Context(), r.ID)
		l.must(again)
		ways[found.State]++
		want, have := before, r.Have
		if found.State == Partial {
			want, have = half, part.Tree
		}
		if got := l.read("a"); got != want || found.Have != have {
			t.Fatalf("step %d: state %s, have %s, want %s, a is %q", n, found.State, found.Have, have, got)
		}
		if found.State == Partial {
			l.undo()
		}
		if err == nil {
			break
		}
	}
	if ways[Partial] < 2 || ways[Undecided]+ways[Undone] < 2 {
		t.Errorf("recovery went one way only: %v", ways)
	}
}

// What an undo of a part leaves applied survives gc, and the next undo goes on
// from there.
func TestUndoOfAPartSurvivesGC(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, p := range []string{"a", "b", "c"} {
		l.write(p, "1\n")
	}
	base := l.snapshot()
	r := l.store(base, file("a", "2\n"), file("b", "2\n"), file("c", "2\n"))
	l.apply(r.ID)
	undone, err := l.q.Undo(t.Context(), UndoOptions{Paths: []string{"b"}})
	l.must(err)
	if undone.Result.State != Partial || !cmp.Equal(undone.Left, []string{"b"}) {
		t.Errorf("got %+v", undone)
	}
	l.write("a", "mine\n")
	l.gc()
	found, err := l.q.Find(t.Context(), r.ID)
	if err != nil || !cmp.Equal(found.Left, []string{"b"}) {
		t.Errorf("got %+v, %v", found, err)
	}
	if done := l.apply(r.ID); done.Result.State != Whole || l.read("b") != "2\n" || l.read("a") != "mine\n" {
		t.Errorf("got %+v", done)
	}
	l.write("a", "2\n")
	l.undo()
	l.gc()
	if got := l.undo().Result; got.State != Undone || got.Have != base.Tree || l.read("a") != "1\n" {
		t.Errorf("after undo: %+v", got)
	}
}
