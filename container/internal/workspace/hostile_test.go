//go:build linux

package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// TestHostileTreesAreReverted: each row does what an agent could do to a
// workspace, says what the patch then has, and is undone by a reset.
func TestHostileTreesAreReverted(t *testing.T) {
	base := files{"a.txt": "644 one\n", "b.sh": "755 two\n", "dir/c": "644 three\n", "l": "link a.txt", ".gitignore": "644 *.log\n"}
	for _, tt := range []struct {
		name    string
		do      func(t *testing.T, root string)
		patch   []string // lines that the patch must have, none for an empty patch
		dropped []wire.Dropped
	}{
		{"FIFO", func(t *testing.T, root string) {
			must(t, unix.Mkfifo(filepath.Join(root, "pipe"), 0o666))
		}, nil, []wire.Dropped{{Path: "pipe", Why: "special"}}},
		{"FIFO in place of a file", func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "a.txt")))
			must(t, unix.Mkfifo(filepath.Join(root, "a.txt"), 0o666))
		}, []string{"deleted file mode 100644"}, []wire.Dropped{{Path: "a.txt", Why: "special"}}},
		{"socket", func(t *testing.T, root string) {
			must(t, unix.Mknod(filepath.Join(root, "sock"), unix.S_IFSOCK|0o666, 0))
		}, nil, []wire.Dropped{{Path: "sock", Why: "special"}}},
		{"forged mtime with equal size", func(t *testing.T, root string) {
			name := filepath.Join(root, "a.txt")
			info, err := os.Stat(name)
			must(t, err)
			must(t, os.WriteFile(name, []byte("two\n"), 0o644))
			must(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
		}, []string{"-one", "+two"}, nil},
		{"hard link between files", func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "dir/c")))
			must(t, os.Link(filepath.Join(root, "a.txt"), filepath.Join(root, "dir/c")))
		}, []string{"-three", "+one"}, nil},
		{"unreadable file", func(t *testing.T, root string) {
			must(t, os.Chmod(filepath.Join(root, "b.sh"), 0))
		}, []string{"old mode 100755", "new mode 100644"}, nil},
		{"folder without permissions", func(t *testing.T, root string) {
			must(t, os.WriteFile(filepath.Join(root, "dir/new"), []byte("x"), 0))
			must(t, os.Chmod(filepath.Join(root, "dir"), 0))
		}, []string{"diff --git a/dir/new b/dir/new"}, nil},
		{"set-user bits and other modes", func(t *testing.T, root string) {
			must(t, unix.Chmod(filepath.Join(root, "a.txt"), 0o6666))
		}, nil, nil},
		{"folder becomes a link out of the workspace", func(t *testing.T, root string) {
			must(t, os.Rename(filepath.Join(root, "dir"), filepath.Join(root, "other")))
			must(t, os.Symlink("/etc", filepath.Join(root, "dir")))
		}, []string{"deleted file mode 100644", "new file mode 120000", "+/etc"}, nil},
		{"file becomes a link to a secret", func(t *testing.T, root string) {
			must(t, os.Remove(filepath.Join(root, "a.txt")))
			must(t, os.Symlink("/etc/shadow", filepath.Join(root, "a.txt")))
		}, []string{"+/etc/shadow"}, nil},
		{"nested repository", func(t *testing.T, root string) {
			put(t, root, "sub/.git/config", "644 x")
			put(t, root, "sub/.GIT", "644 x")
		}, nil, []wire.Dropped{{Path: "sub/.GIT", Bytes: 1, Why: "repository"}, {Path: "sub/.git", Bytes: 1, Why: "repository"}}},
		{"litter and ignored files", func(t *testing.T, root string) {
			put(t, root, "dir/node_modules/x/index.js", "644 12345")
			put(t, root, "x.log", "644 123")
			put(t, root, "dir/m.pyc", "644 1")
			put(t, root, "keep.txt", "644 1")
		}, []string{"diff --git a/keep.txt b/keep.txt"}, []wire.Dropped{
			{Path: "dir/m.pyc", Bytes: 1, Why: "litter"}, {Path: "dir/node_modules", Bytes: 5, Why: "litter"},
			{Path: "x.log", Bytes: 3, Why: "ignored"}}},
		{"the agent's own ignore rules do not hide work", func(t *testing.T, root string) {
			put(t, root, ".gitignore", "644 *\n")
			put(t, root, "dir/.gitignore", "644 *\n")
			put(t, root, "hidden", "644 x")
		}, []string{"diff --git a/hidden b/hidden"}, nil},
		{"default ACL and attributes on a folder", func(t *testing.T, root string) {
			must(t, unix.Setxattr(filepath.Join(root, "dir"), "user.x", []byte("y"), 0))
		}, nil, nil},
		{"hooks and config in .git", func(t *testing.T, root string) {
			put(t, root, ".git/hooks/post-checkout", "755 #!/bin/sh\n")
			must(t, os.WriteFile(filepath.Join(root, ".git/config"), []byte("[alias]\n\tst = !x\n"), 0o644))
		}, nil, nil},
		{".git becomes a link", func(t *testing.T, root string) {
			must(t, os.RemoveAll(filepath.Join(root, ".git")))
			must(t, os.Symlink("/etc", filepath.Join(root, ".git")))
		}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpace(t)
			resetAll(t, s, "b1", base)
			tt.do(t, s.Root)
			patch, dropped := change(t, s)
			for _, line := range tt.patch {
				if !strings.Contains(patch, line+"\n") {
					t.Errorf("the patch has no line %q:\n%s", line, patch)
				}
			}
			if tt.patch == nil && patch != "" {
				t.Errorf("the patch is not empty:\n%s", patch)
			}
			if diff := cmp.Diff(tt.dropped, dropped); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			reseti(t, s, wire.Reset{ID: "b1", From: "b1"})
			wantBase(t, s, base)
			wantSound(t, s, "a.txt", "b.sh", "dir", "dir/c", "l")
		})
	}
}

