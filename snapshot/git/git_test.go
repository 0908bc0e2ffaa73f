package git_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// env is a user's environment without the machine's own git settings.
func env(t *testing.T) []string {
	t.Helper()
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@x"}
}

type dir struct {
	t    *testing.T
	path string
	env  []string
}

func newDir(t *testing.T) dir {
	t.Helper()
	path, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := dir{t, path, env(t)}
	d.git("init", "-q", "-b", "main")
	return d
}

func (d dir) git(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = d.path, d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (d dir) write(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d dir) open() *git.Repo {
	d.t.Helper()
	r, err := git.Open(d.t.Context(), d.path, d.env)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func TestOpen(t *testing.T) {
	d := newDir(t)
	d.write("a/b", "x")
	d.git("add", ".")
	d.git("commit", "-qm", "one")
	linked := filepath.Join(d.path, "..", filepath.Base(d.path)+"-linked")
	d.git("worktree", "add", "-q", linked)
	linked, _ = filepath.Abs(linked)
	t.Cleanup(func() { os.RemoveAll(linked) })

	for _, tc := range []struct {
		name, dir      string
		env            []string
		top, prefix    string
		linked         bool
		key, commonDir string
	}{
		{"top", d.path, d.env, d.path, "", false, "main", filepath.Join(d.path, ".git")},
		{"subdirectory", filepath.Join(d.path, "a"), d.env, d.path, "a", false, "main", filepath.Join(d.path, ".git")},
		{"linked work tree", linked, d.env, linked, "", true, "wt-" + filepath.Base(linked), filepath.Join(d.path, ".git")},
		{"GIT_DIR", t.TempDir(), append(d.env, "GIT_DIR="+filepath.Join(d.path, ".git"), "GIT_WORK_TREE="+d.path), d.path, "", false, "main", filepath.Join(d.path, ".git")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "GIT_DIR" {
				tc.dir = d.path
			}
			r, err := git.Open(t.Context(), tc.dir, tc.env)
			if err != nil {
				t.Fatal(err)
			}
			got := []any{r.Dir, r.Prefix, r.Linked(), r.Key(), r.CommonDir}
			if diff := cmp.Diff([]any{tc.top, tc.prefix, tc.linked, tc.key, tc.commonDir}, got); diff != "" {
				t.Error(diff)
			}
			info, err := os.Stat(r.State)
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("state folder: %v %v", info, err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "bare.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", bare).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	sha256 := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "--object-format=sha256", sha256).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, tc := range []struct {
		name, dir, text string
		is              error
	}{
		{"no repository", t.TempDir(), "not in a git work tree", git.ErrNotRepository},
		{"bare repository", bare, "not in a git work tree", git.ErrNotRepository},
		{"sha256", sha256, "sha256 object names are not supported", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := git.Open(t.Context(), tc.dir, env(t))
			if err == nil || !strings.Contains(err.Error(), tc.text) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOpenOldGit(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\necho git version 2.37.9\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	_, err := git.Open(t.Context(), t.TempDir(), []string{"PATH=" + bin})
	if !errors.Is(err, git.ErrTooOld) || !strings.Contains(err.Error(), "2.37.9") {
		t.Errorf("got %v", err)
	}
}

// TestHostileConfig runs calls in a repository whose config names programs.
func TestHostileConfig(t *testing.T) {
	d := newDir(t)
	mark := filepath.Join(t.TempDir(), "ran")
	d.write(".git/hooks/reference-transaction", "#!/bin/sh\ntouch "+mark+"\n")
	if err := os.Chmod(filepath.Join(d.path, ".git/hooks/reference-transaction"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "x")
	d.git("config", "core.fsmonitor", "touch "+mark)
	d.write("f", "x")
	r := d.open()
	if _, err := r.Line(t.Context(), "status", "--porcelain"); err != nil {
		t.Fatal(err)
	}
	head, err := r.Ref(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.UpdateRefs(t.Context(), "test", git.RefUpdate{Name: "refs/ftl/x", New: head}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a program of the repository's config ran")
	}
}

func TestUpdateRefs(t *testing.T) {
	d := newDir(t)
	d.git("commit", "-q", "--allow-empty", "-m", "one")
	one := plumbing.NewHash(d.git("rev-parse", "HEAD"))
	d.git("commit", "-q", "--allow-empty", "-m", "two")
	two := plumbing.NewHash(d.git("rev-parse", "HEAD"))
	r, ctx := d.open(), t.Context()

	if err := r.UpdateRefs(ctx, "make", git.RefUpdate{Name: "refs/ftl/a", New: one}, git.RefUpdate{Name: "refs/ftl/b", New: two}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		move git.RefUpdate
	}{
		{"exists", git.RefUpdate{Name: "refs/ftl/a", New: two}},
		{"elsewhere", git.RefUpdate{Name: "refs/ftl/a", New: two, Old: two}},
		{"absent", git.RefUpdate{Name: "refs/ftl/none", New: two, Old: one}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := r.UpdateRefs(ctx, "lose", git.RefUpdate{Name: "refs/ftl/b", New: one, Old: two}, tc.move)
			if !errors.Is(err, git.ErrMoved) {
				t.Errorf("got %v, want ErrMoved", err)
			}
			if got, _ := r.Ref(ctx, "refs/ftl/b"); got != two {
				t.Errorf("the other move of a failed transaction stayed: %s", got)
			}
		})
	}
	if err := r.UpdateRefs(ctx, "end", git.RefUpdate{Name: "refs/ftl/b", Old: two}, git.RefUpdate{Name: "refs/ftl/a", New: two, Any: true}); err != nil {
		t.Fatal(err)
	}
	refs, err := r.Refs(ctx, "refs/ftl/")
	if diff := cmp.Diff(map[string]plumbing.Hash{"refs/ftl/a": two}, refs); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if log := d.git("reflog", "show", "ftl/a"); strings.Count(log, "\n") != 1 {
		t.Errorf("reflog:\n%s", log)
	}
}

// TestRefsBesidePackRefs moves a ref again and again while packed-refs is
// rewritten: none may be lost, none may stay behind.
func TestRefsBesidePackRefs(t *testing.T) {
	d := newDir(t)
	var commits []plumbing.Hash
	for range 2 {
		d.git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(len(commits)))
		commits = append(commits, plumbing.NewHash(d.git("rev-parse", "HEAD")))
	}
	r := d.open()
	stop := make(chan struct{})
	var packing sync.WaitGroup
	packing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := r.Do(context.Background(), git.Call{Args: []string{"pack-refs", "--all"}}); err != nil && !strings.Contains(err.Error(), "lock") {
					t.Error(err)
					return
				}
			}
		}
	})
	end := sync.OnceFunc(func() { close(stop); packing.Wait() })
	defer end()
	var old plumbing.Hash
	for i := range 1000 {
		next := commits[i%2]
		if err := r.UpdateRefs(t.Context(), "step", git.RefUpdate{Name: "refs/ftl/step", New: next, Old: old}); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		old = next
	}
	end()
	d.git("fsck", "--strict")
}

// TestRewrite compares trees made from random changes with git's own.
func TestRewrite(t *testing.T) {
	d := newDir(t)
	d.git("commit", "-q", "--allow-empty", "-m", "x")
	r := d.open()
	o := r.Objects(t.Context())
	defer o.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a.b", "b", "b/c", "b/c/d", "b/e", "a/x", "a-/y", "ö\t\"q"}
	base := plumbing.ZeroHash
	files := map[string]string{}
	for step := range 60 {
		var changes []git.Change
		before := maps(files)
		for range 1 + rnd.IntN(3) {
			name := names[rnd.IntN(len(names))]
			if _, there := files[name]; there && rnd.IntN(2) == 0 {
				delete(files, name)
				continue
			}
			for other := range files {
				if strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
					delete(files, other)
				}
			}
			files[name] = fmt.Sprint(step, name)
		}
		for name := range before {
			if _, there := files[name]; !there {
				changes = append(changes, git.Change{Path: name})
			}
		}
		for name, content := range files {
			h, err := o.WriteBlob([]byte(content))
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, git.Change{Path: name, New: git.Entry{Mode: filemode.Regular, Hash: h}})
		}
		tree, err := o.Rewrite(base, changes)
		if err != nil {
			t.Fatal(err)
		}
		if want := gitTree(d, files); want != tree.String() {
			t.Fatalf("step %d: tree %s, want %s for %v", step, tree, want, files)
		}
		checkDiff(t, o, base, tree)
		base = tree
	}
}

