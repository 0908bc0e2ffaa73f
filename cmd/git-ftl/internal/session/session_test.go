package session

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// silent is a Reporter that keeps notes.
type silent struct{ notes []string }

// Event implements Reporter.
func (s *silent) Event(e Event) {
	if e.Kind == EventNote {
		s.notes = append(s.notes, e.Text)
	}
}

var _ Reporter = (*silent)(nil)

func newSession(t *testing.T, dir string) *Session {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		cmd := exec.Command("git", "init", "-q", dir)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	repo, err := git.Open(t.Context(), dir, env)
	if err != nil {
		t.Fatal(err)
	}
	return &Session{Repo: repo, Config: config.Default(), Env: env, Report: &silent{}, Now: time.Now}
}

// TestImageEnv: an image steers neither the loader nor the search for programs
// into places that an agent can write.
func TestImageEnv(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  []string
		want []string
	}{
		{"none", nil, []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}},
		{"its own", []string{"GOPATH=/go", "PATH=/usr/local/go/bin:/usr/bin"}, []string{"GOPATH=/go", "PATH=/usr/local/go/bin:/usr/bin"}},
		{"loader", []string{"LD_PRELOAD=/evil.so", "LD_LIBRARY_PATH=/x", "HOME=/root", "PATH=/bin"}, []string{"PATH=/bin"}},
		{"writable folders", []string{"PATH=/home/ftl/.local/bin:/workspace/bin:.:relative::/usr/bin"}, []string{"PATH=/usr/bin"}},
		{"only such", []string{"PATH=/home/ftl"}, []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, imageEnv(container.Image{Env: tc.env})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSubject(t *testing.T) {
	for in, want := range map[string]string{
		"  fix it \n\nin detail": "fix it",
		"":                       "change of an agent",
		strings.Repeat("ü", 80):  strings.Repeat("ü", 71) + "…",
		"a\tb   c":               "a b c",
	} {
		if got := Subject(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name   string
		exit   container.Exit
		err    error
		cause  error
		status string
		text   string
	}{
		{"done", container.Exit{}, nil, nil, Pending, ""},
		{"exit code", container.Exit{Code: 3}, nil, nil, Failed, "exited with code 3"},
		{"memory", container.Exit{Code: 137, OOM: 2}, nil, nil, Failed, "2 of its processes ran out of memory (raise it with --memory"},
		{"processes", container.Exit{Code: 1, Pids: 9}, nil, nil, Failed, "process limit"},
		{"memory, but done", container.Exit{OOM: 1}, nil, nil, Pending, ""},
		{"disk", container.Exit{Code: 143, Disk: true}, nil, nil, Failed, "disk bound"},
		{"guest died", container.Exit{Code: 137, Died: true}, nil, nil, Failed, "started again"},
		{"engine died", container.Exit{Code: 137, Died: true}, errors.New("no engine"), nil, Failed, "engine went away"},
		{"time", container.Exit{Code: 143}, context.DeadlineExceeded, nil, Timeout, "time bound of 1h0m0s"},
		{"interrupted", container.Exit{Code: 143}, context.Canceled, errInterrupted, Interrupted, "interrupted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			soft, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			if tc.cause != nil {
				stop(tc.cause)
			}
			r := &run{Session: &Session{Config: config.Default(), Report: &silent{}, Now: time.Now}, soft: soft}
			r.judge(tc.exit, tc.err)
			if r.out.Status != tc.status || !strings.Contains(r.out.Error, tc.text) || (tc.text == "") != (r.out.Error == "") {
				t.Errorf("%s: %q", r.out.Status, r.out.Error)
			}
		})
	}
}