// wantSound checks owner, links, attributes and the .git of a reset workspace.
func wantSound(t *testing.T, s Space, paths ...string) {
	t.Helper()
	for _, p := range paths {
		var st unix.Stat_t
		must(t, unix.Lstat(filepath.Join(s.Root, p), &st))
		attrs, _ := unix.Llistxattr(filepath.Join(s.Root, p), nil)
		if st.Uid != uint32(s.UID) || st.Gid != uint32(s.UID) || st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink != 1 || attrs != 0 {
			t.Errorf("%s: uid %d gid %d links %d attributes %d", p, st.Uid, st.Gid, st.Nlink, attrs)
		}
	}
	if _, err := os.Lstat(filepath.Join(s.Root, ".git/hooks")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf(".git/hooks: %v", err)
	}
	config, err := os.ReadFile(filepath.Join(s.Root, ".git/config"))
	if err != nil || string(config) != gitConfig {
		t.Errorf(".git/config: %q, %v", config, err)
	}
}

// TestDeepTree: a path of 3,000 long names has far more bytes than any call
// takes and more levels than there are descriptors.
func TestDeepTree(t *testing.T) {
	limit := lowerDescriptors(t)
	defer limit()
	s := newSpace(t)
	base := files{"a": "644 x"}
	resetAll(t, s, "b1", base)
	r, err := openRoot(s.Root)
	must(t, err)
	fd := r.fd
	name := strings.Repeat("n", 200)
	for range 3000 {
		must(t, unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		must(t, err)
		must(t, unix.Symlinkat("x", fd, "link"))
		must(t, unix.Close(fd))
		fd = next
	}
	must(t, unix.Close(fd))
	patch, dropped := change(t, s)
	if got := strings.Count(patch, "new file mode 120000"); got != 21 {
		t.Errorf("%d links in the patch, want those whose path is short enough", got)
	}
	if len(dropped) != 1 || dropped[0].Why != "long path" {
		t.Errorf("dropped %v", dropped)
	}
	reseti(t, s, wire.Reset{ID: "b1", From: "b1"})
	wantBase(t, s, base)
}

// lowerDescriptors allows few open files until the returned call.
func lowerDescriptors(t *testing.T) func() {
	var old unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: old.Max}))
	return func() { must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)) }
}

func TestSparseTerabyteCostsNothing(t *testing.T) {
	s := newSpace(t)
	base := files{"a": "644 x", "b": "644 y"}
	resetAll(t, s, "b1", base)
	for _, p := range []string{"a", "new"} {
		put(t, s.Root, p, "644 ")
		must(t, os.Truncate(filepath.Join(s.Root, p), 1<<40))
	}
	start := time.Now()
	if _, err := s.Scan(); !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("Scan: %v", err)
	}
	reseti(t, s, wire.Reset{ID: "b1", From: "b1"})
	if took := time.Since(start); took > time.Minute { // reading it takes far longer
		t.Errorf("took %s", took)
	}
	wantBase(t, s, base)
}

