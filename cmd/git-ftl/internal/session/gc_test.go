package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
)

const month = 41 * 24 * time.Hour

// TestCollect: after a retention what was decided on or left nothing is gone with
// all that carries its name; the rest is as before.
func TestCollect(t *testing.T) {
	var ahead time.Duration
	s := houseSession(t, &ahead)
	task(t, s, "kkkkpplp", "1")
	apply(t, s, "kkkkpplp")
	task(t, s, "rrrr", "2")
	if err := s.Queue.Reject(t.Context(), "rrrr"); err != nil {
		t.Fatal(err)
	}
	task(t, s, "uuuu", "3")
	task(t, s, "zzzz", "")
	task(t, s, "vvvv", "")
	if err := s.Repo.WriteState("running/vvvv", nil); err != nil {
		t.Fatal(err)
	}
	task(t, s, "wwww", "")
	unlock, _, err := s.Repo.TryLock("task-wwww")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	runGit(t, s, "update-ref", "refs/ftl/results/qqqq", "HEAD")
	runGit(t, s, "update-ref", "refs/ftl/snapshots/qqqq", "HEAD")
	runGit(t, s, "update-ref", "refs/ftl/snapshots/tttt", "refs/ftl/snapshots/zzzz")

	fresh, err := s.Collect(t.Context(), false)
	if err != nil || len(fresh.Removed)+len(fresh.Waiting) != 0 {
		t.Errorf("at once: %v, %v", fresh, err)
	}
	ahead = month
	before := runGit(t, s, "for-each-ref")
	files := state(t, s)
	dry, err := s.Collect(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, runGit(t, s, "for-each-ref")); d != "" {
		t.Errorf("a dry run moved refs: %s", d)
	}
	if d := cmp.Diff(files, state(t, s)); d != "" {
		t.Errorf("a dry run removed files: %s", d)
	}
	done, err := s.Collect(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{
		"result kkkkpplp: applied 41 days ago", "result rrrr: rejected 41 days ago",
		"snapshot tttt: no task knows it, taken 41 days ago", "task zzzz: empty 41 days ago",
	}, lines(done.Removed)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"result uuuu: is undecided for 41 days"}, lines(done.Waiting)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(dry.Removed, done.Removed); d != "" || done.Bytes() == 0 {
		t.Errorf("the dry run said otherwise: %s", d)
	}
	if done.Engine == "" {
		t.Error("there is no engine, and nothing says so")
	}
	if d := cmp.Diff([]string{
		"refs/ftl/base", "refs/ftl/index/main", "refs/ftl/pending", "refs/ftl/results/qqqq", "refs/ftl/results/uuuu",
		"refs/ftl/snapshots/qqqq", "refs/ftl/snapshots/uuuu", "refs/ftl/snapshots/vvvv", "refs/ftl/snapshots/wwww", "refs/notes/ftl",
	}, strings.Fields(runGit(t, s, "for-each-ref", "--format=%(refname)", "refs/ftl", "refs/notes"))); d != "" {
		t.Error(d)
	}
	for _, id := range []string{"kkkkpplp", "rrrr", "zzzz"} {
		if left, _ := filepath.Glob(s.Repo.Path("*", "*"+id+"*")); left != nil {
			t.Errorf("left of %s: %v", id, left)
		}
	}
	if again, err := s.Collect(t.Context(), false); err != nil || len(again.Removed) != 0 {
		t.Errorf("once more: %v, %v", again, err)
	}
	apply(t, s, "uuuu")
	runGit(t, s, "fsck", "--strict")
}

// TestCollectForever: a retention of 0 keeps what was decided on for ever.
func TestCollectForever(t *testing.T) {
	ahead := 100 * month
	s := houseSession(t, &ahead)
	s.Config.Retention = 0
	task(t, s, "rrrr", "2")
	if err := s.Queue.Reject(t.Context(), "rrrr"); err != nil {
		t.Fatal(err)
	}
	task(t, s, "zzzz", "")
	if c, err := s.Collect(t.Context(), false); err != nil || len(c.Removed)+len(c.Waiting) != 0 {
		t.Errorf("got %v, %v", c, err)
	}
}

// TestCollectWorkTree: what was kept for a linked work tree goes with it, its
// results do not.
func TestCollectWorkTree(t *testing.T) {
	ahead := 25 * time.Hour
	s := houseSession(t, &ahead)
	linked := filepath.Join(filepath.Dir(s.Repo.Dir), "linked")
	runGit(t, s, "worktree", "add", "-q", linked)
	l := newSession(t, linked)
	l.Now = s.Now
	l.Queue, l.Store = patch.NewQueue(l.Repo, 0o022), snapshot.New(l.Repo)
	task(t, l, "kkkk", "1")
	task(t, l, "nnnn", "2")
	apply(t, l, "kkkk")
	if c, err := s.Collect(t.Context(), false); err != nil || len(c.Removed) != 0 {
		t.Errorf("while it is there: %v, %v", lines(c.Removed), err)
	}
	runGit(t, s, "worktree", "remove", "--force", linked)
	c, err := s.Collect(t.Context(), false)
	if d := cmp.Diff([]string{"work tree linked: it is gone"}, lines(c.Removed)); err != nil || d != "" {
		t.Error(d, err)
	}
	if left, _ := filepath.Glob(s.Repo.Path("*", "wt-linked*")); left != nil {
		t.Errorf("left: %v", left)
	}
	if got := runGit(t, s, "for-each-ref", "refs/ftl/index/wt-linked", "refs/ftl/results/kkkk", "--format=%(refname)"); got != "refs/ftl/results/kkkk" {
		t.Errorf("refs: %s", got)
	}
}

