//go:build linux

package workspace

import (
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

// TestRandomTrees changes trees at random. The patch makes git turn the base
// into the workspace, and a reset turns the workspace back.
func TestRandomTrees(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	s := newSpace(t)
	a := newApplier(t)
	changed := 0
	for n := range 300 {
		base := randomFiles(rnd, 1+rnd.IntN(12))
		id := fmt.Sprint("base", n)
		resetAll(t, s, id, base)
		wantBase(t, s, base)
		for range rnd.IntN(8) {
			mutate(t, rnd, s.Root)
		}
		want := take(t, s.Root, ".git")
		patch, _ := change(t, s)
		if patch != "" {
			changed++
		}
		if diff := cmp.Diff(want, a.apply(t, s.Tree, patch)); diff != "" {
			t.Fatalf("case %d: git apply gives another tree (-workspace +applied):\n%s\n%s", n, diff, patch)
		}
		reseti(t, s, wire.Reset{ID: id, From: id})
		wantBase(t, s, base)
		if patch, _ := change(t, s); patch != "" {
			t.Fatalf("case %d: a fresh reset has changes:\n%s", n, patch)
		}
		if t.Failed() {
			t.Fatalf("case %d, base %q", n, base)
		}
	}
	if changed < 200 {
		t.Errorf("only %d of 300 cases changed anything", changed)
	}
}

func randomPath(rnd *rand.Rand) string {
	names := []string{"a", "b", "a.b", "a-b", "a b", "d", "e", "new\nline", "tab\t", "q\"uote", "back\\slash", "é", "\xff\xfe", "-x", "a/b", "d/e/f", "d/x", ":c"}
	p := names[rnd.IntN(len(names))]
	for rnd.IntN(3) == 0 {
		p += "/" + names[rnd.IntN(len(names))]
	}
	return p
}

func randomFile(rnd *rand.Rand) string {
	if rnd.IntN(8) == 0 {
		return "link " + randomPath(rnd)
	}
	mode := []string{"644 ", "755 "}[rnd.IntN(2)]
	if rnd.IntN(10) == 0 {
		return mode + "bin\x00\x01" + strings.Repeat("\x7f\x00", rnd.IntN(100))
	}
	var b strings.Builder
	for range rnd.IntN(30) {
		b.WriteString([]string{"a\n", "b\n", "\n", "c\r\n", "\r", "\\ No newline at end of file\n", "-x\n", "+x\n", "@@ -1 +1 @@\n", "é\xff\n", "tail"}[rnd.IntN(11)])
	}
	return mode + b.String()
}

// randomFiles leaves out paths below or above another one.
func randomFiles(rnd *rand.Rand, n int) files {
	all := files{}
	for range n {
		p := randomPath(rnd)
		clash := slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(q string) bool {
			return strings.HasPrefix(p+"/", q+"/") || strings.HasPrefix(q+"/", p+"/")
		})
		if !clash {
			all[p] = randomFile(rnd)
		}
	}
	return all
}

// mutate does one thing that an agent could do.
func mutate(t *testing.T, rnd *rand.Rand, root string) {
	p := randomPath(rnd)
	if have := slices.Sorted(maps.Keys(take(t, root, ".git"))); len(have) > 0 && rnd.IntN(2) == 0 {
		p = have[rnd.IntN(len(have))]
	}
	name := filepath.Join(root, p)
	info, err := os.Lstat(name)
	switch choice := rnd.IntN(5); {
	case choice == 0 && err == nil:
		must(t, os.RemoveAll(name))
	case choice == 1 && err == nil && info.Mode().IsRegular():
		must(t, os.Chmod(name, info.Mode().Perm()^0o111))
	case choice == 2 && err == nil && info.Mode().IsRegular():
		data, err := os.ReadFile(name)
		must(t, err)
		at := rnd.IntN(len(data) + 1)
		edited := string(data[:at]) + []string{"", "X", "Y\n", "\r\n"}[rnd.IntN(4)] + string(data[min(at+rnd.IntN(3), len(data)):])
		must(t, os.WriteFile(name, []byte(edited), 0o644))
	default:
		for dir := filepath.Dir(name); dir != root; dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
				must(t, os.Remove(dir))
			}
		}
		must(t, os.RemoveAll(name))
		put(t, root, p, randomFile(rnd))
	}
}
