package snapshot_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-ftl/git-ftl/snapshot"
)

// nest makes a repository of the given files with another one inside, and adds
// it as a submodule, with all below it.
func (w *world) nest(path string, files, inner map[string]string) {
	w.Helper()
	add := func(to *world, at string, files map[string]string) *world {
		origin := newWorld(w.TB)
		for name, text := range files {
			origin.write(name, text)
		}
		origin.git("add", "-A", "-f")
		origin.commitAll("first")
		if inner != nil {
			files, inner = inner, nil
			from := newWorld(w.TB)
			for name, text := range files {
				from.write(name, text)
			}
			from.commitAll("inner")
			origin.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", from.dir, "in/ner")
			origin.commitAll("with inner")
		}
		to.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", origin.dir, at)
		return origin
	}
	add(w, path, files)
	w.git("-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive")
}

// filesOf lists an export's files with their content, folders that are empty too.
func filesOf(t *testing.T, e *snapshot.Export) map[string]string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `cd "$1" && find . -type f -o -type d -empty`, "sh", filepath.Join(e.Dir, "tree")).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(filepath.Join(e.Dir, "tree", name))
		if err != nil {
			text = []byte("an empty folder")
		}
		got[strings.TrimPrefix(name, "./")] = string(text)
	}
	return got
}

func TestSubmodules(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: needs find")
	}
	const edits = "a submodule: edits inside are not in the sandbox, its committed files are"
	const uninitialised = "a submodule that is not initialised: its folder is empty in the sandbox"
	const unfetched = "a submodule whose commit is not on this machine: its folder is empty in the sandbox"
	whole := map[string]string{"s/f": "f", "s/in/ner/g": "g", "top": "1"}
	for _, row := range []struct {
		name string
		do   func(*world)
		want map[string]string // but for .gitmodules files
		left []snapshot.LeftOut
	}{
		{"clean", func(*world) {}, whole, []snapshot.LeftOut{{Path: "s/.env", Why: "environment files stay outside"}}},
		{"edited", func(w *world) { w.write("s/f", "edit") }, whole,
			[]snapshot.LeftOut{{Path: "s", Why: edits}, {Path: "s/.env", Why: "environment files stay outside"}}},
		{"with an untracked file", func(w *world) { w.write("s/new", "x") }, whole,
			[]snapshot.LeftOut{{Path: "s", Why: edits}, {Path: "s/.env", Why: "environment files stay outside"}}},
		{"with rules", func(w *world) { w.write(".ftlignore", "**/ner/g\n/s/f\n") },
			map[string]string{".ftlignore": "**/ner/g\n/s/f\n", "top": "1"}, []snapshot.LeftOut{
				{Path: "s/.env", Why: "environment files stay outside"}, {Path: "s/f", Why: "matched by .ftlignore"},
				{Path: "s/in/ner/g", Why: "matched by .ftlignore"}}},
		{"at another commit", func(w *world) {
			sub := &world{TB: w.TB, dir: w.path("s")}
			sub.git("checkout", "-q", "HEAD^")
			sub.remove("in")
		}, map[string]string{"s/f": "f", "top": "1"}, []snapshot.LeftOut{{Path: "s/.env", Why: "environment files stay outside"}}},
		{"not initialised", func(w *world) { w.git("submodule", "deinit", "-q", "-f", "s") },
			map[string]string{"s": "an empty folder", "top": "1"}, []snapshot.LeftOut{{Path: "s", Why: uninitialised}}},
		{"inner one not initialised", func(w *world) {
			(&world{TB: w.TB, dir: w.path("s")}).git("submodule", "deinit", "-q", "-f", "in/ner")
		}, map[string]string{"s/f": "f", "s/in/ner": "an empty folder", "top": "1"}, []snapshot.LeftOut{
			{Path: "s/.env", Why: "environment files stay outside"}, {Path: "s/in/ner", Why: uninitialised}}},
		{"commit not here", func(w *world) {
			w.git("update-index", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",s")
			w.git("update-index", "--skip-worktree", "s")
		}, map[string]string{"s": "an empty folder", "top": "1"}, []snapshot.LeftOut{{Path: "s", Why: unfetched}}},
		{"behind a link", func(w *world) {
			if err := os.Rename(w.path("s"), w.path(".git/elsewhere")); err != nil {
				w.Fatal(err)
			}
			w.symlink(".git/elsewhere", "s")
		}, map[string]string{"top": "1"}, nil},
		{"hostile .gitmodules", func(w *world) {
			w.write(".gitmodules", "[submodule \"x\"]\n\tpath = ../../etc\n[submodule \"y\"]\n\tpath = .git\n[submodule \"z\"]\n\tpath = top\n")
		}, map[string]string{"s": "an empty folder", "top": "1"},
			[]snapshot.LeftOut{{Path: "s", Why: "a repository of its own: its folder is empty in the sandbox"}}},
		{".gitmodules is nonsense", func(w *world) { w.write(".gitmodules", "[[[\n") },
			map[string]string{"s": "an empty folder", "top": "1"},
			[]snapshot.LeftOut{{Path: "s", Why: "a repository of its own: its folder is empty in the sandbox"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("top", "1")
			w.nest("s", map[string]string{"f": "f", ".env": "SECRET=1"}, map[string]string{"g": "g"})
			w.commitAll("first")
			row.do(w)
			for _, round := range []string{"first", "again"} {
				snap := w.take(snapshot.Options{})
				if d := cmp.Diff(row.left, snap.LeftOut, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("%s: left out (-want +got):\n%s", round, d)
				}
				got := filesOf(t, w.export(snap))
				for name := range got {
					if filepath.Base(name) == ".gitmodules" {
						delete(got, name)
					}
				}
				if d := cmp.Diff(row.want, got); d != "" {
					t.Errorf("%s: files (-want +got):\n%s", round, d)
				}
			}
		})
	}
}

