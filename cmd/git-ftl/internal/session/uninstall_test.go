package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
)

// plot is a folder with a repository "repo" and perhaps a linked work tree
// "linked", and a twin of the whole that git-ftl never meets.
type plot struct {
	t         *testing.T
	dir, twin string
}

func newPlot(t *testing.T, script string) *plot {
	t.Helper()
	top := t.TempDir()
	p := &plot{t, filepath.Join(top, "first"), filepath.Join(top, "twin")}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.sh(p.dir, script)
	p.sh(top, "cp -a first twin")
	return p
}

// sh runs a script of plain git.
func (p *plot) sh(dir, script string) {
	p.t.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=U", "GIT_AUTHOR_EMAIL=u@example.com", "GIT_COMMITTER_NAME=U", "GIT_COMMITTER_EMAIL=u@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v %s", script, err, out)
	}
}

// both runs a script in the repository and in its twin.
func (p *plot) both(script string) {
	p.t.Helper()
	p.sh(p.dir, script)
	p.sh(p.twin, script)
}

// open gives a session of one of the work trees, with no engine.
func (p *plot) open(tree string) *Session {
	p.t.Helper()
	s := newSession(p.t, filepath.Join(p.dir, tree))
	s.Env = append(s.Env, "DOCKER_HOST=unix:///nonexistent")
	s.Queue, s.Store = patch.NewQueue(s.Repo, 0o022), snapshot.New(s.Repo)
	return s
}

