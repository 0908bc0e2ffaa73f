package patch

import (
	"bytes"
	"errors"
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

// trees is how many folders a round has, each with attributes of its own: most of
// a round is the start of processes.
const trees = 10

// An undo restores bytes, modes and times of 500 random trees, whatever the
// attributes, and however many parts the result was applied in.
func TestUndoIsByteExact(t *testing.T) {
	rounds, repos := 500/trees, 5
	if testing.Short() {
		rounds, repos = 6, 2
	}
	for i := range repos {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			undoRounds(t, rand.New(rand.NewSource(int64(i))), rounds/repos)
		})
	}
}

var names = []string{"a", "b.txt", "c d", "e\tf", "g/h", "g/i.txt", "g/j/k", "l/m", "é/ö", "n", "o/p/q/r", "\xff", "l/s"}

var attributes = []string{
	"*.txt text eol=crlf\n", "* text=auto\n", "*.txt -text\n*.bin binary\n", "g/* text eol=lf\n", "* ident\n", "* text=auto eol=crlf ident\n",
	"*.txt text working-tree-encoding=UTF-16LE-BOM eol=lf\n", "*.txt working-tree-encoding=latin1\nn ident\n",
}

func undoRounds(t *testing.T, rnd *rand.Rand, rounds int) {
	l := newLab(t)
	for round := range rounds {
		l.git("config", "core.autocrlf", []string{"true", "false", "input"}[rnd.Intn(3)])
		var all []string
		for i := range trees {
			all = append(all, scribbleTree(l, rnd, fmt.Sprintf("%d/", i))...)
		}
		base := l.snapshot()
		var changes []change
		for _, n := range all {
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
		before := l.disk()
		applies := applyInParts(l, rnd, r)
		now := l.stage()
		for i := range trees {
			got, err1 := l.objs.Lookup(now, fmt.Sprint(i))
			want, err2 := l.objs.Lookup(r.Tree, fmt.Sprint(i))
			l.must(errors.Join(err1, err2))
			if got != want && !mixedEndings(l, want.Hash) {
				t.Errorf("round %d: staged tree is %s, want %s:\n%s", round, got.Hash, want.Hash, l.git("diff", "--name-status", want.Hash.String(), got.Hash.String()))
			}
		}
		for range applies {
			l.undo()
		}
		if d := cmp.Diff(before, l.disk()); d != "" {
			t.Fatalf("round %d, %d applies:\n%s", round, applies, d)
		}
		if found, err := l.q.Find(t.Context(), r.ID); err != nil || found.State != Undone || found.Have != base.Tree {
			t.Fatalf("round %d: %+v, %v", round, found, err)
		}
	}
}

// scribbleTree makes a folder of random files with random attributes, and returns
// the paths that can be in it.
func scribbleTree(l *lab, rnd *rand.Rand, dir string) (paths []string) {
	l.must(os.RemoveAll(l.path(dir + ".gitattributes")))
	encoded := false
	if rnd.Intn(3) > 0 {
		text := attributes[rnd.Intn(len(attributes))]
		encoded = strings.Contains(text, "working-tree-encoding")
		l.write(dir+".gitattributes", text)
	}
	for _, n := range names {
		paths = append(paths, dir+n)
		scribble(l, rnd, dir+n)
		if encoded && strings.HasSuffix(n, ".txt") {
			l.must(os.RemoveAll(l.path(dir + n)))
			l.write(dir+n, encodedText(rnd))
		}
	}
	return paths
}

// applyInParts applies all of r, at random as one or in parts, and returns how
// often something was written.
func applyInParts(l *lab, rnd *rand.Rand, r Result) (applies int) {
	l.t.Helper()
	for range rnd.Intn(2) {
		var chosen []Piece
		for _, p := range l.pieces(r) {
			if rnd.Intn(3) == 0 {
				chosen = append(chosen, p)
			}
		}
		part, err := l.q.Take(l.t.Context(), r, chosen)
		l.must(err)
		if part.Tree == r.Have || part.Tree == r.Tree {
			continue
		}
		done, err := l.q.Apply(l.t.Context(), r.ID, ApplyOptions{Now: l.now(), Part: &part})
		l.must(err)
		if len(done.Files) > 0 {
			applies++
		}
		r = done.Result
	}
	if done := l.apply(r.ID); len(done.Files) > 0 {
		applies++
	}
	return applies
}

// encodedText is UTF-16 with a mark, or bytes that are Latin-1 and no UTF-8.
func encodedText(rnd *rand.Rand) string {
	var b strings.Builder
	if rnd.Intn(2) == 0 {
		for range rnd.Intn(4) {
			b.WriteString("\xe9t\xe9\n")
		}
		return b.String()
	}
	b.WriteString("\xff\xfe")
	for range rnd.Intn(4) {
		b.WriteString("\xe9\x00x\x00\n\x00")
	}
	return b.String()
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
	if rnd.Intn(4) == 0 {
		b.WriteString("$Id$" + end)
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