// An export comes and goes with its submodules, and writes nothing of theirs into
// the repository.
func TestSubmodulesFollow(t *testing.T) {
	w := newWorld(t)
	w.write("top", "1")
	w.commitAll("first")
	w.export(w.take(snapshot.Options{}))
	sub := w.addSubmodule()
	e := w.export(w.take(snapshot.Options{}))
	if len(e.Changed) != 2 || e.Changed[1].Path != "sub/in-sub" {
		t.Errorf("changed %v", e.Changed)
	}
	sub.write("more", "2")
	sub.commitAll("second")
	snap := w.take(snapshot.Options{})
	e = w.export(snap)
	if len(e.Changed) != 1 || e.Changed[0].Path != "sub/more" {
		t.Errorf("changed %v", e.Changed)
	}
	if out, err := w.try("cat-file", "-t", e.ID); err == nil {
		t.Errorf("the exported tree is in the repository: %s", out)
	}
	w.checkExport("sub", snap, e)
	w.git("submodule", "deinit", "-q", "-f", "sub")
	e = w.export(w.take(snapshot.Options{}))
	names := map[string]bool{}
	for _, c := range e.Changed {
		names[c.Path] = true
	}
	if d := cmp.Diff(map[string]bool{"sub": true, "sub/in-sub": true, "sub/more": true}, names); d != "" {
		t.Error(d)
	}
	w.git("submodule", "update", "-q", "--init")
	if e = w.export(w.take(snapshot.Options{})); len(e.Changed) != 2 { // at the commit of the index
		t.Errorf("changed %v", e.Changed)
	}
}

// The path of a submodule's objects is one of a list that git parses.
func TestSubmoduleInAnOddPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: Windows has no such names")
	}
	w := newWorld(t)
	for _, name := range []string{"a:b", `a"b`, `a\b`, "a b"} {
		w.dir = filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(w.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w.git("init", "-q", "-b", "main")
		w.git("config", "user.name", "Ada")
		w.git("config", "user.email", "ada@example.com")
		w.open()
		w.addSubmodule()
		snap := w.take(snapshot.Options{})
		w.checkExport(name, snap, w.export(snap))
	}
}

func TestInputs(t *testing.T) {
	w := newWorld(t)
	w.write("top", "1")
	w.nest("d/s", map[string]string{"f": "f"}, map[string]string{"g": "g"})
	w.write(".gitattributes", "*.bin filter=lfs\n")
	w.write("x.bin", lfsPointer("content\n"))
	w.write("big", strings.Repeat("x", 5000))
	w.commitAll("first")
	paths := []string{"big", "d/s", "d/s/f", "d/s/in/ner/new", "d/sx", "new/x", "top", "x.bin"}
	for _, row := range []struct {
		name string
		lfs  bool
		want []string
	}{
		{"without LFS", false, []string{"d/s", "d/s/f", "d/s/in/ner/new"}},
		{"with LFS", true, []string{"d/s", "d/s/f", "d/s/in/ner/new", "x.bin"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			snap := w.take(snapshot.Options{LFS: row.lfs})
			loaded, err := w.store.Load(context.Background(), snap.ID)
			if err != nil {
				t.Fatal(err)
			}
			why, err := w.store.Inputs(context.Background(), loaded, paths)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for p := range why {
				got = append(got, p)
			}
			slices.Sort(got)
			if d := cmp.Diff(row.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
