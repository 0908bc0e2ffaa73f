package patch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

// follow stores a follow-up of r: changes to the tree of on.
func (l *lab) follow(r Result, base Base, on plumbing.Hash, changes ...change) (Result, error) {
	l.t.Helper()
	c, err := l.objs.Commit(on)
	l.must(err)
	data := l.patch(Base{Commit: on, Tree: c.TreeHash}, changes...)
	p, err := parse(data)
	l.must(err)
	return l.q.Store(l.t.Context(), base, p, Meta{
		ID: r.ID, Task: "more", Agent: "claude-code", Subject: "More", When: time.Now(), On: on, Replaces: r.Commit,
	})
}

func (l *lab) mustFollow(r Result, base Base, on plumbing.Hash, changes ...change) Result {
	l.t.Helper()
	r, err := l.follow(r, base, on, changes...)
	l.must(err)
	return r
}

func (l *lab) gc() {
	l.t.Helper()
	l.git("gc", "-q", "--prune=now")
}

// A chain of three is one result of three commits, and stays whole under gc.
func TestChain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", lines(9, nil))
	l.write("b", "x\n")
	base := l.snapshot()
	first := l.store(base, file("a", lines(9, map[int]string{2: "two"})), file("new", "1\n"))
	l.gc()
	second := l.mustFollow(first, base, first.Commit, file("b", "y\n"), file("new", "1\n2\n"))
	l.gc()
	third := l.mustFollow(second, base, second.Commit, gone("new"))
	l.gc()

	want := []FileStat{{"a", Modified, 1, 1, false}, {"b", Modified, 1, 1, false}}
	if d := cmp.Diff(want, third.Files); d != "" {
		t.Error(d)
	}
	found, err := l.q.Find(t.Context(), first.ID)
	l.must(err)
	if d := cmp.Diff(third, found, cmp.Transformer("unix", time.Time.UnixNano)); d != "" {
		t.Error(d)
	}
	ref := "ftl/results/" + first.ID
	log := l.git("log", "-p", "--format=%s", "ftl/base.."+ref)
	if got := strings.Count(log, "More\n"); got != 2 || !strings.Contains(log, "+two") || !strings.Contains(log, "+2") {
		t.Errorf("log is\n%s", log)
	}
	for rev, want := range map[string]plumbing.Hash{ref: third.Commit, ref + "@{1}": second.Commit, ref + "@{2}": first.Commit, "ftl/pending": third.Commit, "ftl/base": base.Commit} {
		if got := l.git("rev-parse", rev); got != want.String() {
			t.Errorf("%s is %s, want %s", rev, got, want)
		}
	}
	if got := l.git("range-diff", "ftl/base", ref+"@{1}", ref); !strings.Contains(got, "-:  ------- > 3:") {
		t.Errorf("range-diff is %s", got)
	}
	l.git("fsck", "--strict", "--no-dangling")
	l.apply(first.ID)
	if l.read("b") != "y\n" || l.read("a") != lines(9, map[int]string{2: "two"}) {
		t.Errorf("got %v", l.disk())
	}
}

