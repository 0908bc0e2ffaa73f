package patch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ids are those of results, in order.
func ids(results []Result) []string {
	var all []string
	for _, r := range results {
		all = append(all, r.ID)
	}
	slices.Sort(all)
	return all
}

// refsOf are the names of refs that carry an ID, or point to a commit.
func (l *lab) refsOf(r Result) []string {
	l.t.Helper()
	all, err := l.repo.Refs(l.t.Context(), "refs/")
	l.must(err)
	var names []string
	for name, at := range all {
		if strings.HasSuffix(name, "/"+r.ID) || at == r.Commit {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestStanding: what waits for a decision is told from what does not, in all
// work trees.
func TestStanding(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	rejected := l.store(base, file("a", "1\n"))
	l.must(l.q.Reject(t.Context(), rejected.ID))
	applied := l.store(base, file("b", "2\n"))
	l.apply(applied.ID)
	undone := l.store(base, file("c", "3\n"))
	l.apply(undone.ID)
	l.undo()
	undecided := l.store(base, file("d", "4\n"))
	l.git("update-ref", "refs/ftl/results/qqqqqq", base.Commit.String())
	open, settled, err := l.q.Standing(t.Context())
	l.must(err)
	if d := cmp.Diff(ids([]Result{undecided}), ids(open)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(ids([]Result{rejected, applied, undone}), ids(settled)); d != "" {
		t.Error(d)
	}
	l.git("update-ref", "refs/ftl/pending", undone.Commit.String())
	if open, _, err = l.q.Standing(t.Context()); err != nil || !slices.Equal(ids(open), ids([]Result{undecided, undone})) {
		t.Errorf("undone and pending again: %v, %v", ids(open), err)
	}
}

// TestDrop: nothing is left of a result whose decision is old.
func TestDrop(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	other := l.store(base, file("z", "z\n"))
	l.must(l.q.Note(t.Context(), other.Commit, []byte("{}")))
	l.must(l.q.Reject(t.Context(), other.ID))
	r := l.store(base, file("a", "y\n"))
	l.must(l.q.Note(t.Context(), r.Commit, []byte("{}")))
	l.apply(r.ID)
	later := DropOptions{Before: time.Now().Add(time.Hour)}
	for _, tc := range []struct {
		name string
		o    DropOptions
		want error
	}{
		{"decided too lately", DropOptions{Before: time.Now().Add(-time.Hour)}, ErrKept},
		{"only to say so", DropOptions{Before: later.Before, DryRun: true}, nil},
	} {
		if n, err := l.q.Drop(t.Context(), r.ID, tc.o); !errors.Is(err, tc.want) || tc.want == nil && n == 0 {
			t.Errorf("%s: %d bytes, %v", tc.name, n, err)
		}
		if got := l.refsOf(r); len(got) != 3 {
			t.Errorf("%s: refs are %v", tc.name, got)
		}
	}
	n, err := l.q.Drop(t.Context(), r.ID, later)
	if err != nil || n == 0 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if got := l.refsOf(r); got != nil {
		t.Errorf("refs are left: %v", got)
	}
	if l.git("notes", "--ref=ftl", "list") == "" || strings.Contains(l.git("notes", "--ref=ftl", "list"), r.Commit.String()) {
		t.Errorf("notes are %q", l.git("notes", "--ref=ftl", "list"))
	}
	if _, err := l.q.Undo(t.Context(), UndoOptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("undo gives %v", err)
	}
	if _, err := l.q.Drop(t.Context(), other.ID, later); err != nil {
		t.Fatal(err)
	}
	if got := l.git("for-each-ref", "refs/ftl/", "refs/notes/"); got != "" {
		t.Errorf("left: %s", got)
	}
	left, err := filepath.Glob(l.repo.Path("*", "*"+r.ID+"*"))
	if err != nil || left != nil {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// TestDropKeeps: what waits for a decision, what is foreign, and what is half
// applied stays whatever its age.
func TestDropKeeps(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(l *lab, base Base) Result
	}{
		{"undecided", func(l *lab, base Base) Result { return l.store(base, file("a", "y\n")) }},
		{"undone and pending", func(l *lab, base Base) Result {
			r := l.store(base, file("a", "y\n"))
			l.must(l.q.Reject(l.t.Context(), r.ID))
			l.apply(r.ID)
			l.undo()
			return r
		}},
		{"foreign", func(l *lab, base Base) Result {
			l.git("update-ref", "refs/ftl/results/qqqq", base.Commit.String())
			return Result{ID: "qqqq", Commit: base.Commit}
		}},
		{"cut off", func(l *lab, base Base) Result {
			r := l.store(base, file("a", "y\n"))
			l.must(l.q.Reject(l.t.Context(), r.ID))
			l.q.hook = func(step string) error {
				if step == "finish" {
					return errors.New("killed")
				}
				return nil
			}
			if _, err := l.q.Apply(l.t.Context(), r.ID, ApplyOptions{Now: l.now()}); err == nil {
				l.t.Fatal("not cut off")
			}
			return r
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLab(t)
			l.write("a", "x\n")
			r := tc.make(l, l.snapshot())
			before := l.refsOf(r)
			if _, err := l.q.Drop(t.Context(), r.ID, DropOptions{Before: time.Now().Add(time.Hour)}); !errors.Is(err, ErrKept) {
				t.Errorf("got %v", err)
			}
			if d := cmp.Diff(before, l.refsOf(r)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestDropAfterKill: a kill in between leaves nothing foreign, and another Drop
// does the rest.
func TestDropAfterKill(t *testing.T) {
	for _, at := range []string{"dropped undo", "dropped refs"} {
		t.Run(at, func(t *testing.T) {
			l := newLab(t)
			l.write("a", "x\n")
			r := l.store(l.snapshot(), file("a", "y\n"))
			l.must(l.q.Note(t.Context(), r.Commit, []byte("{}")))
			l.apply(r.ID)
			killed := errors.New("killed")
			l.q.hook = func(step string) error {
				if step == at {
					return killed
				}
				return nil
			}
			o := DropOptions{Before: time.Now().Add(time.Hour)}
			if _, err := l.q.Drop(t.Context(), r.ID, o); !errors.Is(err, killed) {
				t.Fatal(err)
			}
			l.q.hook = func(string) error { return nil }
			all, err := l.q.List(t.Context())
			l.must(err)
			for _, r := range all {
				if r.State == Foreign {
					t.Errorf("%s is foreign", r.ID)
				}
			}
			if _, err := l.q.Drop(t.Context(), r.ID, o); err != nil {
				t.Fatal(err)
			}
			if got := l.git("for-each-ref", "refs/ftl/", "refs/notes/"); got != "" {
				t.Errorf("left: %s", got)
			}
			if _, err := os.Stat(l.repo.Path("results", r.ID+".json")); err == nil {
				t.Error("the record is left")
			}
		})
	}
}
