package patch

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// world is everything that an apply may touch: files, index and HEAD.
func (l *lab) world() map[string]string {
	l.t.Helper()
	all := stripped(l.disk())
	all["the index"] = l.git("ls-files", "-s", "-v")
	all["HEAD"] = l.git("log", "-1", "--format=%T %P %s")
	return all
}

// After a crash at any step of an apply that writes index, HEAD or markers,
// recovery leaves all as before or all as after.
func TestCrashBeyondFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		o    ApplyOptions
		back func(l *lab) // to before a whole apply
	}{
		{"index", ApplyOptions{Index: true}, func(l *lab) { l.undo() }},
		{"commit", ApplyOptions{Commit: &CommitOptions{Message: "m"}}, func(l *lab) {
			l.git("reset", "-q", "--soft", "HEAD^")
			l.undo()
		}},
		{"hooks", ApplyOptions{Commit: &CommitOptions{Message: "m", Hooks: true}}, func(l *lab) {
			l.git("reset", "-q", "--soft", "HEAD^")
			l.undo()
		}},
		{"markers", ApplyOptions{Merge: true}, func(l *lab) { l.undo() }},
		{"beside", ApplyOptions{Index: true, Beside: []NewFile{{"d/new_test", []byte("test")}, {"tests/t", nil}}}, func(l *lab) { l.undo() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.write("f", numbered(nil))
			l.write("gone", "x\n")
			l.committed()
			base := l.snapshot()
			l.hook("commit-msg", "exit 0\n")
			r := l.store(base, file("f", numbered(map[int]string{25: "agent"})), gone("gone"), file("d/new", "agent\n"))
			l.write("f", numbered(map[int]string{5: "staged"}))
			l.git("add", "f")
			if c.o.Merge {
				l.write("f", numbered(map[int]string{25: "mine"}))
			}
			l.crashEverywhere(r, c.o, c.back)
		})
	}
}

func (l *lab) crashEverywhere(r Result, o ApplyOptions, back func(*lab)) {
	l.t.Helper()
	o.Now = l.now()
	apply := func() error {
		_, err := l.q.Apply(l.t.Context(), r.ID, o)
		return err
	}
	before := l.world()
	l.must(apply())
	after := l.world()
	back(l)
	if d := cmp.Diff(before, l.world()); d != "" {
		l.t.Fatal(d)
	}
	ways := map[bool]int{}
	for n := 1; ; n++ {
		l.crashAt(n)
		err := apply()
		l.calm()
		if err == nil {
			break
		}
		where := fmt.Sprintf("apply, step %d", n)
		if !errors.Is(err, errCrash) {
			l.t.Fatalf("%s: %v", where, err)
		}
		done := l.settledWorld(where, before, after)
		ways[done]++
		if done {
			back(l)
		}
	}
	if ways[true] == 0 || ways[false] == 0 {
		l.t.Errorf("recovery went one way only: %v", ways)
	}
	if o.Commit == nil {
		l.crashUndo(apply, before, after)
	}
}

// crashUndo begins where all is applied.
func (l *lab) crashUndo(apply func() error, before, after map[string]string) {
	l.t.Helper()
	for n := 1; ; n++ {
		l.crashAt(n)
		_, err := l.q.Undo(l.t.Context(), UndoOptions{})
		l.calm()
		if err == nil {
			return
		}
		where := fmt.Sprintf("undo, step %d", n)
		if !errors.Is(err, errCrash) {
			l.t.Fatalf("%s: %v", where, err)
		}
		if !l.settledWorld(where, before, after) {
			l.must(apply())
		}
	}
}

func (l *lab) settledWorld(where string, before, after map[string]string) (isAfter bool) {
	l.t.Helper()
	if _, err := l.q.Recover(l.t.Context()); err != nil {
		l.t.Fatalf("%s: recover: %v", where, err)
	}
	got := l.world()
	isBefore, isAfter := cmp.Equal(before, got), cmp.Equal(after, got)
	if !isBefore && !isAfter {
		l.t.Fatalf("%s: between:\n%s", where, cmp.Diff(before, got))
	}
	return isAfter
}

// After a crash in an undo of a part, the part is undone or not.
func TestCrashInUndoOfAPart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "x\n")
	l.write("b", "x\n")
	l.committed()
	r := l.store(l.snapshot(), file("a", "y\n"), file("b", "y\n"), file("d/c", "y\n"))
	o := ApplyOptions{Index: true, Now: l.now()}
	whole := l.world()
	for n := 1; ; n++ {
		_, err := l.q.Apply(t.Context(), r.ID, o)
		l.must(err)
		after := l.world()
		l.crashAt(n)
		_, err = l.q.Undo(t.Context(), UndoOptions{Paths: []string{"a", "d"}})
		l.calm()
		if _, err := l.q.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := l.world()
		part := l.read("a") == "x\n" && l.read("b") == "y\n"
		if _, gone := os.Stat(l.path("d/c")); part == (gone == nil) || !part && !cmp.Equal(after, got) {
			t.Fatalf("step %d: between:\n%s", n, cmp.Diff(after, got))
		}
		l.undo()
		if d := cmp.Diff(whole, l.world()); d != "" {
			t.Fatalf("step %d: the rest was not undone:\n%s", n, d)
		}
		if err == nil {
			return
		}
	}
}