// TestCopyIsAnother: a copy of a repository does not own the sandboxes of the
// first, which its state folder names; a moved one still does.
func TestCopyIsAnother(t *testing.T) {
	top := t.TempDir()
	first := newSession(t, filepath.Join(top, "first"))
	owner, err := first.Project(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := first.Project(t.Context()); err != nil || again != owner {
		t.Errorf("asked twice: %s and %s, %v", owner, again, err)
	}
	if out, err := exec.Command("cp", "-a", filepath.Join(top, "first"), filepath.Join(top, "copy")).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if other, err := newSession(t, filepath.Join(top, "copy")).Project(t.Context()); err != nil || other == owner {
		t.Errorf("the copy is %s too, %v", other, err)
	}
	if err := os.Rename(filepath.Join(top, "first"), filepath.Join(top, "moved")); err != nil {
		t.Fatal(err)
	}
	if moved, err := newSession(t, filepath.Join(top, "moved")).Project(t.Context()); err != nil || moved != owner {
		t.Errorf("the moved one is %s, not %s, %v", moved, owner, err)
	}
}

func TestGroup(t *testing.T) {
	s := newSession(t, t.TempDir())
	if got := s.Group(); got != "main" {
		t.Errorf("main work tree: %q", got)
	}
	odd := *s.Repo
	odd.GitDir = filepath.Join(s.Repo.CommonDir, "worktrees", "größe x")
	s.Repo = &odd
	if got := s.Group(); !plainName.MatchString(got) || !strings.HasPrefix(got, "wt-") {
		t.Errorf("odd name: %q", got)
	}
}

// TestTestGroup: no work tree, whatever its name, has the sandboxes of another's
// tests, and those of tests belong to a work tree.
func TestTestGroup(t *testing.T) {
	keys := []string{"main", "wt-main", "wt-x", "wt-tests-x", "wt-tests-main", "wt-größe", "wt-" + strings.Repeat("long", 50)}
	owner := map[string]string{}
	for _, key := range keys {
		for what, group := range map[string]string{"tasks": groupOf(key), "tests": testGroupOf(key)} {
			if !plainName.MatchString(group) || len(group) > 95 {
				t.Errorf("%s of %s: %q", what, key, group)
			}
			if was := owner[group]; was != "" {
				t.Errorf("%s of %s is that of %s: %q", what, key, was, group)
			}
			owner[group] = what + " of " + key
		}
	}
	s := newSession(t, t.TempDir())
	if err := os.MkdirAll(filepath.Join(s.Repo.CommonDir, "worktrees", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	groups, err := s.groups()
	for _, group := range []string{"main", "tests-main", "wt-x", "tests-wt-x"} {
		if !groups[group] || err != nil {
			t.Errorf("%s is not known: %v %v", group, groups, err)
		}
	}
}

func TestBuildLog(t *testing.T) {
	var shown strings.Builder
	l := &buildLog{steps: &shown}
	for _, part := range []string{"Step 1/2 : FR", "OM x\n ---> 123\n", strings.Repeat("noise\n", 20), "E: no such package\n"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if shown.String() != "Step 1/2 : FROM x\n" {
		t.Errorf("shown: %q", shown.String())
	}
	if len(l.last) != 8 || l.last[7] != "E: no such package" {
		t.Errorf("kept: %q", l.last)
	}
}

// TestDeadTaskBeforeItsAgent: a task whose git-ftl died before the agent began
// has nothing to store, and needs no engine to be ended.
func TestDeadTaskBeforeItsAgent(t *testing.T) {
	s := newSession(t, t.TempDir())
	out := newOutcome("kkkk")
	out.Created = time.Now()
	if err := errors.Join(s.save(t.Context(), out), s.Repo.WriteState("running/kkkk", nil)); err != nil {
		t.Fatal(err)
	}
	if err := s.recoverTask(t.Context(), "kkkk"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Task("kkkk")
	if err != nil || got.Status != Interrupted || got.Ended.IsZero() {
		t.Errorf("%s, ended %v, %v", got.Status, got.Ended, err)
	}
	if ids, err := s.ids("running"); err != nil || len(ids) != 0 {
		t.Errorf("still running: %v %v", ids, err)
	}
}

// TestDeadTaskWithASandbox: one that died with its mark on a sandbox is over, but
// stays to be finished until an engine can take the mark off.
func TestDeadTaskWithASandbox(t *testing.T) {
	s := newSession(t, t.TempDir())
	s.Env = append(s.Env, "DOCKER_HOST=unix:///nowhere")
	out := newOutcome("kkkk")
	out.Created, out.Sandbox = time.Now(), "main-1"
	if err := errors.Join(s.save(t.Context(), out), s.Repo.WriteState("running/kkkk", nil)); err != nil {
		t.Fatal(err)
	}
	if err := s.recoverTask(t.Context(), "kkkk"); !errors.Is(err, container.ErrNoEngine) {
		t.Errorf("without an engine: %v", err)
	}
	got, err := s.Task("kkkk")
	if err != nil || got.Status != Interrupted || got.Ended.IsZero() {
		t.Errorf("%s, ended %v, %v", got.Status, got.Ended, err)
	}
	if ids, err := s.ids("running"); err != nil || len(ids) != 1 {
		t.Errorf("the mark is forgotten: %v %v", ids, err)
	}
}

// TestDeadTaskBeforeItsRecord: a task is marked as running before it has a record,
// so that no kill leaves a record that says "running" for ever; and a mark alone is
// taken off without a word.
func TestDeadTaskBeforeItsRecord(t *testing.T) {
	s := newSession(t, t.TempDir())
	s.Queue, s.Store = patch.NewQueue(s.Repo, 0o022), snapshot.New(s.Repo)
	if err := s.Repo.WriteState("tasks", nil); err != nil { // a file, in which no record can be
		t.Fatal(err)
	}
	if _, _, err := s.admit(t.Context(), Task{}); err == nil {
		t.Fatal("it began without a record")
	}
	if ids, err := s.ids("running"); err != nil || len(ids) != 1 {
		t.Errorf("marked: %v %v", ids, err)
	}
	if err := os.Remove(s.Repo.Path("tasks")); err != nil {
		t.Fatal(err)
	}
	if err := s.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.ids("running"); err != nil || len(ids) != 0 {
		t.Errorf("still running: %v %v", ids, err)
	}
	if notes := s.Report.(*silent).notes; len(notes) > 0 {
		t.Errorf("said: %v", notes)
	}
}

// TestDeadFollowUpBeforeItsRecord: the record of the turn before stays as it is.
func TestDeadFollowUpBeforeItsRecord(t *testing.T) {
	s := newSession(t, t.TempDir())
	out := newOutcome("kkkk")
	out.Status, out.Started, out.Ended = Empty, time.Now(), time.Now().Add(-time.Hour)
	if err := errors.Join(s.save(t.Context(), out), s.Repo.WriteState("running/kkkk", nil), s.recoverTask(t.Context(), "kkkk")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Task("kkkk"); err != nil || !got.Ended.Equal(out.Ended) || got.Status != Empty {
		t.Errorf("%s, ended %v and not %v, %v", got.Status, got.Ended, out.Ended, err)
	}
}

// TestRefusedChangeOutlivesACrash: a task whose change is kept in its sandbox, and
// whose git-ftl died just before it was done, is ended without an engine being
// asked to let the sandbox go.
func TestRefusedChangeOutlivesACrash(t *testing.T) {
	s := newSession(t, t.TempDir())
	s.Env = append(s.Env, "DOCKER_HOST=unix:///nonexistent")
	out := newOutcome("kkkk")
	out.Status, out.Kept, out.Sandbox, out.Started, out.Ended = Failed, true, "main-1", time.Now(), time.Now()
	if err := errors.Join(s.save(t.Context(), out), s.Repo.WriteState("running/kkkk", nil)); err != nil {
		t.Fatal(err)
	}
	if err := s.recoverTask(t.Context(), "kkkk"); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.ids("running"); err != nil || len(ids) != 0 {
		t.Errorf("still running: %v %v", ids, err)
	}
	if got, err := s.Task("kkkk"); err != nil || !got.Kept {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLiveTaskIsLeftAlone: the lock of a task tells that it is alive.
func TestLiveTaskIsLeftAlone(t *testing.T) {
	s := newSession(t, t.TempDir())
	unlock, held, err := s.Repo.TryLock("task-kkkk")
	if err != nil || !held {
		t.Fatal(held, err)
	}
	defer unlock()
	out := newOutcome("kkkk")
	if err := errors.Join(s.save(t.Context(), out), s.Repo.WriteState("running/kkkk", nil)); err != nil {
		t.Fatal(err)
	}
	if err := s.recoverTask(t.Context(), "kkkk"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Task("kkkk"); err != nil || got.Status != Running {
		t.Errorf("%s, %v", got.Status, err)
	}
}