// TestCollectInLinked: the pending refs of another work tree go with the result
// that they still show.
func TestCollectInLinked(t *testing.T) {
	var ahead time.Duration
	s := houseSession(t, &ahead)
	linked := filepath.Join(filepath.Dir(s.Repo.Dir), "linked")
	runGit(t, s, "worktree", "add", "-q", linked)
	l := newSession(t, linked)
	l.Queue, l.Store = patch.NewQueue(l.Repo, 0o022), snapshot.New(l.Repo)
	task(t, l, "kkkk", "1")
	apply(t, l, "kkkk")
	if got := runGit(t, l, "for-each-ref", "--format=%(refname)", "refs/worktree"); !strings.Contains(got, "pending") {
		t.Fatalf("nothing shows it: %s", got)
	}
	ahead = month
	c, err := s.Collect(t.Context(), false)
	if d := cmp.Diff([]string{"result kkkk: applied 41 days ago"}, lines(c.Removed)); err != nil || d != "" {
		t.Error(d, err)
	}
	if got := runGit(t, l, "for-each-ref", "--format=%(refname)", "refs/worktree"); got != "" {
		t.Errorf("left: %s", got)
	}
}

// TestCollectScratch: what killed commands left goes once it is old, and what one
// may still be at does not.
func TestCollectScratch(t *testing.T) {
	var ahead time.Duration
	s := houseSession(t, &ahead)
	var want []string
	for _, name := range []string{"tasks/.new-123", "fsck-1/check.pack", "index-1/index", "merge-1/ours", "stage-dead/0", "spool/kkkk", "setup/main-9", "exports/main-9/tree/f"} {
		if err := s.Repo.WriteState(name, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string]string{"stage-live/0": "x", "journal/main.stage": s.Repo.Path("stage-live"), "spool/nnnn": "x", "running/nnnn": "", "setup/main-1": "x", "sandboxes/main-1.json": "{}"} {
		if err := s.Repo.WriteState(name, []byte(data)); err != nil {
			t.Fatal(err)
		}
		want = append(want, s.Repo.Path(filepath.FromSlash(name)))
	}
	if c, err := s.Collect(t.Context(), false); err != nil || cmp.Diff([]string{"export main-9: its sandbox is gone"}, lines(c.Removed)) != "" {
		t.Errorf("at once: %v, %v", lines(c.Removed), err)
	}
	ahead = 25 * time.Hour
	if c, err := s.Collect(t.Context(), false); err != nil || len(c.Removed) != 7 {
		t.Errorf("a day later: %v, %v", lines(c.Removed), err)
	}
	slices.Sort(want)
	if d := cmp.Diff(want, state(t, s)); d != "" {
		t.Error(d)
	}
}

// TestCollectLiterally: the folder of a repository may have a name that reads like a
// pattern, and then not that of another.
func TestCollectLiterally(t *testing.T) {
	var ahead time.Duration
	top := t.TempDir()
	odd, other := houseSessionAt(t, filepath.Join(top, "a[b]*c"), &ahead), houseSessionAt(t, filepath.Join(top, "ab*c"), &ahead)
	for _, s := range []*Session{odd, other} {
		task(t, s, "kkkk", "1")
		apply(t, s, "kkkk")
		putState(t, s, "spool/qqqq", "x")
		if err := os.Chtimes(s.Repo.Path("spool", "qqqq"), time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	ahead = month
	before := state(t, other)
	if _, err := odd.Queue.Drop(t.Context(), "kkkk", patch.DropOptions{Before: time.Now().Add(-time.Hour)}); !errors.Is(err, patch.ErrKept) {
		t.Errorf("what was applied lately is dropped: %v", err)
	}
	done, err := odd.Collect(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"result kkkk: applied 41 days ago", "scratch qqqq: no command needs it"}, lines(done.Removed)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, state(t, other)); d != "" {
		t.Errorf("the other repository: %s", d)
	}
	putState(t, odd, "journal/main.json", "{}")
	if _, err := odd.Uninstall(t.Context(), Uninstall{}); !errors.As(err, new(*InUseError)) {
		t.Errorf("an apply that was cut off is forgotten: %v", err)
	}
}

// TestCollectRecordOfNoCommit: a kill between the record of a follow-up and the move
// of its ref leaves one that no collection may stumble over.
func TestCollectRecordOfNoCommit(t *testing.T) {
	ahead := month
	s := houseSession(t, &ahead)
	putState(t, s, "results/kkkk.next.json", "{}")
	done, err := s.Collect(t.Context(), false)
	if d := cmp.Diff([]string{"result kkkk: its ref is gone"}, lines(done.Removed)); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if _, err := os.Lstat(s.Repo.Path("results", "kkkk.next.json")); err == nil {
		t.Error("it is there still")
	}
}

// TestTidy: a collection by itself runs once a day and says what waits.
func TestTidy(t *testing.T) {
	ahead := month
	s := houseSession(t, &ahead)
	task(t, s, "uuuu", "1")
	notes := s.Report.(*silent)
	s.Tidy(t.Context())
	want := []string{"uuuu is undecided for 41 days: git ftl apply uuuu or git ftl reject uuuu"}
	if d := cmp.Diff(want, notes.notes); d != "" {
		t.Error(d)
	}
	for _, later := range []time.Duration{month + time.Hour, month + 23*time.Hour} {
		ahead = later
		if s.Tidy(t.Context()); len(notes.notes) != 1 {
			t.Errorf("after %v: %v", later, notes.notes)
		}
	}
	ahead = month + 25*time.Hour
	if s.Tidy(t.Context()); len(notes.notes) != 2 {
		t.Errorf("the next day: %v", notes.notes)
	}
	ahead = 0 // a clock that was set back does not stop it for ever
	s.Tidy(t.Context())
	data, err := s.Repo.ReadState("gc.json")
	if err != nil || !strings.Contains(string(data), time.Now().UTC().Format("2006-01-02")) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestCollectAfterKill: what a kill left of a result that was being forgotten goes
// with the next collection, whatever step it came to.
func TestCollectAfterKill(t *testing.T) {
	var ahead time.Duration
	for _, tc := range []struct {
		name string
		kill func(s *Session) error
		want string
	}{
		{"refs gone", func(s *Session) error {
			_, err := s.Queue.Drop(t.Context(), "rrrr", patch.DropOptions{Before: s.Now()})
			return err
		}, "task rrrr: pending 41 days ago"},
		{"only a record of the result", func(s *Session) error {
			runGit(t, s, "update-ref", "-d", "refs/ftl/results/rrrr")
			return errors.Join(os.Remove(s.Repo.Path("tasks", "rrrr.json")), s.Store.Drop(t.Context(), "rrrr"))
		}, "result rrrr: its ref is gone"},
		{"only a snapshot", func(s *Session) error {
			_, err := s.Queue.Drop(t.Context(), "rrrr", patch.DropOptions{Before: s.Now()})
			return errors.Join(err, os.Remove(s.Repo.Path("tasks", "rrrr.json")))
		}, "snapshot rrrr: no task knows it, taken 41 days ago"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ahead = 0
			s := houseSession(t, &ahead)
			task(t, s, "rrrr", "2")
			if err := s.Queue.Reject(t.Context(), "rrrr"); err != nil {
				t.Fatal(err)
			}
			ahead = month
			if err := tc.kill(s); err != nil {
				t.Fatal(err)
			}
			c, err := s.Collect(t.Context(), false)
			if d := cmp.Diff([]string{tc.want}, lines(c.Removed)); err != nil || d != "" {
				t.Error(d, err)
			}
			if got := runGit(t, s, "for-each-ref", "--format=%(refname)", "refs/ftl/results", "refs/ftl/snapshots"); got != "" {
				t.Errorf("left: %s", got)
			}
			if _, err := os.Stat(s.Repo.Path("results", "rrrr.json")); err == nil {
				t.Error("the record is left")
			}
		})
	}
}

// TestCollectSharedSnapshot: a snapshot outlives its own result where another,
// which is undecided, starts from it.
func TestCollectSharedSnapshot(t *testing.T) {
	var ahead time.Duration
	s := houseSession(t, &ahead)
	task(t, s, "rrrr", "1")
	snap, err := s.Store.Load(t.Context(), "rrrr")
	if err != nil {
		t.Fatal(err)
	}
	snap.ID = "ssss"
	store(t, s, snap, "2")
	if err := s.Queue.Reject(t.Context(), "rrrr"); err != nil {
		t.Fatal(err)
	}
	ahead = month
	c, err := s.Collect(t.Context(), false)
	if d := cmp.Diff([]string{"result rrrr: rejected 41 days ago"}, lines(c.Removed)); err != nil || d != "" {
		t.Error(d, err)
	}
	if _, err := s.Store.Load(t.Context(), "rrrr"); err != nil {
		t.Error(err)
	}
	if gone, err := s.CleanSnapshots(t.Context(), false); err != nil || len(gone) != 0 {
		t.Errorf("cleaned %v, %v", gone, err)
	}
}
