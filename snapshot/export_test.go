package snapshot_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func (w *world) export(snap snapshot.Snapshot) *snapshot.Export {
	w.Helper()
	e, err := w.store.Export(context.Background(), snap, "box")
	if err != nil {
		w.Fatal(err)
	}
	return e
}

// checkExport compares an export with the snapshot by git alone: files through
// a status of a copy, objects through fsck and a list of what is there.
func (w *world) checkExport(what string, snap snapshot.Snapshot, e *snapshot.Export) {
	w.Helper()
	box := &world{TB: w.TB, dir: w.TempDir()}
	if out, err := exec.Command("cp", "-a", filepath.Join(e.Dir, "tree")+"/.", box.dir).CombinedOutput(); err != nil {
		w.Fatalf("%s: copy: %v: %s", what, err, out)
	}
	box.git("init", "-q", "-b", "main")
	box.write(".git/objects/info/alternates", filepath.ToSlash(filepath.Join(e.Dir, "objects"))+"\n")
	box.git("update-ref", "refs/heads/main", e.Base.String())
	box.git("read-tree", "HEAD")
	if out := box.git("-c", "core.fileMode=true", "status", "--porcelain", "--ignored"); out != "" {
		w.Errorf("%s: files differ from the tree:\n%s", what, out)
	}
	if got, want := box.git("rev-parse", "HEAD^{tree}"), w.shown(snap.Tree); got != want || e.ID != got {
		w.Errorf("%s: base has tree %s, ID is %s, want %s", what, got, e.ID, want)
	}
	if out, err := box.try("rev-parse", "--verify", "-q", "HEAD^1"); err == nil {
		w.Errorf("%s: base has the parent %s", what, out)
	}
	if out := box.git("fsck", "--strict", "--full", "--no-dangling"); out != "" {
		w.Errorf("%s: fsck: %s", what, out)
	}
}

