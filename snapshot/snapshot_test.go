package snapshot_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/google/go-cmp/cmp"
)

func TestTakeAndLoad(t *testing.T) {
	tests := []struct {
		name   string
		setup  func(w *world)
		branch string
		dirty  int
		unborn bool
	}{
		{"clean", func(w *world) { w.write("a", "1"); w.commitAll("first") }, "main", 0, false},
		{"edited, new and deleted", func(w *world) {
			w.write("a", "1")
			w.write("b", "1")
			w.commitAll("first")
			w.write("a", "2")
			w.write("new/file", "x")
			w.remove("b")
		}, "main", 3, false},
		{"staged and changed back", func(w *world) {
			w.write("a", "1")
			w.commitAll("first")
			w.write("a", "2")
			w.git("add", "a")
			w.stage()
			w.write("a", "1")
		}, "main", 0, false},
		{"unborn", func(w *world) { w.write("a", "1"); w.git("add", "a"); w.write("b", "2") }, "main", 2, true},
		{"empty", func(*world) {}, "main", 0, true},
		{"detached", func(w *world) { w.commitAll("first"); w.git("checkout", "-q", "--detach") }, "", 0, false},
		{"branch with slashes", func(w *world) { w.commitAll("first"); w.git("checkout", "-q", "-b", "a/ü") }, "a/ü", 0, false},
		{"left out", func(w *world) { w.write(".env", "A=1"); w.commitAll("first") }, "main", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.setup(w)
			snap := w.take(snapshot.Options{})
			got, err := w.store.Load(context.Background(), snap.ID)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(snap, got); d != "" {
				t.Errorf("loaded differs (-taken +loaded):\n%s", d)
			}
			if snap.Branch != tt.branch || snap.Dirty != tt.dirty || snap.Parent.IsZero() != tt.unborn {
				t.Errorf("got %+v, want branch %q, dirty %d, unborn %t", snap, tt.branch, tt.dirty, tt.unborn)
			}
			ref := "refs/ftl/snapshots/" + snap.ID
			if got := w.git("rev-parse", ref, ref+"^{tree}"); got != snap.Commit.String()+"\n"+snap.Tree.String() {
				t.Errorf("ref has %s", got)
			}
			if got := w.git("show", "-s", "--format=%an <%ae> %cn <%ce> %at", ref); got !=
				"git-ftl <git-ftl@localhost> git-ftl <git-ftl@localhost> 1700000000" {
				t.Errorf("commit is by %s", got)
			}
			w.git("fsck", "--strict", "--no-dangling")
		})
	}
}

func TestLoadUnknown(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"klmn", "", "abcd", "../x", "HEAD", "kkkk^{tree}"} {
		if _, err := w.store.Load(context.Background(), id); !errors.Is(err, snapshot.ErrUnknown) {
			t.Errorf("Load(%q): %v", id, err)
		}
	}
}

func TestTakeRefusesUsedID(t *testing.T) {
	w := newWorld(t)
	w.commitAll("first")
	w.take(snapshot.Options{ID: "klmn"})
	w.write("a", "1")
	_, err := w.store.Take(context.Background(), snapshot.Options{ID: "klmn", Now: time.Unix(1, 0)})
	if !errors.Is(err, git.ErrMoved) {
		t.Fatalf("second Take: %v", err)
	}
	w.checkParity("after the refusal")
}

func TestNewID(t *testing.T) {
	id, err := snapshot.NewID(func(string) bool { return false })
	if err != nil || len(id) != 4 || strings.Trim(id, "klmnopqrstuvwxyz") != "" {
		t.Errorf("NewID: %q, %v", id, err)
	}
	id, err = snapshot.NewID(func(id string) bool { return len(id) < 6 })
	if err != nil || len(id) != 6 {
		t.Errorf("NewID with short ones taken: %q, %v", id, err)
	}
	if id, err = snapshot.NewID(func(string) bool { return true }); err == nil {
		t.Errorf("NewID with all taken: %q", id)
	}
}

// TestUserStateIsUntouched holds the promise that a snapshot writes nothing but
// objects, refs/ftl and the state folder.
func TestUserStateIsUntouched(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	w.write("dir/b", "1")
	w.write(".gitignore", "*.log\n")
	w.commitAll("first")
	w.write("a", "stashed")
	w.git("stash", "-q")
	w.write("dir/b", "staged")
	w.git("add", "dir/b")
	w.write("dir/b", "edited")
	w.write("new", "untracked")
	w.write("x.log", "ignored")
	w.write(".env", "SECRET=1")
	before := w.userState()
	for range 3 {
		w.take(snapshot.Options{})
		w.stage()
	}
	if d := cmp.Diff(before, w.userState()); d != "" {
		t.Errorf("user state changed (-before +after):\n%s", d)
	}
}

