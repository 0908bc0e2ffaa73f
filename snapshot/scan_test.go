package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot"
)

// scanner leaves out what holds one of some words, and counts what it looks into.
func scanner(generation string, looks *atomic.Int64, words ...string) func([]snapshot.LeftOut) (snapshot.Scanner, error) {
	return func([]snapshot.LeftOut) (snapshot.Scanner, error) {
		return snapshot.Scanner{Generation: generation, Look: func(r io.Reader) (string, error) {
			looks.Add(1)
			data, err := io.ReadAll(r)
			for _, w := range words {
				if bytes.Contains(data, []byte(w)) {
					return "holds " + w, nil
				}
			}
			return "", err
		}}, nil
	}
}

// hasObject reports whether some bytes are in the object store.
func (w *world) hasObject(content string) bool {
	w.Helper()
	cmd := w.command("hash-object", "--stdin")
	cmd.Stdin = strings.NewReader(content)
	hash, err := cmd.Output()
	if err != nil {
		w.Fatal(err)
	}
	_, err = w.try("cat-file", "-e", strings.TrimSpace(string(hash)))
	return err == nil
}

// TestScanLeavesOut: a file that holds what the scanner knows stays outside however
// it came to be there, is named, and looks neither new nor deleted.
func TestScanLeavesOut(t *testing.T) {
	const word = "a-known-value"
	for _, row := range []struct {
		name   string
		before func(w *world) // and then a snapshot without that word known
		setup  func(w *world)
		left   []string
		enters bool // the bytes are in a commit of the user's already
	}{
		{"tracked", nil, func(w *world) { w.write("held", word); w.commitAll("first") }, []string{"held"}, true},
		{"tracked, in a folder, by its name", nil, func(w *world) { w.write("d/"+word+".txt", word); w.commitAll("first") }, []string{"d/" + word + ".txt"}, true},
		{"edited", func(w *world) { w.write("held", "x"); w.commitAll("first") }, func(w *world) { w.write("held", word) }, []string{"held"}, false},
		{"untracked", nil, func(w *world) { w.write("held", word) }, []string{"held"}, false},
		{"staged", func(w *world) { w.write("a", "x"); w.commitAll("first") }, func(w *world) { w.write("held", word); w.git("add", "held") }, []string{"held"}, true},
		{"a link to it", nil, func(w *world) {
			if err := os.Symlink(word, w.path("link")); err != nil {
				w.Fatal(err)
			}
		}, []string{"link"}, false},
		{"known only later", func(w *world) { w.write("held", word); w.write("a", "x"); w.commitAll("first") }, func(*world) {}, []string{"held"}, true},
		{"known only later, untracked", func(w *world) { w.write("held", word) }, func(*world) {}, []string{"held"}, true},
		{"smudged by a filter", nil, func(w *world) {
			w.git("config", "filter.rev.clean", "sed s/hidden/known/")
			w.write(".gitattributes", "held filter=rev\n")
			w.write("held", "a-hidden-value")
		}, []string{"held"}, true},
		{"many", nil, func(w *world) {
			for i := range 1200 {
				w.write(fmt.Sprintf("f/%d", i), fmt.Sprint(i))
			}
			w.write("f/7", word)
			w.commitAll("first")
		}, []string{"f/7"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("plain", "plain")
			var looks atomic.Int64
			if row.before != nil {
				row.before(w)
				w.take(snapshot.Options{Scan: scanner("1", &looks, "another")})
			}
			row.setup(w)
			first := w.take(snapshot.Options{Scan: scanner("2", &looks, word)})
			if diff := cmp.Diff(row.left, leftPaths(first.LeftOut)); diff != "" {
				t.Error(diff)
			}
			for _, p := range row.left {
				if slices.Contains(w.files(first.Tree.String()), p) {
					t.Errorf("%s is in the tree", p)
				}
			}
			if !row.enters && w.hasObject(word) {
				t.Error("its bytes are in the object store")
			}
			// Another look costs what changed, and who has no scanner sees the same.
			looks.Store(0)
			again := w.take(snapshot.Options{Scan: scanner("2", &looks, word)})
			if again.Tree != first.Tree || looks.Load() > int64(2*len(row.left)) {
				t.Errorf("again: tree %s, not %s; %d looks", again.Tree, first.Tree, looks.Load())
			}
			if staged := w.stage(); staged.Tree != first.Tree || cmp.Diff(again.LeftOut, staged.LeftOut) != "" {
				t.Errorf("without a scanner: tree %s, not %s; left out %v", staged.Tree, first.Tree, staged.LeftOut)
			}
			// Once it holds it no more, it is there again.
			for _, p := range row.left {
				w.remove(p)
				if !strings.Contains(p, word) {
					w.write(p, "harmless")
				}
			}
			clean := w.take(snapshot.Options{Scan: scanner("2", &looks, word)})
			for _, p := range row.left {
				if in := slices.Contains(w.files(clean.Tree.String()), p); in == strings.Contains(p, word) || len(clean.LeftOut) > 0 {
					t.Errorf("%s: in the tree %v, left out %v", p, in, clean.LeftOut)
				}
			}
		})
	}
}