// shown is a tree with the files of the submodule sub in place of it.
func (w *world) shown(tree plumbing.Hash) string {
	w.Helper()
	list := w.git("ls-tree", tree.String())
	if !strings.Contains(list, "\tsub") || !strings.Contains(list, "160000") {
		return tree.String()
	}
	sub := &world{TB: w.TB, dir: w.path("sub")}
	var lines []string
	for line := range strings.Lines(list + "\n") {
		if info, ok := strings.CutSuffix(line, "\tsub\n"); ok {
			line = "040000 tree " + sub.git("rev-parse", strings.Fields(info)[2]+"^{tree}") + "\tsub\n"
		}
		lines = append(lines, line)
	}
	cmd := w.command("mktree", "--missing")
	cmd.Stdin = strings.NewReader(strings.Join(lines, ""))
	out, err := cmd.Output()
	if err != nil {
		w.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// exportObjects names all objects of an export.
func (w *world) exportObjects(e *snapshot.Export) []string {
	w.Helper()
	box := &world{TB: w.TB, dir: w.TempDir()}
	box.git("init", "-q")
	box.write(".git/objects/info/alternates", filepath.ToSlash(filepath.Join(e.Dir, "objects"))+"\n")
	return strings.Fields(box.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
}

func (w *world) reachable(commit plumbing.Hash, dir string) []string {
	w.Helper()
	box := &world{TB: w.TB, dir: w.TempDir()}
	box.git("init", "-q")
	box.write(".git/objects/info/alternates", filepath.ToSlash(filepath.Join(dir, "objects"))+"\n")
	names := strings.Fields(box.git("rev-list", "--objects", "--no-object-names", commit.String()))
	slices.Sort(names)
	return names
}

func TestExportFollowsTheTree(t *testing.T) {
	w := newWorld(t)
	steps := []struct {
		name    string
		do      func()
		changed []string
	}{
		{"first", func() {
			w.writeAll("a", "d/b", "d/e/f", "gone/x/y", "odd\n\xff")
			w.write("run", "#!/bin/sh\n")
			w.chmod("run", 0o755)
			w.write(".gitattributes", "*.t text eol=crlf\n")
			w.write("x.t", "1\n2\n")
			w.symlink("../outside", "link")
			w.git("add", "-A")
		}, []string{".gitattributes", "a", "d/b", "d/e/f", "gone/x/y", "link", "odd\n\xff", "run", "x.t"}},
		{"nothing", func() {}, nil},
		{"edit", func() { w.write("d/e/f", "2") }, []string{"d/e/f"}},
		{"mode", func() { w.chmod("run", 0o644); w.chmod("a", 0o755) }, []string{"a", "run"}},
		{"delete with folders", func() { w.remove("gone") }, []string{"gone/x/y"}},
		{"file to folder", func() { w.remove("a"); w.writeAll("a/a/a") }, []string{"a", "a/a/a"}},
		{"folder to file", func() { w.remove("d"); w.write("d", "1") }, []string{"d", "d/b", "d/e/f"}},
		{"link to folder", func() { w.remove("link"); w.writeAll("link/x") }, []string{"link", "link/x"}},
		{"folder to link", func() { w.remove("a"); w.symlink("/etc", "a") }, []string{"a", "a/a/a"}},
		{"file to link and back to an old content", func() { w.remove("d"); w.symlink("link", "d"); w.writeAll("gone/x/y") }, []string{"d", "gone/x/y"}},
		{"submodule", func() { w.addSubmodule() }, []string{".gitmodules", "sub/in-sub"}},
		{"submodule to file", func() { w.git("rm", "-q", "-f", "sub"); w.remove("sub"); w.write("sub", "1") }, []string{".gitmodules", "sub", "sub/in-sub"}},
		{"commit", func() { w.git("add", "-A"); w.git("commit", "-qm", "subject\n\nbody") }, nil},
	}
	from := ""
	for _, step := range steps {
		step.do()
		snap := w.take(snapshot.Options{})
		e := w.export(snap)
		var changed []string
		for _, c := range e.Changed {
			changed = append(changed, c.Path)
		}
		if d := cmp.Diff(step.changed, changed); d != "" {
			t.Errorf("%s: changed (-want +got):\n%s", step.name, d)
		}
		if e.From != from {
			t.Errorf("%s: from %q, want %q", step.name, e.From, from)
		}
		w.checkExport(step.name, snap, e)
		w.checkAll(step.name, snap, e)
		from = w.shown(snap.Tree)
	}
}

// checkAll compares Export.All with git's listing.
func (w *world) checkAll(what string, snap snapshot.Snapshot, e *snapshot.Export) {
	w.Helper()
	all, err := e.All(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	var got []string
	for _, c := range all {
		got = append(got, c.Path)
		if c.Old != (git.Entry{}) {
			w.Errorf("%s: %q is no addition", what, c.Path)
		}
	}
	want := w.files(snap.Tree.String())
	if i := slices.Index(want, "sub"); i >= 0 && w.shown(snap.Tree) != snap.Tree.String() {
		want[i] = "sub/in-sub"
	}
	slices.Sort(want)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		w.Errorf("%s: All (-want +got):\n%s", what, d)
	}
}

func (w *world) chmod(name string, mode fs.FileMode) {
	w.Helper()
	if err := os.Chmod(w.path(name), mode); err != nil {
		w.Fatal(err)
	}
}

func (w *world) symlink(target, name string) {
	w.Helper()
	if runtime.GOOS == "windows" {
		w.Skip("symbolic links need a privilege on Windows")
	}
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.Fatal(err)
	}
}

// TestExportHoldsNoHistory lists every object of a fresh export: the base
// commit, its trees and its blobs.
func TestExportHoldsNoHistory(t *testing.T) {
	w := newWorld(t)
	w.write("old-secret", "removed long ago")
	w.commitAll("first")
	w.remove("old-secret")
	w.writeAll("a", "d/b")
	w.commitAll("second")
	w.write("a", "dirty")
	snap := w.take(snapshot.Options{})
	e := w.export(snap)
	if d := cmp.Diff(w.reachable(e.Base, e.Dir), w.exportObjects(e)); d != "" {
		t.Errorf("objects (-reachable from the base +there):\n%s", d)
	}
	if n := len(w.exportObjects(e)); n != 5 { // commit, two trees, two blobs
		t.Errorf("%d objects", n)
	}
}

// TestExportForgetsLeftOutFiles withdraws a file that an earlier export had.
func TestExportForgetsLeftOutFiles(t *testing.T) {
	w := newWorld(t)
	w.writeAll("a", "b")
	w.export(w.take(snapshot.Options{}))
	w.write(".ftlignore", "b\n")
	e := w.export(w.take(snapshot.Options{}))
	if d := cmp.Diff(w.reachable(e.Base, e.Dir), w.exportObjects(e)); d != "" {
		t.Errorf("objects (-reachable from the base +there):\n%s", d)
	}
}

func TestExportPacksStayFew(t *testing.T) {
	w := newWorld(t)
	w.writeAll("a", "d/b")
	for i := range 25 {
		w.write("d/b", strings.Repeat("x", i))
		snap := w.take(snapshot.Options{})
		e := w.export(snap)
		packs, err := filepath.Glob(filepath.Join(e.Dir, "objects/pack/*.pack"))
		if err != nil || len(packs) > 20 {
			t.Fatalf("round %d: %d packs, %v", i, len(packs), err)
		}
		if i > 18 {
			w.checkExport("round", snap, e)
		}
	}
}

// TestInterruptedExportIsRebuilt leaves the marks of a crash, and of damage that
// the state tells of.
func TestInterruptedExportIsRebuilt(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world, dir string)
	}{
		{"mark of a change", func(w *world, dir string) {
			w.write(dir+"/state.json", `{"tree":"","base":""}`)
			w.remove(dir + "/tree/a")
			w.write(dir+"/tree/d/half", "x")
		}},
		{"no state", func(w *world, dir string) {
			w.remove(dir + "/state.json")
			w.write(dir+"/objects/pack/tmp_pack_x", "x")
		}},
		{"no objects", func(w *world, dir string) { w.remove(dir + "/objects") }},
		{"no files", func(w *world, dir string) { w.remove(dir + "/tree") }},
		{"links instead of folders", func(w *world, dir string) {
			w.write(dir+"/state.json", "")
			w.remove(dir + "/tree/d")
			w.write("victim/b", "stays")
			w.symlink(w.path("victim"), dir+"/tree/d")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.writeAll("a", "d/b", "d/c")
			w.write(".gitignore", "victim\n")
			snap := w.take(snapshot.Options{})
			w.export(snap)
			tt.do(w, ".git/git-ftl/exports/box")
			e := w.export(snap)
			if e.From != "" || len(e.Changed) != 4 {
				t.Errorf("From %q, %d changed", e.From, len(e.Changed))
			}
			w.checkExport("rebuilt", snap, e)
			if data, err := os.ReadFile(w.path("victim/b")); err == nil && string(data) != "stays" {
				t.Errorf("wrote through a link: %q", data)
			}
		})
	}
}

