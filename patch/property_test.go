package patch

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

// An undo restores bytes, modes and times, whatever the
// attributes.
func TestUndoIsByteExact(t *testing.T) {
	rounds, repos := 100, 5
	if testing.Short() {
		rounds, repos = 10, 2
	}
	for i := range repos {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			undoRounds(t, rand.New(rand.NewSource(int64(i))), rounds/repos)
		})
	}
}

var names = []string{"a", "b.txt", "c d", "e\tf", "g/h", "g/i.txt", "g/j/k", "l/m", "é/ö", "n", "o/p/q/r", "\xff", "l/s"}

func undoRounds(t *testing.T, rnd *rand.Rand, rounds int) {
	l := newLab(t)
	for round := range rounds {
		l.git("config", "core.autocrlf", []string{"true", "false", "input"}[rnd.Intn(3)])
		if rnd.Intn(2) == 0 {
			l.write(".gitattributes", []string{"*.txt text eol=crlf\n", "* text=auto\n", "*.txt -text\n*.bin binary\n", "g/* text eol=lf\n"}[rnd.Intn(4)])
		}
		for _, n := range names {
			scribble(l, rnd, n)
		}
		base := l.snapshot()
		var changes []change
		for _, n := range names {
			if c, ok := agentChange(l, rnd, n); ok {
				changes = append(changes, c)
			}
		}
		if len(changes) == 0 {
			continue
		}
		data := l.patch(base, changes...)
		if bytes.HasPrefix(data, []byte("ftl-end")) {
			continue
		}
		r, err := l.storeBytes(base, data)
		l.must(err)
		now := l.now()
		before := l.disk()
		done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: now})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if got := l.stage(); got != r.Tree && !mixedEndings(l, r.Tree) {
			t.Errorf("round %d: staged tree is %s, want %s:\n%s", round, got, r.Tree, l.git("diff", "--name-status", r.Tree.String(), got.String()))
		}
		_, err = l.q.Undo(t.Context(), UndoOptions{})
		l.must(err)
		if d := cmp.Diff(before, l.disk()); d != "" {
			t.Fatalf("round %d, %v:\n%s", round, done.Files, d)
		}
	}
}

// mixedEndings reports whether a tree has carriage returns, which git itself
// normalises differently on the way back in.
func mixedEndings(l *lab, tree plumbing.Hash) bool {
	for line := range strings.SplitSeq(l.git("ls-tree", "-r", tree.String()), "\n") {
		b, err := l.objs.Blob(plumbing.NewHash(strings.Fields(line)[2]))
		l.must(err)
		if bytes.Contains(b, []byte("\r")) {
			return true
		}
	}
	return false
}

// scribble makes a random file of the user's at a path, or none.
func scribble(l *lab, rnd *rand.Rand, n string) {
	l.must(os.RemoveAll(l.path(n)))
	switch rnd.Intn(6) {
	case 0:
		return
	case 1:
		l.write("target", "t\n")
		l.write(n, "")
		l.must(os.Remove(l.path(n)))
		l.must(os.Symlink("target", l.path(n)))
		return
	}
	l.write(n, text(rnd))
	l.must(os.Chmod(l.path(n), []os.FileMode{0o644, 0o600, 0o755, 0o640, 0o444, 0o700}[rnd.Intn(6)]))
	at := time.Unix(1_600_000_000+rnd.Int63n(1e8), rnd.Int63n(1e9))
	l.must(os.Chtimes(l.path(n), at, at))
}

func text(rnd *rand.Rand) string {
	var b strings.Builder
	end := []string{"\n", "\r\n"}[rnd.Intn(2)]
	for range rnd.Intn(6) {
		b.WriteString(fmt.Sprint("line ", rnd.Intn(9)) + end)
	}
	switch rnd.Intn(5) {
	case 0:
		b.WriteString("no newline")
	case 1:
		b.WriteString("\x00binary")
	}
	return b.String()
}

func agentChange(l *lab, rnd *rand.Rand, n string) (change, bool) {
	_, err := os.Lstat(l.path(n))
	there := err == nil
	switch k := rnd.Intn(6); {
	case k == 0 && there:
		return gone(n), true
	case k == 1:
		return link(n, "target"), true
	case k == 2:
		return executable(n, text(rnd)), true
	case k < 5:
		return file(n, text(rnd)), true
	}
	return change{}, false
}

// 5,000 files and a file of 100 MB, in bounded memory.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds and 400 MB of disk")
	}
	t.Parallel()
	l := newLab(t)
	const many = 5000
	for i := range many {
		l.write(fmt.Sprintf("d%d/f%d", i%50, i), fmt.Sprintf("file %d\n", i))
	}
	base := l.snapshot()
	var sections []string
	var changes []change
	for i := range many {
		changes = append(changes, file(fmt.Sprintf("d%d/f%d", i%50, i), fmt.Sprintf("file %d\nmore\n", i)))
	}
	big := make([]byte, 100<<20)
	rand.New(rand.NewSource(1)).Read(big)
	big[0] = 0
	sections = append(sections, sectionOf("big", 0, reg, "", string(big)))
	for _, c := range changes {
		was := strings.TrimSuffix(c.content, "more\n")
		sections = append(sections, sectionOf(c.path, reg, reg, was, c.content))
	}
	sections = sortSections(sections)
	data := seal(sections...)
	want := plumbing.ComputeHash(plumbing.BlobObject, big)
	sections, changes, big = nil, nil, nil
	runtime.GC()
	peak := watchMemory(t)
	start := time.Now()
	r, err := l.storeBytes(base, data)
	l.must(err)
	t.Logf("store %v, peak %d MB over what was there", time.Since(start), peak()>>20)
	if got := peak(); got > 900<<20 {
		t.Errorf("peak of %d MB", got>>20)
	}
	if got := l.git("rev-parse", r.Commit.String()+":big"); got != want.String() {
		t.Errorf("big is %s", got)
	}
	now := l.now()
	start = time.Now()
	done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: now})
	l.must(err)
	t.Logf("apply %v", time.Since(start))
	if len(done.Files) != many+1 || l.read("d7/f7") != "file 7\nmore\n" {
		t.Errorf("%d files", len(done.Files))
	}
	start = time.Now()
	l.undo()
	t.Logf("undo %v", time.Since(start))
	if got := l.stage(); got != base.Tree {
		t.Errorf("undone tree is %s, want %s", got, base.Tree)
	}
}

func sortSections(sections []string) []string {
	key := func(s string) string {
		p, _, _ := strings.Cut(strings.TrimPrefix(s, "diff --git a/"), " b/")
		return p
	}
	slices.SortFunc(sections, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	return sections
}

// watchMemory samples the heap until the returned function is called.
func watchMemory(t *testing.T) func() uint64 {
	var start runtime.MemStats
	runtime.ReadMemStats(&start)
	var peak uint64
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if m.HeapInuse > start.HeapInuse {
					peak = max(peak, m.HeapInuse-start.HeapInuse)
				}
			}
		}
	}()
	stopped := false
	return func() uint64 {
		if !stopped {
			close(stop)
			<-done
			stopped = true
		}
		return peak
	}
}
