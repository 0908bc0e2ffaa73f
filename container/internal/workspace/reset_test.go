//go:build linux

package workspace

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// TestResetFollowsTheBase goes from base to base by their differences, with an
// agent's edits between.
func TestResetFollowsTheBase(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	s := newSpace(t)
	base := randomFiles(rnd, 10)
	resetAll(t, s, "b0", base)
	for n := range 150 {
		for range rnd.IntN(4) {
			mutate(t, rnd, s.Root)
		}
		next := maps.Clone(base)
		if rnd.IntN(3) > 0 {
			next = randomFiles(rnd, 10)
			for p, f := range base {
				if rnd.IntN(2) == 0 && fits(next, p) {
					next[p] = f
				}
			}
		}
		lay(t, s.Tree, next)
		id := fmt.Sprint("b", n+1)
		reseti(t, s, wire.Reset{ID: id, From: fmt.Sprint("b", n), Changed: difference(base, next)})
		wantBase(t, s, next)
		if got := s.Base(); got != id {
			t.Errorf("base is %q", got)
		}
		if patch, _ := change(t, s); patch != "" {
			t.Errorf("a fresh reset has changes:\n%s", patch)
		}
		if t.Failed() {
			t.Fatalf("case %d: from %q to %q", n, base, next)
		}
		base = next
	}
}

func fits(all files, p string) bool {
	return !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(q string) bool {
		return strings.HasPrefix(p+"/", q+"/") || strings.HasPrefix(q+"/", p+"/")
	})
}

func difference(from, to files) []wire.File {
	var list []wire.File
	for p, f := range to {
		if from[p] != f {
			list = append(list, wireFile(p, f))
		}
	}
	for p := range from {
		if _, ok := to[p]; !ok {
			list = append(list, wire.File{Path: wire.Path(p)})
		}
	}
	slices.SortFunc(list, func(a, b wire.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list
}

// TestResetNeedsAllFiles: no manifest, a damaged one, or one of another base
// is no ground to build on.
func TestResetNeedsAllFiles(t *testing.T) {
	base := files{"a": "644 x", "b": "644 y"}
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, s Space) string // returns the From
	}{
		{"another base", func(*testing.T, Space) string { return "other" }},
		{"no manifest", func(t *testing.T, s Space) string {
			must(t, s.dropManifest())
			return "b1"
		}},
		{"cut manifest", func(t *testing.T, s Space) string {
			must(t, os.Truncate(s.manifestName(), 100))
			return "b1"
		}},
		{"changed manifest", func(t *testing.T, s Space) string {
			data, err := os.ReadFile(s.manifestName())
			must(t, err)
			data[len(data)/2] ^= 1
			must(t, os.WriteFile(s.manifestName(), data, 0o600))
			return "b1"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpace(t)
			resetAll(t, s, "b1", base)
			put(t, s.Root, "new", "644 z")
			if _, err := s.Reset(wire.Reset{ID: "b1", From: tt.do(t, s)}); !errors.Is(err, ErrStale) {
				t.Errorf("Reset: %v", err)
			}
			if _, err := os.Stat(filepath.Join(s.Root, "new")); err != nil {
				t.Errorf("a refused reset touched the workspace: %v", err)
			}
			resetAll(t, s, "b1", base)
			wantBase(t, s, base)
		})
	}
}

func TestFailedResetLeavesNoBase(t *testing.T) {
	s := newSpace(t)
	base := files{"a": "644 x", "b": "644 y"}
	resetAll(t, s, "b1", base)
	must(t, os.Remove(filepath.Join(s.Tree, "b")))
	put(t, s.Root, "b2", "644 z")
	must(t, os.Remove(filepath.Join(s.Root, "b")))
	if _, err := s.Reset(wire.Reset{ID: "b1", From: "b1"}); err == nil {
		t.Fatal("no error for a file that the tree lacks")
	}
	if got := s.Base(); got != "" {
		t.Errorf("base is %q", got)
	}
	if _, err := s.Scan(); !errors.Is(err, ErrStale) {
		t.Errorf("Scan: %v", err)
	}
}

