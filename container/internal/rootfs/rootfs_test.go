//go:build linux

package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	root := Root{Dir: t.TempDir(), UID: uint32(os.Getuid())}
	for _, dir := range []string{"a/b", "open"} {
		must(t, os.MkdirAll(filepath.Join(root.Dir, dir), 0o755))
	}
	must(t, os.Chmod(filepath.Join(root.Dir, "open"), 0o777))
	for name, target := range map[string]string{
		"a/up": "../a/b/f", "a/abs": "/a/b/f", "a/out": "../../../../a/b/f", "dir": "a/b", "a/open": "/open/x", "loop": "loop",
	} {
		must(t, os.Symlink(target, filepath.Join(root.Dir, name)))
	}
	must(t, os.WriteFile(filepath.Join(root.Dir, "a/b/f"), []byte("x"), 0o644))
	for _, row := range []struct {
		name, place string
		found, bad  bool
	}{
		{"/a/b/f", "/a/b/f", true, false},
		{"/a/up", "/a/b/f", true, false},
		{"/a/abs", "/a/b/f", true, false},
		{"/a/out", "/a/b/f", true, false},
		{"/dir/f", "/a/b/f", true, false},
		{"/dir/../b/f", "/a/b/f", true, false},
		{"/dir/new", "/a/b/new", false, false},
		{"/no/new", "", false, true},
		{"/a/open", "", false, true},
		{"/open/x", "", false, true},
		{"/loop", "", false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			place, found, err := root.Find(row.name)
			if place != row.place || found != row.found || (err != nil) != row.bad {
				t.Errorf("%q, %v, %v", place, found, err)
			}
		})
	}
}

// TestOpenNeverBlocks: a FIFO, a folder and a device are no files.
func TestOpenNeverBlocks(t *testing.T) {
	root := Root{Dir: t.TempDir(), UID: uint32(os.Getuid())}
	must(t, unix.Mkfifo(filepath.Join(root.Dir, "fifo"), 0o644))
	must(t, os.Mkdir(filepath.Join(root.Dir, "dir"), 0o755))
	for _, name := range []string{"/fifo", "/dir"} {
		if _, err := root.Read(name); err == nil {
			t.Errorf("%s could be read", name)
		}
		if err := root.Rewrite(name, []byte("x")); err == nil {
			t.Errorf("%s could be written", name)
		}
	}
}

func TestRewriteKeepsTheFile(t *testing.T) {
	root := Root{Dir: t.TempDir(), UID: uint32(os.Getuid())}
	path := filepath.Join(root.Dir, "f")
	must(t, os.WriteFile(path, []byte("a longer text"), 0o644))
	before, err := os.Stat(path)
	must(t, err)
	must(t, root.Rewrite("/f", []byte("short")))
	after, err := os.Stat(path)
	must(t, err)
	if data, err := root.Read("/f"); string(data) != "short" || err != nil || !os.SameFile(before, after) {
		t.Errorf("%q, %v", data, err)
	}
	must(t, os.Chmod(path, 0o666))
	if err := root.Rewrite("/f", []byte("x")); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a file that anybody writes: %v", err)
	}
}
