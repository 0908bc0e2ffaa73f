package patch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommitTakesTheChangeAlone(t *testing.T) {
	l, _ := stagedLab(t)
	r := l.store(l.snapshot(), file("f", numbered(map[int]string{5: "staged", 15: "dirty", 25: "agent"})),
		gone("gone"), executable("added/x", "agent\n"))
	head := l.git("rev-parse", "HEAD")
	done := l.applyWith(r.ID, ApplyOptions{Commit: &CommitOptions{Message: "Take it\n"}})
	if got := l.git("log", "-1", "--format=%H %P %s %an %cn"); got != done.Head.String()+" "+head+" Take it User User" {
		t.Errorf("HEAD is %s", got)
	}
	if got := l.git("show", "HEAD:f") + "\n"; got != numbered(map[int]string{25: "agent"}) {
		t.Errorf("HEAD has %s", got)
	}
	if got := l.git("show", ":f") + "\n"; got != numbered(map[int]string{5: "staged", 25: "agent"}) {
		t.Errorf("index has %s", got)
	}
	if got := l.read("f"); got != numbered(map[int]string{5: "staged", 15: "dirty", 25: "agent"}) {
		t.Errorf("work tree has %s", got)
	}
	if got := l.git("show", "--name-status", "--format=", "HEAD"); got != "A\tadded/x\nM\tf\nD\tgone" {
		t.Errorf("committed:\n%s", got)
	}
	if got := l.git("diff", "--cached", "--name-status"); got != "M\tf\nA\tnew" {
		t.Errorf("staged:\n%s", got)
	}
	if got := l.git("diff", "--name-status"); got != "M\tf\nM\tother" {
		t.Errorf("unstaged:\n%s", got)
	}
	if got := l.git("reflog", "-1", "--format=%gs"); got != "commit (git-ftl apply "+r.ID+"): Take it" {
		t.Errorf("reflog says %s", got)
	}
	if got := l.git("symbolic-ref", "HEAD"); got != "refs/heads/main" {
		t.Errorf("HEAD is %s", got)
	}
	_, err := l.q.Undo(t.Context(), UndoOptions{})
	var committed *CommittedError
	if !errors.As(err, &committed) || committed.Commit != done.Head {
		t.Errorf("undo: %v", err)
	}
	l.git("reset", "-q", "--soft", head)
	l.undo()
	if got := l.git("diff", "--cached", "--name-status"); got != "M\tf\nA\tnew" || l.read("gone") != "x\n" {
		t.Errorf("after reset and undo:\n%s", got)
	}
}