// userState is everything of a repository that is the user's: bytes and times
// of all files, less the objects and what git-ftl owns.
func (w *world) userState() map[string]string {
	w.Helper()
	state := map[string]string{}
	err := filepath.WalkDir(w.dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.dir, p)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case rel == ".git/git-ftl", rel == ".git/objects", strings.HasSuffix(rel, "refs/ftl"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		state[rel] = info.ModTime().String() + info.Mode().String() + string(data)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	state["status"] = w.git("--no-optional-locks", "status", "--porcelain=v2", "--branch", "--show-stash")
	state["refs"] = w.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/stash", "refs/tags")
	return state
}

// TestOddRepositories compares with git itself where repositories are unusual.
func TestOddRepositories(t *testing.T) {
	tests := []struct {
		name  string
		setup func(w *world)
	}{
		{"linked work tree", func(w *world) {
			w.write("a", "1")
			w.commitAll("first")
			dir := filepath.Join(w.TempDir(), "linked")
			w.git("worktree", "add", "-q", dir)
			w.dir = dir
			w.open()
			w.write("only-here", "2")
		}},
		{"sparse checkout", func(w *world) {
			w.write("in/a", "1")
			w.write("out/b", "1")
			w.commitAll("first")
			w.git("sparse-checkout", "set", "in")
			w.write("in/a", "2")
		}},
		{"sparse index", func(w *world) {
			w.write("in/a", "1")
			w.write("out/b", "1")
			w.commitAll("first")
			w.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
			w.write("in/new", "2")
		}},
		{"alternates", func(w *world) {
			w.write("a", "1")
			w.write("b", "1")
			w.commitAll("first")
			dir := filepath.Join(w.TempDir(), "clone")
			w.git("clone", "-q", "--shared", ".", dir)
			w.dir = dir
			w.open()
			w.write("a", "2")
		}},
		{"autocrlf", func(w *world) {
			w.git("config", "core.autocrlf", "true")
			w.git("config", "core.safecrlf", "true")
			w.write("a", "1\r\n2\r\n")
			w.commitAll("first")
			w.write("b", "1\r\n2\r\n")
		}},
		{"split index", func(w *world) {
			w.git("config", "core.splitIndex", "true")
			w.write("a", "1")
			w.commitAll("first")
			w.write("b", "1")
			w.git("add", "b")
			w.write("c", "1")
		}},
		{"untracked cache", func(w *world) {
			w.git("config", "core.untrackedCache", "true")
			w.write("a", "1")
			w.commitAll("first")
			w.write("d/b", "1")
			w.git("status")
		}},
		{"odd names", func(w *world) {
			for _, name := range []string{"sp ace", "tab\t", "new\nline", `quote"s'`, `back\slash`, "-dash", ":(top)x", "*", "?", "[a]", "ünï", "bad\xff\xfe", " ", "#x", "!y"} {
				w.write(name, name)
				w.write("dir/"+name, name)
			}
			w.commitAll("first")
			w.write("-new", "x")
			w.write(":(glob)**", "x")
			w.write("dir/bad\xff\xfe", "2")
		}},
		{"deep folders", func(w *world) { w.write(strings.Repeat("d/", 300)+"f", "1") }},
		{"intent to add", func(w *world) {
			w.commitAll("first")
			w.write("a", "1")
			w.write("empty", "")
			w.git("add", "-N", "a", "empty")
		}},
		{"conflicts", func(w *world) {
			w.write("a", "base\n")
			w.write("gone", "base\n")
			w.commitAll("first")
			w.git("checkout", "-q", "-b", "other")
			w.write("a", "theirs\n")
			w.write("gone", "theirs\n")
			w.commitAll("theirs")
			w.git("checkout", "-q", "main")
			w.write("a", "ours\n")
			w.remove("gone")
			w.commitAll("ours")
			_, _ = w.try("merge", "other")
			w.remove("gone")
		}},
		{"submodule at another commit", func(w *world) {
			sub := w.addSubmodule()
			w.commitAll("first")
			sub.write("more", "1")
			sub.commitAll("second")
			sub.write("dirty", "not part of it")
		}},
		{"file mode is ignored", func(w *world) {
			w.git("config", "core.fileMode", "false")
			w.write("a", "1")
			w.commitAll("first")
			w.git("update-index", "--chmod=+x", "a")
			w.write("a", "2")
		}},
		{"case only rename", func(w *world) { w.write("a", "1"); w.commitAll("first"); w.git("mv", "a", "A") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.setup(w)
			w.checkParity("first")
			w.checkParity("again")
			w.write("later", "x")
			w.checkParity("after a new file")
			w.git("add", "later")
			w.checkParity("after it was added")
		})
	}
}

// addSubmodule adds a repository of one file at sub/.
func (w *world) addSubmodule() *world {
	w.Helper()
	origin := newWorld(w.TB)
	origin.write("in-sub", "1")
	origin.commitAll("sub")
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", origin.dir, "sub")
	sub := &world{TB: w.TB, dir: w.path("sub")}
	sub.git("config", "user.name", "Ada")
	sub.git("config", "user.email", "ada@example.com")
	return sub
}

// TestNothingOfTheRepositoryRuns sets every program that git could start.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	w.commitAll("first")
	mark := filepath.Join(w.TempDir(), "ran")
	script := "#!/bin/sh\ntouch " + mark + "\n"
	for _, hook := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-checkout", "fsmonitor-watchman"} {
		w.write(".git/hooks/"+hook, script)
		if err := os.Chmod(w.path(".git/hooks/"+hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.git("config", "core.fsmonitor", w.path(".git/hooks/fsmonitor-watchman"))
	w.git("config", "diff.external", w.path(".git/hooks/pre-commit"))
	w.git("status") // the user's own git obeys
	if _, err := os.Stat(mark); err != nil {
		t.Fatal("the trap does not work:", err)
	}
	w.git("config", "core.fsmonitor", "false")
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	w.git("config", "core.fsmonitor", w.path(".git/hooks/fsmonitor-watchman"))
	w.write("a", "2")
	w.write("b", "2")
	snap := w.take(snapshot.Options{})
	if _, err := w.store.Export(context.Background(), snap, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
}