func maps(m map[string]string) map[string]string {
	c := map[string]string{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func gitTree(d dir, files map[string]string) string {
	d.t.Helper()
	index := filepath.Join(d.t.TempDir(), "index")
	d.env = append(d.env, "GIT_INDEX_FILE="+index)
	d.git("read-tree", "--empty")
	for name, content := range files {
		blob := filepath.Join(d.t.TempDir(), "blob")
		if err := os.WriteFile(blob, []byte(content), 0o644); err != nil {
			d.t.Fatal(err)
		}
		d.git("update-index", "--add", "--cacheinfo", "100644,"+d.git("hash-object", "-w", blob)+","+name)
	}
	return d.git("write-tree")
}

// checkDiff applies the difference of two trees to the first and wants the second.
func checkDiff(t *testing.T, o *git.Objects, old, new plumbing.Hash) {
	t.Helper()
	changes, err := o.Diff(old, new)
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Rewrite(old, changes)
	if err != nil || got != new {
		t.Fatalf("diff of %s and %s does not lead there: %s %v", old, new, got, err)
	}
}

func TestObjects(t *testing.T) {
	d := newDir(t)
	d.git("commit", "-q", "--allow-empty", "-m", "x")
	r := d.open()
	o := r.Objects(t.Context())
	o.Batch()
	h, err := o.WriteBlob([]byte("batched"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := o.Blob(h); err != nil || string(got) != "batched" {
		t.Errorf("read before Flush: %q %v", got, err)
	}
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := d.git("cat-file", "-p", h.String()); got != "batched" {
		t.Errorf("git reads %q", got)
	}
	tree, err := o.WriteTree([]object.TreeEntry{{Name: "f", Mode: filemode.Regular, Hash: h}})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := o.Lookup(tree, "f"); err != nil || e.Hash != h {
		t.Errorf("Lookup: %v %v", e, err)
	}
	if e, err := o.Lookup(tree, "f/g"); err != nil || e != (git.Entry{}) {
		t.Errorf("Lookup below a file: %v %v", e, err)
	}
	if _, err := o.Blob(plumbing.NewHash("1234567890123456789012345678901234567890")); !errors.Is(err, git.ErrMissing) {
		t.Errorf("missing object: %v", err)
	}
	if _, err := o.Blob(tree); err == nil {
		t.Error("a tree was read as a blob")
	}
	if got, err := o.Blob(h); err != nil || string(got) != "batched" {
		t.Errorf("read after a refusal: %q %v", got, err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	d.git("fsck", "--strict")
}

func TestLock(t *testing.T) {
	r := newDir(t).open()
	unlock, err := r.Lock(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, held, err := r.TryLock("x"); held || err != nil {
		t.Errorf("a second holder: %v %v", held, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := r.Lock(short, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting ended with %v", err)
	}
	unlock()
	again, held, err := r.TryLock("x")
	if !held || err != nil {
		t.Fatalf("after unlock: %v %v", held, err)
	}
	again()
}

func TestSweep(t *testing.T) {
	r := newDir(t).open()
	if err := r.WriteState("applied/main/1.json", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tasks/.new-1", "applied/main/.new-2", "applied/main/.new-young"} {
		if err := r.WriteState(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"tasks/.new-1", "applied/main/.new-2", "applied/main/1.json"} {
		if err := os.Chtimes(r.Path(filepath.FromSlash(name)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Sweep(time.Now()); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, name := range []string{"tasks/.new-1", "applied/main/.new-2", "applied/main/.new-young", "applied/main/1.json"} {
		if _, err := r.ReadState(name); err == nil {
			left = append(left, name)
		}
	}
	if diff := cmp.Diff([]string{"applied/main/.new-young", "applied/main/1.json"}, left); diff != "" {
		t.Error(diff)
	}
}

func TestState(t *testing.T) {
	r := newDir(t).open()
	for _, content := range []string{"one", "two"} {
		if err := r.WriteState("a/b.json", []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := r.ReadState("a/b.json")
		if err != nil || string(got) != content {
			t.Errorf("%q %v", got, err)
		}
	}
	info, err := os.Stat(r.Path("a", "b.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := r.ReadState("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
