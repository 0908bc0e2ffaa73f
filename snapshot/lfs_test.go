package snapshot_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot"
)

func lfsPointer(content string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(content)), len(content))
}

// keepLFS puts content into the repository's LFS store under the name of other
// content, which is its own where they are the same.
func (w *world) keepLFS(content, as string) {
	oid := fmt.Sprintf("%x", sha256.Sum256([]byte(as)))
	w.write(".git/lfs/objects/"+oid[:2]+"/"+oid[2:4]+"/"+oid, content)
}

func TestLFS(t *testing.T) {
	const content = "the real content\n"
	for _, row := range []struct {
		name     string
		do       func(*world)
		lfs      bool
		pointers int
		want     string // in the export, of x.bin
	}{
		{"pointers", func(w *world) { w.keepLFS(content, content) }, false, 2, lfsPointer(content)},
		{"content", func(w *world) { w.keepLFS(content, content) }, true, 1, content},
		{"not here", func(*world) {}, true, 2, lfsPointer(content)},
		{"other content of that name", func(w *world) { w.keepLFS(strings.ToUpper(content), content) }, true, 1, lfsPointer(content)},
		{"other content of another size", func(w *world) { w.keepLFS("x", content) }, true, 2, lfsPointer(content)},
		{"a link", func(w *world) {
			w.write("outside", content)
			w.keepLFS(content, content)
			oid := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
			at := w.path(".git/lfs/objects/" + oid[:2] + "/" + oid[2:4] + "/" + oid)
			if err := os.Remove(at); err != nil {
				w.Fatal(err)
			}
			if err := os.Symlink(w.path("outside"), at); err != nil {
				w.Skip(err)
			}
		}, true, 2, lfsPointer(content)},
		{"without the attribute", func(w *world) {
			w.keepLFS(content, content)
			w.write(".gitattributes", "")
			w.commitAll("no filter")
		}, true, 0, lfsPointer(content)},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("dir/.gitattributes", "# nothing\n")
			w.write(".gitattributes", "*.bin filter=lfs\n")
			w.write("x.bin", lfsPointer(content))
			w.write("y.bin", lfsPointer("elsewhere"))
			w.write("z.bin", lfsPointer("with more")+"ext-0-foo sha256:0\n")
			w.commitAll("first")
			row.do(w)
			for _, round := range []string{"first", "again"} {
				snap := w.take(snapshot.Options{LFS: row.lfs})
				if snap.Pointers != row.pointers {
					t.Errorf("%s: %d pointers, want %d", round, snap.Pointers, row.pointers)
				}
				e := w.export(snap)
				got, err := os.ReadFile(filepath.Join(e.Dir, "tree", "x.bin"))
				if d := cmp.Diff(row.want, string(got)); d != "" || err != nil {
					t.Error(round, err, d)
				}
			}
		})
	}
}

// The content comes and goes with the setting and with what is here, and the
// export's objects have it, so that git works in the sandbox.
func TestLFSFollows(t *testing.T) {
	const content = "the real content\n"
	w := newWorld(t)
	w.write(".gitattributes", "*.bin filter=lfs\n")
	w.write("a.txt", "a")
	w.write("x.bin", lfsPointer(content))
	w.commitAll("first")
	step := func(what string, lfs bool, want string) {
		t.Helper()
		e := w.export(w.take(snapshot.Options{LFS: lfs}))
		cat := w.command("cat-file", "blob", e.Base.String()+":x.bin")
		cat.Env = append(cat.Env, "GIT_OBJECT_DIRECTORY="+filepath.Join(e.Dir, "objects"))
		got, err := cat.CombinedOutput()
		if err != nil || string(got) != want {
			t.Errorf("%s: %v %q", what, err, got)
		}
	}
	step("off", false, lfsPointer(content))
	step("not here", true, lfsPointer(content))
	w.keepLFS(content, content)
	step("here", true, content)
	w.write("a.txt", "b")
	step("after an edit", true, content)
	w.remove(".git/lfs")
	step("pruned, but the export has it", true, content)
	step("off again", false, lfsPointer(content))
	step("pruned", true, lfsPointer(content))
	w.write("x.bin", lfsPointer("new"))
	w.keepLFS("new", "new")
	step("another pointer", true, "new")
}