// use does in a work tree what tasks and their users do.
func (p *plot) use(tree string, names ...string) *Session {
	p.t.Helper()
	s := p.open(tree)
	if err := s.rememberFolders(); err != nil {
		p.t.Fatal(err)
	}
	for _, id := range names {
		task(p.t, s, id, "text")
	}
	apply(p.t, s, names[0])
	if _, err := s.Queue.Undo(p.t.Context(), patch.UndoOptions{}); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// gitDir describes all that is below the git dir but the objects.
func (p *plot) gitDir(top string) map[string]string {
	p.t.Helper()
	all := map[string]string{}
	root := filepath.Join(top, "repo", ".git")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if rel == "objects" {
			return fs.SkipDir
		}
		if d.IsDir() {
			all[rel+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(name)
		all[rel] = string(data)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// like fails where the repository is not as its twin.
func (p *plot) like() {
	p.t.Helper()
	if d := cmp.Diff(p.gitDir(p.twin), p.gitDir(p.dir)); d != "" {
		p.t.Error(d)
	}
}

const plain = "git init -q -b main repo; cd repo; echo a > a.txt; git add .; git commit -qm first; "

// TestUninstallLeavesNoTrace: what is below .git, objects aside, is byte for byte
// what it is in a repository that never met git-ftl.
func TestUninstallLeavesNoTrace(t *testing.T) {
	const linked = plain + "git worktree add -q ../linked; "
	for _, tc := range []struct {
		name   string
		make   string
		trees  []string
		during string // by the user, in both
		ours   string // by the user, for git-ftl
	}{
		{name: "plain", make: plain},
		{name: "never used", make: plain, trees: []string{}},
		{name: "unborn", make: "git init -q -b main repo"},
		{name: "packed before", make: plain + "git branch other; git pack-refs --all"},
		{name: "packed meanwhile", make: plain + "git branch other; git tag t", during: "cd repo; git pack-refs --all"},
		{name: "packed before and meanwhile", make: plain + "git pack-refs --all", during: "cd repo; git branch other; git pack-refs --all"},
		{name: "unborn and packed", make: "git init -q -b main repo", during: "cd repo; git pack-refs --all"},
		{name: "no reflogs", make: "git init -q -b main repo; cd repo; git config core.logAllRefUpdates false; git commit -q --allow-empty -m x"},
		{name: "own notes", make: plain + "git notes add -m mine HEAD"},
		{name: "own empty folders", make: plain + "mkdir -p .git/refs/notes .git/logs/refs/notes"},
		{name: "linked", make: linked, trees: []string{"repo", "linked"}},
		{name: "only the linked one", make: linked, trees: []string{"linked"}},
		{name: "linked, with a folder of newer versions", make: linked + "mkdir -p .git/worktrees/linked/refs", trees: []string{"linked"}},
		{name: "settings", make: plain, ours: "cd repo; git config ftl.memory 2g; git config ftl.agents.My-Agent.command 'x y'; git config --add ftl.keep a; git config --add ftl.keep b"},
		{name: "settings among others", make: plain + "printf '# mine\\n[ftlx]\\n\\tmemory = 1\\n' >> .git/config", ours: "cd repo; git config ftl.memory 2g; git config ftl.timeout 5m"},
		{name: "settings in odd case", make: plain, ours: "cd repo; printf '[FTL]\\n\\tmemory = 2g\\n[Ftl \"agents.X\"]\\n\\tcommand = y\\n[ftl]\\n\\tcpus = 1\\n' >> .git/config"},
		{name: "settings of work trees", make: linked + "git config extensions.worktreeConfig true; git -C ../linked config --worktree other.key 1",
			trees: []string{"repo", "linked"}, ours: "cd repo; git config --worktree ftl.memory 2g; cd ../linked; git config --worktree ftl.memory 3g"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlot(t, tc.make)
			if tc.trees == nil {
				tc.trees = []string{"repo"}
			}
			if tc.ours != "" {
				p.sh(p.dir, tc.ours)
			}
			s := p.open("repo")
			for i, tree := range tc.trees {
				s = p.use(tree, []string{"kkkk", "nnnn"}[i], []string{"pppp", "qqqq"}[i])
			}
			if tc.during != "" {
				p.both(tc.during)
			}
			if _, err := s.Uninstall(t.Context(), Uninstall{Force: true}); err != nil {
				t.Fatal(err)
			}
			p.like()
			p.sh(p.dir, "cd repo; git fsck --strict; git status --short > /dev/null")
		})
	}
}

// TestUninstallAfterKill: one that was killed after any step is finished by
// another.
func TestUninstallAfterKill(t *testing.T) {
	for n := range 8 {
		p := newPlot(t, plain+"git worktree add -q ../linked")
		p.sh(p.dir, "cd repo; git config ftl.memory 2g")
		p.use("repo", "kkkk")
		s := p.use("linked", "nnnn")
		u := &uninstall{Session: s, o: Uninstall{Force: true}}
		if err := inOrder(t.Context(), u.idle, u.decided, u.meetEngine, u.findRefs, u.findConfig, u.findFiles); err != nil {
			t.Fatal(err)
		}
		acts := u.acts()
		if err := inOrder(t.Context(), acts[:min(n, len(acts))]...); err != nil {
			t.Fatal(err)
		}
		if n == 7 { // half of the state folder
			for _, name := range []string{"identity.json", "folders.json", "results"} {
				if err := os.RemoveAll(s.Repo.Path(name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := p.open("repo").Uninstall(t.Context(), Uninstall{Force: true}); err != nil {
			t.Fatalf("after %d steps: %v", n, err)
		}
		p.like()
	}
}

// TestUninstallRefuses: work that is not decided on, or under way, is not dropped
// unasked; and a dry run drops nothing.
func TestUninstallRefuses(t *testing.T) {
	for _, tc := range []struct {
		name    string
		make    func(t *testing.T, s *Session)
		want    string
		running bool // force does not help
	}{
		{"undecided", func(t *testing.T, s *Session) { task(t, s, "kkkk", "1") }, "result kkkk is undecided", false},
		{"held", func(t *testing.T, s *Session) {
			putState(t, s, "sandboxes/main-1.json", `{"id":"x","hold":"nnnn"}`)
		}, "sandbox main-1 holds the change of nnnn", false},
		{"cut off", func(t *testing.T, s *Session) { putState(t, s, "journal/wt-x.json", "{}") }, "an apply in work tree x was cut off", false},
		{"running", func(t *testing.T, s *Session) {
			putState(t, s, "running/kkkk", "")
			unlock, _, err := s.Repo.TryLock("task-kkkk")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(unlock)
		}, "task kkkk runs", true},
		{"entered", func(t *testing.T, s *Session) {
			putState(t, s, "sandboxes/main-1.json", `{"id":"x"}`)
			unlock, _, err := s.Repo.TryLock("sandbox-main-1")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(unlock)
		}, "sandbox main-1 is in use", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlot(t, plain)
			s := p.open("repo")
			tc.make(t, s)
			before := p.gitDir(p.dir)
			_, err := s.Uninstall(t.Context(), Uninstall{})
			var in *InUseError
			if !errors.As(err, &in) || in.Running != tc.running || len(in.What) != 1 || !strings.HasPrefix(in.What[0], tc.want) {
				t.Errorf("got %v, %+v", err, in)
			}
			_, err = s.Uninstall(t.Context(), Uninstall{Force: true, DryRun: true})
			if errors.As(err, new(*InUseError)) != tc.running {
				t.Errorf("by force: %v", err)
			}
			_, err = s.Uninstall(t.Context(), Uninstall{Force: true, Confirm: func(r Removal) bool { return len(r.Removed) == 0 }})
			if !tc.running && !errors.Is(err, ErrDeclined) {
				t.Errorf("declined: %v", err)
			}
			after := p.gitDir(p.dir)
			delete(after, "git-ftl/locks/gc")
			delete(after, "git-ftl/locks/task-kkkk")
			delete(before, "git-ftl/locks/task-kkkk")
			if d := cmp.Diff(locks(before), locks(after)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestUninstallLooksAgain: what is decided on or begun while a person is asked, or
// just before, counts.
func TestUninstallLooksAgain(t *testing.T) {
	for _, tc := range []struct {
		name string
		late func(t *testing.T, s *Session)
		want string
	}{
		{"a result", func(t *testing.T, s *Session) { task(t, s, "kkkk", "1") }, "result kkkk is undecided"},
		{"an apply that was cut off", func(t *testing.T, s *Session) { putState(t, s, "journal/main.json", "{}") }, "an apply in work tree main was cut off"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlot(t, plain)
			s := p.open("repo")
			_, err := s.Uninstall(t.Context(), Uninstall{Confirm: func(Removal) bool { tc.late(t, s); return true }})
			var in *InUseError
			if !errors.As(err, &in) || len(in.What) != 1 || !strings.HasPrefix(in.What[0], tc.want) {
				t.Errorf("got %v, %+v", err, in)
			}
		})
	}
}

// TestUninstallKeepsTasksOut: a task that would begin while an uninstall is at work
// begins after it, and loses nothing.
func TestUninstallKeepsTasksOut(t *testing.T) {
	p := newPlot(t, plain)
	s := p.open("repo")
	u := &uninstall{Session: s}
	release, err := u.shut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, err := s.admit(ctx, Task{Text: "a task"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a task began: %v", err)
	}
	if err := s.Queue.Reject(ctx, "kkkk"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a decision was made: %v", err)
	}
	release()
	_, over, err := s.admit(t.Context(), Task{Text: "a task"})
	if err != nil {
		t.Fatal(err)
	}
	over()
}

// locks leaves them out.
func locks(all map[string]string) map[string]string {
	left := map[string]string{}
	for name, text := range all {
		if !strings.HasPrefix(name, "git-ftl/locks/") {
			left[name] = text
		}
	}
	return left
}

func putState(t *testing.T, s *Session, name, text string) {
	t.Helper()
	if err := s.Repo.WriteState(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestUninstallNames: what is the user's own is named and stays.
func TestUninstallNames(t *testing.T) {
	p := newPlot(t, plain+"echo x > .ftlignore")
	s := p.open("repo")
	home := ""
	for _, kv := range s.Env {
		if name, value, _ := strings.Cut(kv, "="); name == "HOME" {
			home = value
		}
	}
	global := filepath.Join(home, ".gitconfig")
	if err := os.WriteFile(global, []byte("[ftl]\n\tagent = codex\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	done, err := s.Uninstall(t.Context(), Uninstall{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"file .ftlignore: yours: git rm takes it away", "setting ftl.agent: in " + global}, lines(done.Kept)); d != "" {
		t.Error(d)
	}
	for _, name := range []string{global, filepath.Join(s.Repo.Dir, ".ftlignore")} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	p.like()
}

// TestUninstallWithoutEngine: what an engine has of it is not forgotten unasked,
// and stays known to the user's other repositories when it is left behind.
func TestUninstallWithoutEngine(t *testing.T) {
	p := newPlot(t, plain)
	s := p.open("repo")
	s.Home = t.TempDir()
	id, err := s.Project(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	putState(t, s, "sandboxes/main-1.json", `{"id":"c0ffee"}`)
	if _, err := s.Uninstall(t.Context(), Uninstall{}); err == nil || !strings.Contains(err.Error(), "no container engine answers") {
		t.Errorf("got %v", err)
	}
	done, err := s.Uninstall(t.Context(), Uninstall{Force: true})
	if d := cmp.Diff([]string{"sandbox main-1: no engine answers; its container is c0ffee"}, lines(done.Kept)); err != nil || d != "" || done.Engine == "" {
		t.Error(d, err)
	}
	p.like()
	other := newSession(t, t.TempDir())
	other.Home, other.Now = s.Home, func() time.Time { return time.Now() }
	if got := other.strangers(); len(got) != 1 || got[0].ID != id || got[0].State != s.Repo.State {
		t.Errorf("known are %v", got)
	}
}