func TestHostileFileListIsRefused(t *testing.T) {
	object := wireFile("x", "644 x").Object
	for _, tt := range []struct {
		name string
		file wire.File
	}{
		{"absolute", wire.File{Path: "/etc/x", Mode: modeFile, Object: object}},
		{"parent", wire.File{Path: "a/../../x", Mode: modeFile, Object: object}},
		{"parent of a removed file", wire.File{Path: "../x"}},
		{"repository", wire.File{Path: "a/.GIT/config", Mode: modeFile, Object: object}},
		{"NUL", wire.File{Path: "a\x00b", Mode: modeFile, Object: object}},
		{"empty", wire.File{Path: "", Mode: modeFile, Object: object}},
		{"mode", wire.File{Path: "a", Mode: 0o104755, Object: object}},
		{"object", wire.File{Path: "a", Mode: modeFile, Object: object + "00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpace(t)
			if _, err := s.Reset(wire.Reset{ID: "b1", All: true, Changed: []wire.File{tt.file}}); err == nil {
				t.Error("no error")
			}
		})
	}
	s := newSpace(t)
	for _, r := range []wire.Reset{
		{ID: "b", All: true, Branch: "x\n[core]"}, {ID: "b", All: true, Commit: "x"}, {ID: "b", All: true, History: []string{"../x"}},
	} {
		if _, err := s.Reset(r); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
}

func TestKeptFolders(t *testing.T) {
	s := newSpace(t)
	base := files{".gitignore": "644 node_modules/\nbuild\n", "pkg/a": "644 x", "lib/node_modules/tracked": "644 y"}
	lay(t, s.Tree, base)
	r := wire.Reset{ID: "b1", All: true, Changed: wireFiles(base), Keep: []string{"node_modules", "dist"}}
	reseti(t, s, r)
	for _, p := range []string{"node_modules/m", "pkg/node_modules/m", "lib/node_modules/m", "dist/not-ignored", "build/not-kept"} {
		put(t, s.Root, p, "644 m")
	}
	must(t, os.Symlink("/etc", filepath.Join(s.Root, "pkg/dist")))
	r.From, r.All, r.Changed = "b1", false, nil
	report := reseti(t, s, r)
	if diff := cmp.Diff([]string{"node_modules", "pkg/node_modules"}, report.Kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	want := maps.Clone(base)
	want["node_modules/m"], want["pkg/node_modules/m"] = "644 m", "644 m"
	wantBase(t, s, want)
	r.Clean = true
	reseti(t, s, r)
	wantBase(t, s, base)
}

// TestSubmodule: its folder is there, what the agent does in it is not part of
// the change and goes with the next reset.
func TestSubmodule(t *testing.T) {
	s := newSpace(t)
	base := files{"a": "644 x", "sub": "submodule "}
	resetAll(t, s, "b1", base)
	if patch, dropped := change(t, s); patch != "" || dropped != nil {
		t.Errorf("dropped %v, patch:\n%s", dropped, patch)
	}
	put(t, s.Root, "sub/new", "644 12345")
	patch, dropped := change(t, s)
	if diff := cmp.Diff([]wire.Dropped{{Path: "sub", Bytes: 5, Why: "submodule"}}, dropped); diff != "" || patch != "" {
		t.Errorf("dropped (-want +got):\n%s\npatch:\n%s", diff, patch)
	}
	reseti(t, s, wire.Reset{ID: "b1", From: "b1"})
	wantBase(t, s, files{"a": "644 x"})
	must(t, os.Remove(filepath.Join(s.Root, "sub"))) // an empty folder again
	if patch, _ := change(t, s); patch != "" {
		t.Errorf("patch:\n%s", patch)
	}
}

func TestUpdate(t *testing.T) {
	s := newSpace(t)
	must(t, os.Symlink("/etc", filepath.Join(s.Tree, "l")))
	for _, tt := range []struct {
		name  string
		heads []tar.Header
		ok    bool
		want  files
	}{
		{"files and links", []tar.Header{{Name: "tree/a/b", Typeflag: tar.TypeReg}, {Name: "tree/x", Typeflag: tar.TypeSymlink, Linkname: "a"}},
			true, files{"a/b": "644 ", "x": "link a", "l": "link /etc"}},
		{"a link is replaced, not followed", []tar.Header{{Name: "tree/l/passwd", Typeflag: tar.TypeReg}, {Name: "tree/a", Typeflag: tar.TypeReg}},
			true, files{"a": "644 ", "x": "link a", "l/passwd": "644 "}},
		{"removed", []tar.Header{{Name: "tree/l", Typeflag: tar.TypeReg, PAXRecords: map[string]string{wire.GonePAX: "1"}},
			{Name: "tree/none/at/all", Typeflag: tar.TypeReg, PAXRecords: map[string]string{wire.GonePAX: "1"}}}, true, files{"a": "644 ", "x": "link a"}},
		{"out of the folder", []tar.Header{{Name: "tree/../../x", Typeflag: tar.TypeReg}}, false, files{"a": "644 ", "x": "link a"}},
		{"another folder", []tar.Header{{Name: "etc/x", Typeflag: tar.TypeReg}}, false, files{"a": "644 ", "x": "link a"}},
		{"hard link", []tar.Header{{Name: "tree/h", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, false, files{"a": "644 ", "x": "link a"}},
		{"all removed", []tar.Header{{Name: "tree", Typeflag: tar.TypeReg, PAXRecords: map[string]string{wire.GonePAX: "1"}}}, true, files{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var data bytes.Buffer
			w := tar.NewWriter(&data)
			for _, h := range tt.heads {
				h.Format = tar.FormatPAX
				must(t, w.WriteHeader(&h))
			}
			must(t, w.Close())
			if err := s.Update(&data); (err == nil) != tt.ok {
				t.Errorf("Update: %v", err)
			}
			if diff := cmp.Diff(tt.want, take(t, s.Tree, "")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEnsureUser(t *testing.T) {
	for _, tt := range []struct {
		name, passwd, want, user string
	}{
		{"none", "root:x:0:0::/root:/bin/sh\n", "root:x:0:0::/root:/bin/sh\nftl:x:1000:1000::/h:/bin/sh\n", "ftl"},
		{"other name", "node:x:1000:100:N:/home/node:/bin/bash\n", "node:x:1000:1000:N:/h:/bin/bash\n", "node"},
		{"name is taken", "ftl:x:7:7::/x:/bin/sh", "ftl:x:7:7::/x:/bin/sh\nftl-agent:x:1000:1000::/h:/bin/sh\n", "ftl-agent"},
		{"no file", "", "ftl:x:1000:1000::/h:/bin/sh\n", "ftl"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			etc := t.TempDir()
			if tt.passwd != "" {
				put(t, etc, "passwd", "644 "+tt.passwd)
			}
			for range 2 { // the second time changes nothing
				user, err := EnsureUser(etc, "/h", 1000)
				must(t, err)
				want := files{"passwd": "644 " + tt.want, "group": "644 ftl:x:1000:\n", "shadow": "600 " + tt.user + ":!:19000:0:99999:7:::\n"}
				if diff := cmp.Diff(want, take(t, etc, "")); diff != "" || user != tt.user {
					t.Errorf("user %q (-want +got):\n%s", user, diff)
				}
			}
		})
	}
}

func TestEnsureUserFollowsNoLink(t *testing.T) {
	etc := t.TempDir()
	put(t, etc, "elsewhere", "644 x")
	must(t, os.Symlink("elsewhere", filepath.Join(etc, "passwd")))
	if _, err := EnsureUser(etc, "/h", 1000); err == nil {
		t.Error("no error")
	}
}

func TestPrepareFollowsNoLink(t *testing.T) {
	s := newSpace(t)
	must(t, os.Remove(s.Root))
	must(t, os.Symlink("/etc", s.Root))
	if err := s.Prepare(); err == nil {
		t.Error("no error")
	}
	info, err := os.Stat("/etc")
	must(t, err)
	if info.Mode().Perm() != 0o755 {
		t.Errorf("mode of /etc is %v", info.Mode())
	}
}

// TestHardLinkFromKeptFolder: a second name in a folder that stays would change
// the next task's file. Both ways of reset break it.
func TestHardLinkFromKeptFolder(t *testing.T) {
	base := files{".gitignore": "644 node_modules\n", "a": "644 x"}
	for _, all := range []bool{false, true} {
		s := newSpace(t)
		resetAll(t, s, "b1", base)
		must(t, os.Mkdir(filepath.Join(s.Root, "node_modules"), 0o755))
		must(t, os.Link(filepath.Join(s.Root, "a"), filepath.Join(s.Root, "node_modules/a")))
		r := wire.Reset{ID: "b1", From: "b1", Keep: []string{"node_modules"}}
		if all {
			r.All, r.Changed = true, wireFiles(base)
		}
		reseti(t, s, r)
		must(t, os.WriteFile(filepath.Join(s.Root, "node_modules/a"), []byte("evil"), 0o644))
		if got := take(t, s.Root, ".git")["a"]; got != base["a"] {
			t.Errorf("all %v: the file is %q", all, got)
		}
	}
}