// Of two follow-ups of the same commit one is stored, and the other moves
// nothing.
func TestChainLosesNoCommit(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	base := l.snapshot()
	first := l.store(base, file("a", "2\n"))
	second := l.mustFollow(first, base, first.Commit, file("a", "3\n"))
	refs := l.git("for-each-ref")
	if _, err := l.follow(first, base, first.Commit, file("a", "4\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if now := l.git("for-each-ref"); now != refs {
		t.Errorf("refs moved:\n%s", now)
	}
	found, err := l.q.Find(t.Context(), first.ID)
	if err != nil || found.Commit != second.Commit || found.State != Undecided {
		t.Errorf("found %+v, %v", found, err)
	}
	stray := plumbing.NewHash(l.git("commit-tree", "-m", "elsewhere", base.Tree.String()))
	if _, err := l.follow(second, base, stray, file("a", "5\n")); err == nil {
		t.Error("a commit that is not upon the base was taken")
	}
	if _, err := l.q.Apply(t.Context(), first.ID, ApplyOptions{Now: l.now(), Seen: first.Commit}); !errors.Is(err, ErrChanged) {
		t.Errorf("an apply of the older commit: %v", err)
	}
}

// A crash between the move of the refs and that of the record loses nothing.
func TestChainSurvivesACrash(t *testing.T) {
	for _, moved := range []bool{false, true} {
		l := newLab(t)
		l.write("a", "1\n")
		base := l.snapshot()
		first := l.store(base, file("a", "2\n"))
		second := l.mustFollow(first, base, first.Commit, file("a", "3\n"))
		l.must(l.q.writeRecordAs(nextName(first.ID), second))
		l.must(l.q.writeRecord(first))
		want := second
		if !moved {
			l.git("update-ref", "refs/ftl/results/"+first.ID, first.Commit.String())
			want = first
		}
		for range 2 {
			found, err := l.q.Find(t.Context(), first.ID)
			if err != nil || found.Commit != want.Commit || found.State != Undecided {
				t.Errorf("moved %v: found %+v, %v", moved, found, err)
			}
		}
	}
}

// A follow-up in one work tree, stored while another work tree decides on the
// result, is neither lost nor foreign after it.
func TestDecisionBesideAFollowUpElsewhere(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	l.committed()
	dir := filepath.Join(t.TempDir(), "linked")
	l.git("worktree", "add", "-q", "--detach", dir)
	other := labAt(t, dir, false)
	base := l.snapshot()
	first := l.store(base, file("a", "2\n"))
	stored := make(chan error, 1)
	var second Result
	_, err := l.q.revise(t.Context(), first.ID, func(r *Result) error {
		go func() {
			var err error
			second, err = other.follow(first, base, first.Commit, file("a", "3\n"))
			stored <- err
		}()
		select {
		case err := <-stored:
			stored <- err
		case <-time.After(time.Second): // it waits, as it should
		}
		r.State, r.Decided = Rejected, time.Now()
		return nil
	})
	l.must(err)
	l.must(<-stored)
	found, err := l.q.Find(t.Context(), first.ID)
	l.must(err)
	if found.Commit != second.Commit || found.State != Undecided {
		t.Errorf("%s at %s, want %s", found.State, found.Commit, second.Commit)
	}
}

// Whoever looks while a record takes its place sees the result as it was or is,
// never as foreign, and is not in the way.
func TestLookBesideAFollowUp(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	base := l.snapshot()
	r := l.store(base, file("a", "2\n"))
	id, over := r.ID, make(chan struct{})
	var looks sync.WaitGroup
	looks.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			if found, err := l.q.Find(context.Background(), id); err != nil || found.State == Foreign {
				t.Errorf("found %+v, %v", found, err)
			}
		}
	})
	for n := range 30 {
		next, err := l.follow(r, base, r.Commit, file("a", fmt.Sprintf("%d\n", n+3)))
		if err != nil {
			t.Error(err)
			break
		}
		r = next
	}
	close(over)
	looks.Wait()
}

// What a follow-up's patch turns into something unsafe is refused, although it
// was an earlier one that brought it.
func TestChainPassesTheGateAsAWhole(t *testing.T) {
	l := newLab(t)
	l.write("in/deep/x", "x\n")
	base := l.snapshot()
	first := l.store(base, link("way", "in/deep/../../x"))
	_, err := l.follow(first, base, first.Commit, gone("in/deep/x"), link("in/deep", ".."))
	var unsafe *UnsafeError
	if !errors.As(err, &unsafe) || unsafe.Path != "way" || !strings.Contains(unsafe.Why, "leaves the tree") {
		t.Errorf("got %v", err)
	}
	l.mustFollow(first, base, first.Commit, link("in/other", ".."))
}

// A follow-up that takes everything back is stored, with no files.
func TestChainThatTakesAllBack(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	base := l.snapshot()
	first := l.store(base, file("a", "2\n"))
	second := l.mustFollow(first, base, first.Commit, file("a", "1\n"))
	if len(second.Files) != 0 || second.Tree != base.Tree || second.State != Undecided {
		t.Errorf("got %+v", second)
	}
	if done := l.apply(first.ID); done.Result.State != Whole || len(done.Files) != 0 {
		t.Errorf("got %+v", done)
	}
}

// A decided result that is followed up is undecided again; what was applied of it
// stays so.
func TestChainAfterADecision(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	l.write("b", "1\n")
	base := l.snapshot()
	r := l.store(base, file("a", "2\n"), file("b", "2\n"))
	l.must(l.q.Reject(t.Context(), r.ID))
	r = l.mustFollow(r, base, r.Commit, file("a", "3\n"))
	if r.State != Undecided || l.git("rev-parse", "ftl/pending") != r.Commit.String() {
		t.Errorf("after a reject: %+v", r)
	}
	done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Paths: []string{"a"}})
	l.must(err)
	r = l.mustFollow(done.Result, base, r.Commit, file("b", "3\n"))
	if r.State != Partial || r.Have != done.Result.Have || !cmp.Equal(r.Left, []string{"b"}) {
		t.Errorf("after a partial apply: %+v", r)
	}
	l.apply(r.ID)
	if l.read("b") != "3\n" || l.read("a") != "3\n" {
		t.Errorf("got %v", l.disk())
	}
	l.undo()
	if got := l.undo().Result; got.State != Undone || got.Have != base.Tree || l.read("a") != "1\n" {
		t.Errorf("after undo: %+v", got)
	}
}

