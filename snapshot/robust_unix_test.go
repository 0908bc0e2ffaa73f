//go:build unix

package snapshot_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/google/go-cmp/cmp"
)

func TestSpecialFiles(t *testing.T) {
	w := newWorld(t)
	w.writeAll("was-file", "a")
	w.commitAll("first")
	w.remove("was-file")
	for _, name := range []string{"was-file", "new-fifo"} {
		if err := syscall.Mkfifo(w.path(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	st := w.stage()
	if d := cmp.Diff([]string{"a"}, w.files(st.Tree.String())); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]snapshot.LeftOut{{Path: "was-file", Why: "neither a file nor a symbolic link"}}, st.LeftOut); d != "" {
		t.Error(d)
	}
}

// TestUnreadableFiles runs as another user where root would read everything.
func TestUnreadableFiles(t *testing.T) {
	if os.Getuid() == 0 {
		runAs(t, 65534)
		return
	}
	w := newWorld(t)
	w.writeAll("tracked", "a")
	w.commitAll("first")
	w.writeAll("untracked", "b", "d/c")
	for _, name := range []string{"tracked", "untracked"} {
		if err := os.Chmod(w.path(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	st := w.stage()
	if d := cmp.Diff([]string{"a", "b", "d/c"}, w.files(st.Tree.String())); d != "" {
		t.Error(d)
	}
	want := []snapshot.LeftOut{
		{Path: "tracked", Why: "cannot be read: permission denied"}, {Path: "untracked", Why: "cannot be read: permission denied"},
	}
	if d := cmp.Diff(want, st.LeftOut); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"tracked", "untracked"} {
		if err := os.Chmod(w.path(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.checkParity("readable again")
}

// runAs runs this very test once more as another user.
func runAs(t *testing.T, uid uint32) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "ftl-as-user")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	bin := filepath.Join(tmp, "test")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(bin, data, 0o755)
	}
	if err == nil {
		err = os.Chmod(tmp, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = tmp, append(os.Environ(), "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as user %d: %v\n%s", uid, err, out)
	}
}

// TestModesUnderStrictUmask: objects of snapshots are private, exports are
// readable to the sandbox's user whatever the umask is.
func TestModesUnderStrictUmask(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	w.commitAll("first")
	w.write("private/b", "of mode 0600")
	had := objectFiles(t, w.path(".git/objects"))
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	snap := w.take(snapshot.Options{})
	export, err := w.store.Export(context.Background(), snap, "x")
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range objectFiles(t, w.path(".git/objects")) {
		if _, known := had[name]; !known && mode&0o077 != 0 {
			t.Errorf("object %s has mode %v", name, mode)
		}
	}
	for _, part := range []string{"tree", "objects"} {
		err := filepath.WalkDir(filepath.Join(export.Dir, part), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := fs.FileMode(0o444)
			if d.IsDir() {
				want = 0o555
			}
			if err == nil && info.Mode()&want != want {
				t.Errorf("%s has mode %v", p, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(w.path(".git/git-ftl")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("state folder: %v, %v", info.Mode(), err)
	}
}

func objectFiles(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	modes := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && !slices.Contains([]string{".", "/"}, p) {
			modes[p] = info.Mode().Perm()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return modes
}