func TestPatchOverItsBoundIsAnError(t *testing.T) {
	s := newSpace(t)
	resetAll(t, s, "b1", files{"a": "644 x"})
	put(t, s.Root, "new", "644 "+strings.Repeat("line\n", 1000))
	c, err := s.Scan()
	must(t, err)
	defer c.Close()
	var out strings.Builder
	if err := c.Write(&out, 1000); !errors.Is(err, ErrTooBig) || !strings.Contains(err.Error(), `"new"`) {
		t.Errorf("Write: %v", err)
	}
	if strings.Contains(out.String(), "ftl-end") {
		t.Error("a patch that was cut has an end line")
	}
}

// TestOpenByElementsFollowsNoLink: kernels without openat2 get the same.
func TestOpenByElementsFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "d/e/f", "644 x")
	must(t, os.Symlink("d", filepath.Join(dir, "l")))
	r, err := openRoot(dir)
	must(t, err)
	defer r.close()
	for _, tt := range []struct {
		path string
		ok   bool
	}{{"d/e/f", true}, {"l/e/f", false}, {"d/x", false}} {
		fd, err := r.openByElements(tt.path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.path, err)
		}
		if err == nil {
			must(t, unix.Close(fd))
		}
		fd, err = r.open(tt.path, unix.O_RDONLY)
		if (err == nil) != tt.ok {
			t.Errorf("openat2 %s: %v", tt.path, err)
		}
		if err == nil {
			must(t, unix.Close(fd))
		}
	}
}

func TestManyEntriesAreBounded(t *testing.T) {
	w := &walker{}
	w.wake.L = &w.mu
	s := newSpace(t)
	for i := range 3 {
		put(t, s.Root, fmt.Sprint(i), "644 x")
	}
	r, err := openRoot(s.Root)
	must(t, err)
	defer r.close()
	w.root, w.enter, w.todo, w.pending, w.seen = r, func(string) bool { return true }, []*folder{{}}, 1, maxEntries-2
	w.work()
	if !errors.Is(w.err, ErrTooBig) {
		t.Errorf("walk: %v", w.err)
	}
}

// TestGitStatusInsideIsClean reads the .git that a reset makes, as the agent's
// git does.
func TestGitStatusInsideIsClean(t *testing.T) {
	base := files{"a": "644 one\n", "d/b": "755 two\n", "l": "link a", strings.Repeat("long/", 60) + "x": "644 three\n", "sub": "submodule "}
	for _, tt := range []struct{ name, branch, want string }{
		{"branch", "feature/x", "# branch.head feature/x\n"},
		{"detached", "", "# branch.head (detached)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpace(t)
			lay(t, s.Tree, base)
			commit := commitTree(t, s, base)
			reseti(t, s, wire.Reset{ID: "b1", All: true, Changed: wireFiles(base), Commit: commit, Branch: tt.branch, Ignored: []string{"*.tmp"}})
			put(t, s.Root, "x.tmp", "644 ignored")
			got := git(t, s.Root, "", "status", "--porcelain=v2", "--branch")
			if want := "# branch.oid " + commit + "\n" + tt.want; got != want {
				t.Errorf("git status:\n%swant\n%s", got, want)
			}
			git(t, s.Root, "", "fsck")
			if out := git(t, s.Root, "", "log", "--format=%s"); out != "base\n" {
				t.Errorf("git log: %q", out)
			}
		})
	}
}

func commitTree(t *testing.T, s Space, base files) string {
	t.Helper()
	must(t, os.RemoveAll(s.Objects))
	dir := t.TempDir()
	git(t, dir, "", "init", "-q", "--bare")
	var list strings.Builder
	for _, f := range wireFiles(base) {
		if f.Mode != modeGitlink {
			_, content, _ := strings.Cut(base[string(f.Path)], " ")
			git(t, dir, content, "hash-object", "-w", "--stdin")
		}
		fmt.Fprintf(&list, "%o %s\t%s\n", f.Mode, f.Object, f.Path)
	}
	git(t, dir, list.String(), "update-index", "--add", "--index-info")
	tree := strings.TrimSpace(git(t, dir, "", "write-tree"))
	commit := strings.TrimSpace(git(t, dir, "", "-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", "base", tree))
	must(t, exec.Command("cp", "-r", filepath.Join(dir, "objects"), s.Objects).Run())
	return commit
}