// The rest of a partial result goes onto a newer snapshot, and the follow-up upon
// it is a change to that.
func TestRestOntoANewBase(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", lines(20, nil))
	l.write("b", "x\n")
	l.write(".env", "KEY=x\n")
	first := l.snapshot()
	r := l.store(first, file("a", lines(20, map[int]string{2: "agent", 18: "agent"})), file("b", "y\n"), executable("new", "n\n"))
	done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Paths: []string{"b"}})
	l.must(err)
	l.gc()
	l.write("a", lines(20, map[int]string{10: "mine"}))
	base := l.snapshot()
	on, err := l.q.Rest(t.Context(), done.Result, base)
	l.must(err)
	if got := l.git("show", on.String()+":a"); got+"\n" != lines(20, map[int]string{2: "agent", 10: "mine", 18: "agent"}) {
		t.Errorf("a is %s", got)
	}
	if got, want := l.git("log", "-1", "--format=%B%an %P", on.String()), l.git("log", "-1", "--format=%B%an", r.Commit.String())+" "+base.Commit.String(); got != want {
		t.Errorf("commit is\n%s\nwant\n%s", got, want)
	}
	next := l.mustFollow(done.Result, base, on, file("new", "more\n"))
	if next.Base != base.Commit || next.Have != base.Tree || next.State != Undecided {
		t.Errorf("got %+v", next)
	}
	l.gc()
	if got := l.git("rev-list", "--count", "ftl/base..ftl/results/"+r.ID); got != "2" {
		t.Errorf("%s commits", got)
	}
	if got := l.git("rev-parse", "ftl/results/"+r.ID+"@{1}"); got != r.Commit.String() {
		t.Errorf("@{1} is %s", got)
	}
	// The apply that went before is undone beside it; the new base stays.
	if got := l.undo().Result; got.State != Undecided || got.Have != base.Tree || l.read("b") != "x\n" {
		t.Errorf("after undo: %+v", got)
	}
	l.apply(r.ID)
	if got := l.disk()["new"]; !strings.HasPrefix(got, "-rw-r--r--") || l.read("a") != lines(20, map[int]string{2: "agent", 10: "mine", 18: "agent"}) {
		t.Errorf("got %v", l.disk())
	}
}

func TestRest(t *testing.T) {
	l := newLab(t)
	l.write("a", lines(20, nil))
	l.write("keep/env", "x\n")
	base := l.snapshot()
	r := l.store(base, file("a", lines(20, map[int]string{5: "agent"})))
	l.write("a", lines(20, map[int]string{5: "mine"}))
	onto := l.snapshot()
	var conflict *ConflictError
	if _, err := l.q.Rest(t.Context(), r, onto); !errors.As(err, &conflict) || !cmp.Equal(conflict.Paths, []Conflict{{Path: "a", Lines: "5", Why: "contents"}}) {
		t.Errorf("got %v", err)
	}
	// What the newer snapshot leaves out is not brought in by the merge.
	l.write("a", lines(20, map[int]string{15: "mine"}))
	l.must(os.RemoveAll(filepath.Dir(l.path("keep/env"))))
	onto = l.snapshot()
	onto.LeftOut = []string{"keep/"}
	on, err := l.q.Rest(t.Context(), r, onto)
	l.must(err)
	if got := l.git("ls-tree", "-r", "--name-only", on.String()); got != "a" {
		t.Errorf("tree has %s", got)
	}
	done := l.apply(r.ID)
	if on, err = l.q.Rest(t.Context(), done.Result, onto); on != onto.Commit || err != nil {
		t.Errorf("with nothing left: %s, %v", on, err)
	}
	here := l.snapshot()
	if on, err = l.q.Rest(t.Context(), r, here); on != here.Commit || err != nil {
		t.Errorf("where all is there: %s, %v", on, err)
	}
}

// A record of the time before Have is read.
func TestOldRecord(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	l.write("b", "1\n")
	base := l.snapshot()
	r := l.store(base, file("a", "2\n"), file("b", "2\n"))
	name := recordName(r.ID)
	data, err := l.repo.ReadState(name)
	l.must(err)
	old := strings.Replace(string(data), `"Have":"`+r.Have.String()+`"`, `"Taken":["YQ=="]`, 1)
	old = strings.Replace(old, `"undecided"`, `"partial"`, 1)
	l.must(l.repo.WriteState(name, []byte(old)))
	found, err := l.q.Find(t.Context(), r.ID)
	l.must(err)
	if got := l.git("show", found.Have.String()+":a") + l.git("show", found.Have.String()+":b"); got != "21" || !cmp.Equal(found.Left, []string{"b"}) {
		t.Errorf("have %q, left %v", got, found.Left)
	}
}
