package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// world is a repository under test, driven by the git binary alone.
type world struct {
	testing.TB
	dir   string
	trace string // where git writes down its commands
	repo  *git.Repo
	store *snapshot.Store
}

func env(extra ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}, extra...)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, dir: t.TempDir(), trace: filepath.Join(t.TempDir(), "trace")}
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.name", "Ada")
	w.git("config", "user.email", "ada@example.com")
	w.open()
	return w
}

// open makes the store anew, as the next process would.
func (w *world) open() {
	w.Helper()
	repo, err := git.Open(context.Background(), w.dir, env("GIT_TRACE2_EVENT="+w.trace, "GIT_TRACE2_EVENT_NESTING=9"))
	if err != nil {
		w.Fatal(err)
	}
	w.repo, w.store = repo, snapshot.New(repo)
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, env()
	return cmd
}

func (w *world) try(args ...string) (string, error) {
	cmd := w.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %q: %w: %s", args, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

func (w *world) git(args ...string) string {
	w.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) write(name, content string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(content), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) commitAll(msg string) {
	w.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", msg)
}

func (w *world) stage() snapshot.Staged {
	w.Helper()
	st, err := w.store.Stage(context.Background(), snapshot.Options{})
	if err != nil {
		w.Fatal(err)
	}
	return st
}

func (w *world) take(o snapshot.Options) snapshot.Snapshot {
	w.Helper()
	if o.Now.IsZero() {
		o.Now = time.Unix(1_700_000_000, 0)
	}
	snap, err := w.store.Take(context.Background(), o)
	if err != nil {
		w.Fatal(err)
	}
	return snap
}

// gitDir is the git dir of the work tree.
func (w *world) gitDir() string { return w.git("rev-parse", "--absolute-git-dir") }

// expected is the tree of "git add -A && git write-tree" on a copy of the
// user's index.
func (w *world) expected() string {
	w.Helper()
	index := filepath.Join(w.gitDir(), "index")
	scratch := filepath.Join(w.gitDir(), "test-index")
	defer func() { _ = os.Remove(scratch) }()
	data, err := os.ReadFile(index)
	if err == nil {
		info, _ := os.Stat(index)
		err = errors.Join(os.WriteFile(scratch, data, 0o600), os.Chtimes(scratch, info.ModTime(), info.ModTime()))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+scratch)
		out, err := cmd.CombinedOutput()
		if err != nil {
			w.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("add", "-A")
	return run("write-tree")
}

func (w *world) checkParity(what string) {
	w.Helper()
	want := w.expected()
	st := w.stage()
	if got := st.Tree.String(); got != want {
		w.Fatalf("%s: tree differs from git add -A:\n%s", what, w.git("diff", "--name-status", "--no-renames", want, got))
	}
	// A submodule is in the tree as its commit, and named where it has edits.
	links := map[string]bool{}
	for line := range strings.Lines(w.git("ls-tree", "-r", "--full-tree", want)) {
		if info, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); strings.HasPrefix(info, "160000") {
			links[name] = true
		}
	}
	for _, l := range st.LeftOut {
		if !links[l.Path] {
			w.Fatalf("%s: left out %v", what, st.LeftOut)
		}
	}
	if differ := w.differing(want); st.Dirty != len(differ) {
		w.Fatalf("%s: %d dirty paths, want %q", what, st.Dirty, differ)
	}
}

// differing lists the paths that differ between HEAD and a tree.
func (w *world) differing(tree string) []string {
	w.Helper()
	args := []string{"ls-tree", "-r", "-z", "--name-only", tree}
	if head, err := w.try("rev-parse", "--verify", "-q", "HEAD"); err == nil {
		args = []string{"diff", "-z", "--name-only", "--no-renames", head, tree}
	}
	out := strings.TrimSuffix(w.git(args...), "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}