// TestScanFollowsTheChange: what was looked into is not looked into again, on any
// way by which a tree comes back.
func TestScanFollowsTheChange(t *testing.T) {
	w := newWorld(t)
	var looks atomic.Int64
	take := func(generation string) int64 {
		t.Helper()
		looks.Store(0)
		w.take(snapshot.Options{Scan: scanner(generation, &looks, "a-known-value")})
		return looks.Load()
	}
	for i := range 300 {
		w.write(fmt.Sprintf("f/%d", i), fmt.Sprint("file ", i))
	}
	w.commitAll("first")
	for _, row := range []struct {
		name       string
		generation string
		change     func()
		most       int64
	}{
		{"first", "1", func() {}, 300},
		{"again", "1", func() {}, 0},
		{"an edit", "1", func() { w.write("f/1", "edited") }, 2},
		{"the same edit", "1", func() {}, 2},
		{"many edits", "1", func() {
			for i := range 60 {
				w.write(fmt.Sprintf("f/%d", i), fmt.Sprint("edited ", i))
			}
		}, 121},
		{"staged and committed", "1", func() { w.commitAll("second") }, 0},
		{"another generation", "2", func() {}, 300},
		{"the private index is lost", "2", func() { w.remove(".git/git-ftl/index/main") }, 0},
		{"the last tree is gone", "2", func() { w.forgetScan() }, 300},
		{"attributes change", "2", func() { w.write(".gitattributes", "*.x text\n") }, 2},
	} {
		row.change()
		if got := take(row.generation); got > row.most || row.most >= 300 && got < 300 {
			t.Errorf("%s: looked into %d files, not %d", row.name, got, row.most)
		}
	}
}

// forgetScan makes the memory name a tree that is nowhere.
func (w *world) forgetScan() {
	w.Helper()
	name := w.path(".git/git-ftl/index/main.json")
	data, err := os.ReadFile(name)
	if err != nil {
		w.Fatal(err)
	}
	var memory map[string]any
	if err := json.Unmarshal(data, &memory); err != nil {
		w.Fatal(err)
	}
	memory["Scan"].(map[string]any)["Tree"] = make([]int, 20)
	memory["Scan"].(map[string]any)["Tree"].([]int)[0] = 1
	if data, err = json.Marshal(memory); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		w.Fatal(err)
	}
}

// TestScanModules: the files of a submodule are looked into, once.
func TestScanModules(t *testing.T) {
	inner := newWorld(t)
	inner.write("held", "a-known-value")
	inner.write("plain", "plain")
	inner.commitAll("inner")
	w := newWorld(t)
	w.write("a", "a")
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.dir, "sub")
	w.commitAll("outer")
	var looks atomic.Int64
	for _, most := range []int64{4, 0} {
		looks.Store(0)
		snap := w.take(snapshot.Options{Scan: scanner("1", &looks, "a-known-value")})
		if got := leftPaths(snap.LeftOut); !slices.Contains(got, "sub/held") || slices.Contains(got, "sub/plain") {
			t.Errorf("left out: %v", got)
		}
		if looks.Load() > most {
			t.Errorf("%d looks", looks.Load())
		}
		export, err := w.store.Export(t.Context(), snap, "x")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("grep", "-rl", "a-known-value", export.Dir).CombinedOutput(); len(out) > 0 {
			t.Errorf("exported: %s %v", out, err)
		}
	}
}

// TestScanRace: the bytes that are looked into are the bytes that are taken: a file
// that changes in between is found in the tree.
func TestScanRace(t *testing.T) {
	w := newWorld(t)
	w.write("held", "harmless")
	var looks atomic.Int64
	change := func(left []snapshot.LeftOut) (snapshot.Scanner, error) {
		s, err := scanner("1", &looks, "a-known-value")(left)
		look, first := s.Look, true
		s.Look = func(r io.Reader) (string, error) {
			why, err := look(r)
			if first {
				first = false
				w.write("held", "a-known-value")
				past := time.Now().Add(-time.Minute)
				err = os.Chtimes(w.path("held"), past, past)
			}
			return why, err
		}
		return s, err
	}
	snap := w.take(snapshot.Options{Scan: change})
	if got := leftPaths(snap.LeftOut); !slices.Contains(got, "held") || slices.Contains(w.files(snap.Tree.String()), "held") {
		t.Errorf("left out: %v", got)
	}
}