func TestCommitElsewhere(t *testing.T) {
	change := func(t *testing.T, l *lab, base Base) {
		r := l.store(base, file("a", "agent\n"))
		done := l.applyWith(r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m"}})
		if got := l.git("rev-parse", "HEAD"); got != done.Head.String() || done.Head.IsZero() {
			t.Errorf("HEAD is %s, made %s", got, done.Head)
		}
		if got := l.git("show", "HEAD:a"); got != "agent" {
			t.Errorf("HEAD has %q", got)
		}
		if got := l.git("status", "--porcelain", "-uno"); got != "" {
			t.Errorf("not clean: %s", got)
		}
	}
	t.Run("unborn", func(t *testing.T) {
		l := newLab(t)
		change(t, l, l.snapshot())
		if got := l.git("rev-list", "--count", "main"); got != "1" {
			t.Error(got)
		}
	})
	t.Run("detached", func(t *testing.T) {
		l := newLab(t)
		l.write("a", "x\n")
		l.committed()
		main := l.git("rev-parse", "main")
		l.git("checkout", "-q", "--detach")
		change(t, l, l.snapshot())
		if l.git("rev-parse", "main") != main {
			t.Error("the branch moved")
		}
	})
	t.Run("linked", func(t *testing.T) {
		l := newLab(t)
		l.write("a", "x\n")
		l.committed()
		main := l.git("rev-parse", "main")
		dir := filepath.Join(t.TempDir(), "wt")
		l.git("worktree", "add", "-q", "-b", "side", dir)
		w := labAt(t, dir, false)
		change(t, w, w.snapshot())
		if l.git("rev-parse", "main") != main || l.git("rev-parse", "side") == main {
			t.Error("the wrong branch moved")
		}
	})
}

// hook writes a hook of the user's.
func (l *lab) hook(name, script string) {
	l.t.Helper()
	dir := filepath.Join(l.repo.CommonDir, "hooks")
	l.must(os.MkdirAll(dir, 0o755))
	l.must(os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
}

func TestCommitRunsNoHookUnasked(t *testing.T) {
	l, _ := stagedLab(t)
	r := l.store(l.snapshot(), file("f2", "agent\n"))
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change"} {
		l.hook(name, "echo "+name+" >> '"+ran+"'\n")
	}
	l.applyWith(r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m"}})
	if _, err := os.Stat(ran); err == nil {
		t.Errorf("ran %s", readFile(t, ran))
	}
}

func TestCommitRunsHooks(t *testing.T) {
	l, _ := stagedLab(t)
	r := l.store(l.snapshot(), file("f", numbered(map[int]string{5: "staged", 15: "dirty", 25: "agent"})), file("fmt", "agent\n"))
	log := filepath.Join(t.TempDir(), "log")
	l.hook("pre-commit", `{ echo pre-commit; git diff --cached --name-only -- 'f*'; grep -c agent f; } >> '`+log+`'
echo formatted > fmt; git add fmt; echo said by the hook`)
	l.hook("prepare-commit-msg", `echo "prepare $2" >> '`+log+`'; echo prepared >> "$1"`)
	l.hook("commit-msg", `echo "commit-msg" >> '`+log+`'; echo checked >> "$1"`)
	l.hook("post-commit", `git log -1 --format=%s >> '`+log+`'`)
	done := l.applyWith(r.ID, ApplyOptions{Commit: &CommitOptions{Message: "Take it\n", Hooks: true}})
	want := "pre-commit\nf\nfmt\n1\nprepare message\ncommit-msg\nTake it prepared checked\n"
	if d := cmp.Diff(want, readFile(t, log)); d != "" {
		t.Error(d)
	}
	if !strings.Contains(done.Hooks, "said by the hook") {
		t.Errorf("hooks said %q", done.Hooks)
	}
	if l.git("show", "HEAD:fmt") != "formatted" || l.git("show", ":fmt") != "formatted" {
		t.Error("what the hook added is not in the commit and the index")
	}
	if got := l.git("diff", "--cached", "--name-status"); got != "M\tf\nA\tnew" {
		t.Errorf("staged:\n%s", got)
	}
}

func TestRefusingHookTakesEverythingBack(t *testing.T) {
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg"} {
		t.Run(name, func(t *testing.T) {
			l, _ := stagedLab(t)
			r := l.store(l.snapshot(), file("f", numbered(map[int]string{5: "staged", 15: "dirty", 25: "agent"})), file("d/new", "agent\n"))
			l.hook(name, "echo no to this; echo reformatted > f; exit 1\n")
			before, disk, head := l.entries(), l.disk(), l.git("rev-parse", "HEAD")
			_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m", Hooks: true}, Now: l.now()})
			var hook *HookError
			if !errors.As(err, &hook) || hook.Name != name || !strings.Contains(hook.Output, "no to this") {
				t.Fatalf("got %v", err)
			}
			if got := l.git("cat-file", "blob", hook.Dropped["f"].String()); got != "reformatted" || len(hook.Dropped) != 1 {
				t.Errorf("dropped %v: %q", hook.Dropped, got)
			}
			if d := cmp.Diff(before, l.entries()) + cmp.Diff(disk, l.disk()); d != "" {
				t.Error(d)
			}
			if l.git("rev-parse", "HEAD") != head {
				t.Error("HEAD moved")
			}
			if _, err := l.q.Undo(t.Context(), UndoOptions{}); !errors.Is(err, ErrNothing) {
				t.Errorf("undo: %v", err)
			}
		})
	}
}

// A change to the hooks that would run on it is not committed with hooks.
func TestCommitRefusesToRunHooksOfTheChange(t *testing.T) {
	run := "#!/bin/sh\ntouch ran\n"
	for _, tc := range []struct {
		name    string
		hooks   string // core.hooksPath
		prepare string
		change  change
	}{
		{"their file", ".husky", "mkdir .husky; touch .husky/pre-commit", executable(".husky/pre-commit", run)},
		{"a folder that is not there yet", ".githooks", "", executable(".githooks/pre-commit", run)},
		{"a folder below one that is not there yet", "tools/githooks", "", executable("tools/githooks/commit-msg", run)},
		{"in another case", ".githooks", "", executable(".GitHooks/pre-commit", run)},
		{"a link in place of a folder above", "tools/githooks", "mkdir -p evil/githooks; cp ../run evil/githooks/pre-commit", link("tools", "evil")},
		{"the target of a hook that is a link", "", "mkdir -p tools; echo : > tools/check; ln -sf ../../tools/check .git/hooks/pre-commit", executable("tools/check", run)},
		{"the target of a hook that dangles", "", "ln -sf ../../tools/check .git/hooks/pre-commit", executable("tools/check", run)},
		{"a link to the folder", "hooks", "mkdir -p b evil; ln -s b hooks; cp ../run evil/pre-commit", link("hooks", "evil")},
		{"what husky runs", ".husky/_", "mkdir -p .husky/_; echo '. .husky/pre-commit' > .husky/_/pre-commit; chmod +x .husky/_/pre-commit; echo '_' > .husky/.gitignore", executable(".husky/pre-commit", run)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newLab(t)
			l.write("a", "x\n")
			l.must(os.WriteFile(filepath.Join(l.repo.Dir, "..", "run"), []byte(run), 0o755))
			cmd := exec.Command("sh", "-euc", tc.prepare)
			cmd.Dir = l.repo.Dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			l.committed()
			if tc.hooks != "" {
				l.git("config", "core.hooksPath", tc.hooks)
			}
			r := l.store(l.snapshot(), tc.change)
			disk := l.disk()
			_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m", Hooks: true}, Now: l.now()})
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) || unsafe.Path != tc.change.path {
				t.Errorf("got %v", err)
			}
			if d := cmp.Diff(disk, l.disk()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCommitIsSigned(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("NOT RUN: no ssh-keygen")
	}
	l, _ := stagedLab(t)
	r := l.store(l.snapshot(), file("f2", "agent\n"))
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for k, v := range map[string]string{"gpg.format": "ssh", "user.signingKey": key, "commit.gpgSign": "true"} {
		l.git("config", k, v)
	}
	disk := l.disk()
	l.git("config", "user.signingKey", key+".missing")
	if _, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m"}, Now: l.now()}); err == nil {
		t.Error("a commit without the key that the user wants")
	}
	if d := cmp.Diff(disk, l.disk()); d != "" {
		t.Error(d)
	}
	l.git("config", "user.signingKey", key)
	l.applyWith(r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m"}})
	if got := l.git("cat-file", "commit", "HEAD"); !strings.Contains(got, "-----BEGIN SSH SIGNATURE-----") {
		t.Errorf("not signed:\n%s", got)
	}
}

// What HEAD has already is not committed again.
func TestCommitOfNothing(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.committed()
	r := l.store(l.snapshot(), file("a", "y\n"))
	l.write("a", "y\n")
	l.git("commit", "-q", "-a", "-m", "by hand")
	head := l.git("rev-parse", "HEAD")
	done := l.applyWith(r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m"}})
	if !done.Head.IsZero() || l.git("rev-parse", "HEAD") != head || done.Result.State != Whole {
		t.Errorf("got %v", done)
	}
}

func TestEmptyMessageWritesNothing(t *testing.T) {
	l, _ := stagedLab(t)
	r := l.store(l.snapshot(), file("f2", "agent\n"))
	disk := l.disk()
	if _, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Commit: &CommitOptions{Message: " \n"}, Now: l.now()}); !errors.Is(err, ErrEmptyMessage) {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(disk, l.disk()); d != "" {
		t.Error(d)
	}
}

// A commit that the user makes while a hook runs is not lost.
func TestCommitMadeMeanwhile(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.committed()
	r := l.store(l.snapshot(), file("a", "y\n"))
	before := l.disk()
	l.hook("pre-commit", "unset GIT_INDEX_FILE; git -c core.hooksPath=/dev/null commit -q --allow-empty -m mine\n")
	_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m", Hooks: true}, Now: l.now()})
	if !errors.Is(err, ErrHeadMoved) {
		t.Errorf("got %v", err)
	}
	if got := l.git("log", "-1", "--format=%s") + l.git("diff", "--cached", "--name-only"); got != "mine" {
		t.Errorf("HEAD is %s", got)
	}
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
}

// A signal while a hook runs ends it and takes everything back.
func TestInterruptedHookTakesEverythingBack(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.committed()
	r := l.store(l.snapshot(), file("a", "y\n"))
	before, now := l.disk(), l.now()
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(t.TempDir(), "started")
	if err := exec.Command("mkfifo", started).Run(); err != nil {
		t.Skip("NOT RUN: no mkfifo: ", err)
	}
	l.hook("pre-commit", "echo > '"+started+"'; exec sleep 20\n")
	go func() {
		_, _ = os.ReadFile(started)
		cancel()
	}()
	_, err := l.q.Apply(ctx, r.ID, ApplyOptions{Commit: &CommitOptions{Message: "m", Hooks: true}, Now: now})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
}