// TestExportFollowsNoLink has a link where the next tree has a folder.
func TestExportFollowsNoLink(t *testing.T) {
	w := newWorld(t)
	w.writeAll("a")
	w.export(w.take(snapshot.Options{}))
	outside := filepath.Join(w.TempDir(), "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	w.symlink(outside, ".git/git-ftl/exports/box/tree/d") // never ours, whoever put it there
	w.writeAll("d/b", "d/e/f")
	snap := w.take(snapshot.Options{})
	w.checkExport("with the link", snap, w.export(snap))
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside has %v, %v", entries, err)
	}
}

// TestExportRefusesUnsafeTrees takes trees that no index would make.
func TestExportRefusesUnsafeTrees(t *testing.T) {
	for _, name := range []string{"..", ".", ".git", ".GIT", "git~1", "a/../../b", "/etc/x", ".git ", ".git..."} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			objects := w.repo.Objects(context.Background())
			defer func() { _ = objects.Close() }()
			blob, err := objects.WriteBlob([]byte("x"))
			if err != nil {
				t.Fatal(err)
			}
			tree, err := objects.WriteTree([]object.TreeEntry{{Name: name, Mode: filemode.Regular, Hash: blob}})
			if err != nil {
				t.Fatal(err)
			}
			sub, err := objects.WriteTree([]object.TreeEntry{{Name: "sub", Mode: filemode.Dir, Hash: tree}})
			if err != nil {
				t.Fatal(err)
			}
			snap := w.take(snapshot.Options{})
			for _, h := range []plumbing.Hash{tree, sub} {
				snap.Tree = h
				if _, err := w.store.Export(context.Background(), snap, "box"); err == nil || !strings.Contains(err.Error(), "unsafe path") {
					t.Errorf("Export: %v", err)
				}
			}
		})
	}
}

func TestExportRefusesNames(t *testing.T) {
	w := newWorld(t)
	snap := w.take(snapshot.Options{})
	for _, name := range []string{"", ".", "..", "a/b", "../x", "-x", "a b"} {
		if _, err := w.store.Export(context.Background(), snap, name); err == nil {
			t.Errorf("Export as %q worked", name)
		}
	}
}
