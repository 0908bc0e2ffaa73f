package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/google/go-cmp/cmp"
)

// commands lists the git commands run since the last call.
func (w *world) commands() []string {
	w.Helper()
	data, err := os.ReadFile(w.trace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	_ = os.Remove(w.trace)
	var names []string
	for line := range strings.Lines(string(data)) {
		if _, rest, ok := strings.Cut(line, `"event":"cmd_name"`); ok {
			_, rest, _ = strings.Cut(rest, `"name":"`)
			name, _, _ := strings.Cut(rest, `"`)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestCostFollowsTheChange counts processes: a warm pass over an unchanged tree
// is one status, and nothing makes the private index anew without need.
func TestCostFollowsTheChange(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	w.write("b", "1")
	w.commitAll("first")
	w.stage()
	tests := []struct {
		name string
		do   func()
		want []string
	}{
		{"nothing", func() {}, []string{"status"}},
		{"edit", func() { w.write("a", "22") }, []string{"cat-file", "status", "update-index", "update-ref"}},
		{"nothing, after the edit", func() {}, []string{"cat-file", "status", "update-index", "update-ref"}},
		{"new file", func() { w.write("new", "1") }, []string{"cat-file", "status", "update-index", "update-ref"}},
		{"add", func() { w.git("add", "a") }, []string{"cat-file", "ls-files", "ls-files", "ls-files", "status", "status", "update-index", "update-index", "update-ref", "write-tree"}},
		{"commit", func() { w.git("commit", "-qm", "second") }, []string{"cat-file", "check-ignore", "ls-files", "status"}},
		{"refresh", func() { w.write("a", "22"); w.git("update-index", "--refresh") }, []string{"check-ignore", "ls-files", "status"}},
		{"nothing, with an untracked file", func() {}, []string{"check-ignore", "status"}},
		{"delete", func() { w.remove("b") }, []string{"cat-file", "check-ignore", "status", "update-ref"}},
	}
	for _, tt := range tests {
		tt.do()
		_ = w.commands()
		w.stage()
		if d := cmp.Diff(tt.want, w.commands()); d != "" {
			t.Errorf("%s: commands (-want +got):\n%s", tt.name, d)
		}
	}
}

// TestStatusUsesTheUntrackedCache counts the folders that git opens.
func TestStatusUsesTheUntrackedCache(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.write(fmt.Sprintf("d%d/f", i), "1")
	}
	w.commitAll("first")
	w.write("d1/new", "1")
	deadline := time.Now().Add(time.Minute)
	for {
		w.stage()
		_ = w.commands()
		w.stage()
		data, err := os.ReadFile(w.trace)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"key":"opendir","value":"0"`) {
			return
		}
		if time.Now().After(deadline) { // folders of this very second are looked at again
			t.Fatalf("git opens folders each time:\n%s", data)
		}
	}
}

func TestOddFilesAreLeftOutAndNamed(t *testing.T) {
	tests := []struct {
		name  string
		setup func(w *world)
		left  string
		why   string
	}{
		{"filter fails", func(w *world) {
			w.git("config", "filter.bad.clean", "false")
			w.git("config", "filter.bad.required", "true")
			w.write(".gitattributes", "*.bad filter=bad\n")
			w.write("x.bad", "1")
		}, "x.bad", "git cannot add it"},
		{"git dies on it", func(w *world) {
			w.git("config", "filter.kill.clean", "kill -9 $PPID")
			w.write(".gitattributes", "*.bad filter=kill\n")
			w.write("x.bad", "1")
		}, "x.bad", "git cannot add it"},
		{"tracked file whose filter fails", func(w *world) {
			w.write("x.bad", "1")
			w.commitAll("first")
			w.stage()
			w.git("config", "filter.bad.clean", "false")
			w.git("config", "filter.bad.required", "true")
			w.write(".git/info/attributes", "*.bad filter=bad\n")
			w.write("x.bad", "2")
		}, "x.bad", "git cannot add it"},
		{"tracked file of another size whose filter fails", func(w *world) {
			w.write("x.bad", "1")
			w.commitAll("first")
			w.stage()
			w.git("config", "filter.bad.clean", "false")
			w.git("config", "filter.bad.required", "true")
			w.write(".git/info/attributes", "*.bad filter=bad\n")
			w.write("x.bad", "22")
		}, "x.bad", "git cannot add it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.setup(w)
			w.writeAll("a", "b", "c/d", "z")
			for range 2 {
				st := w.stage()
				if len(st.LeftOut) != 1 || st.LeftOut[0].Path != tt.left || !strings.Contains(st.LeftOut[0].Why, tt.why) {
					t.Errorf("left out %v, want %s: %s", st.LeftOut, tt.left, tt.why)
				}
				files := w.files(st.Tree.String())
				for _, name := range []string{"a", "b", "c/d", "z"} {
					if !slices.Contains(files, name) {
						t.Errorf("%s is missing: %q", name, files)
					}
				}
				if slices.Contains(files, tt.left) {
					t.Errorf("%s is in the tree", tt.left)
				}
			}
		})
	}
}

// TestFileChangesWhileItIsAdded fails the first attempt only.
func TestFileChangesWhileItIsAdded(t *testing.T) {
	w := newWorld(t)
	once := filepath.Join(w.TempDir(), "once")
	w.git("config", "filter.once.clean", "test -e "+once+" && cat || { touch "+once+"; exit 1; }")
	w.git("config", "filter.once.required", "true")
	w.write(".gitattributes", "a filter=once\n")
	w.writeAll("a", "b")
	if st := w.stage(); st.LeftOut != nil {
		t.Errorf("left out %v", st.LeftOut)
	}
}

// TestPrunedTree is a private index whose objects are gone.
func TestPrunedTree(t *testing.T) {
	prune := func(w *world) {
		w.git("update-ref", "-d", "refs/ftl/index/main")
		for ref := range strings.FieldsSeq(w.git("for-each-ref", "--format=%(refname)", "refs/ftl")) {
			w.git("update-ref", "-d", ref)
		}
		w.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
		w.git("prune", "--expire=now")
	}
	tests := []struct {
		name string
		do   func(w *world)
	}{
		{"unchanged", func(*world) {}},
		{"changed", func(w *world) { w.write("another", "1") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("a", "1")
			w.commitAll("first")
			w.write("untracked/b", "not in any commit")
			w.take(snapshot.Options{})
			prune(w)
			tt.do(w)
			snap := w.take(snapshot.Options{})
			w.git("fsck", "--strict", "--connectivity-only", snap.Commit.String())
			w.checkParity("after prune")
		})
	}
}

// TestIndexRefKeepsObjects prunes after the snapshot's own ref is deleted.
func TestIndexRefKeepsObjects(t *testing.T) {
	w := newWorld(t)
	w.write("b", "not in any commit")
	snap := w.take(snapshot.Options{})
	w.git("update-ref", "-d", "refs/ftl/snapshots/"+snap.ID)
	w.git("gc", "-q", "--prune=now")
	w.write("c", "1")
	_ = w.commands()
	w.stage()
	data, err := os.ReadFile(w.trace)
	if err != nil || strings.Contains(string(data), "--no-split-index") {
		t.Errorf("private index was made anew: %v\n%s", err, data)
	}
	w.checkParity("after gc")
}

func TestBrokenPrivateIndex(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world, index string)
	}{
		{"garbage", func(w *world, index string) { w.write(index, "garbage") }},
		{"cut", func(w *world, index string) { w.cut(index) }},
		{"missing", func(w *world, index string) { w.remove(index) }},
		{"memory missing", func(w *world, index string) { w.remove(index + ".json") }},
		{"memory garbage", func(w *world, index string) { w.write(index+".json", "{") }},
		{"memory empty", func(w *world, index string) { w.write(index+".json", "{}") }},
		{"stale lock", func(w *world, index string) { w.write(index+".lock", "") }},
		{"crash after staging", func(w *world, index string) {
			w.write("crash", "1")
			cmd := w.command("add", "-A")
			cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+w.path(index))
			if out, err := cmd.CombinedOutput(); err != nil {
				w.Fatalf("%v: %s", err, out)
			}
			w.write(".gitignore", "crash\n")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.writeAll("a", "b/c")
			w.commitAll("first")
			w.writeAll("d")
			w.stage()
			tt.do(w, ".git/git-ftl/index/main")
			w.checkParity("then")
			w.write("a", "2")
			w.checkParity("and then")
		})
	}
}

func (w *world) cut(name string) {
	w.Helper()
	info, err := os.Stat(w.path(name))
	if err == nil {
		err = os.Truncate(w.path(name), info.Size()/2)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// TestRacyEdit edits without a change of size in the second of the index.
func TestRacyEdit(t *testing.T) {
	for i := range 10 {
		w := newWorld(t)
		w.write("a", "1")
		w.commitAll("first")
		w.write("a", "2")
		w.checkParity(fmt.Sprint("round ", i, ", first"))
		w.write("a", "3")
		w.checkParity(fmt.Sprint("round ", i, ", second"))
	}
}

func TestConcurrentTakes(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	w.commitAll("first")
	w.write("b", "1")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var trees []string
	ids := map[string]bool{}
	for range 6 {
		wg.Go(func() {
			snap, err := w.store.Take(context.Background(), snapshot.Options{})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			trees = append(trees, snap.Tree.String())
			ids[snap.ID] = true
		})
	}
	wg.Wait()
	slices.Sort(trees)
	if trees = slices.Compact(trees); len(trees) != 1 || len(ids) != 6 {
		t.Errorf("trees %q, ids %v", trees, ids)
	}
}

func TestCancelledStage(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.store.Stage(ctx, snapshot.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Stage: %v", err)
	}
	w.checkParity("afterwards")
}

func TestSubmoduleFolderComesAndGoes(t *testing.T) {
	w := newWorld(t)
	w.addSubmodule()
	w.commitAll("first")
	w.checkParity("with it")
	if err := os.Rename(w.path("sub"), w.path("../moved")); err != nil {
		t.Fatal(err)
	}
	w.checkParity("without it")
	if err := os.Mkdir(w.path("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.checkParity("as an empty folder")
}

// TestSweep: what a killed git left of the private index goes, and a lock that is
// in use does not.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	w.writeAll("a")
	w.stage()
	index := ".git/git-ftl/index/main"
	for _, ending := range []string{".lock", ".quick", ".quick.lock", ".scratch", ".scratch.lock"} {
		w.write(index+ending, "")
	}
	unlock, held, err := w.repo.TryLock("index-main")
	if err != nil || !held {
		t.Fatal(held, err)
	}
	count := func() int {
		left, err := filepath.Glob(w.path(index + ".*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(left) - 1 // the memory stays
	}
	if err := w.store.Sweep(); err != nil || count() != 5 {
		t.Errorf("while it is in use: %d left, %v", count(), err)
	}
	unlock()
	if err := w.store.Sweep(); err != nil || count() != 0 {
		t.Errorf("then: %d left, %v", count(), err)
	}
	w.checkParity("then")
}
