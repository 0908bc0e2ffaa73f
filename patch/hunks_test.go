package patch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// pieces lists what is left of r.
func (l *lab) pieces(r Result, paths ...string) []Piece {
	l.t.Helper()
	all, err := l.q.Pieces(l.t.Context(), r, paths)
	l.must(err)
	return all
}

func TestPieces(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("both", lines(40, nil))
	l.write("crlf", "a\r\nb\r\n")
	l.write("end", "a\nb")
	l.write("gone", "g\n")
	l.write("folder/x", "x\n")
	l.write("file", "f\n")
	l.write("bin", "\x00\x01")
	l.write("kind", "k\n")
	l.write("empty", "")
	r := l.store(l.snapshot(), executable("both", lines(40, map[int]string{3: "three", 30: "thirty"})), file("crlf", "a\r\nc\r\n"),
		file("end", "a\nc"), gone("gone"), gone("folder/x"), file("folder", "now a file\n"), gone("file"), file("file/a", "a\n"), file("file/b", "b\n"),
		executable("bin", "\x00\x02"), link("kind", "both"), file("empty", "no more\n"), file("new é\n", ""), executable("run", "#!\n"))
	type row struct {
		Path   string
		Change Kind
		Hunk   bool
		Text   string
	}
	var got []row
	for _, p := range l.pieces(r) {
		text, _, _ := strings.Cut(p.Text, "\n")
		if p.Hunk && p.Path != "both" {
			text = p.Text
		}
		got = append(got, row{p.Path, p.Change, p.Hunk, text})
		if !strings.HasPrefix(p.Header, "diff --git ") {
			t.Errorf("%s has the header %q", p.Path, p.Header)
		}
	}
	want := []row{
		{"bin", Mode, false, ""}, {"bin", Modified, false, "Binary files a/bin and b/bin differ"},
		{"both", Mode, false, ""}, {"both", Modified, true, "@@ -1,6 +1,6 @@"}, {"both", Modified, true, "@@ -27,7 +27,7 @@ line ab"},
		{"crlf", Modified, true, "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"},
		{"empty", Modified, true, "@@ -0,0 +1 @@\n+no more\n"},
		{"end", Modified, true, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		{"file", Type, false, "@@ -1 +0,0 @@"},
		{"folder", Type, false, "@@ -0,0 +1 @@"},
		{"gone", Deleted, false, "@@ -1 +0,0 @@"},
		{"kind", Type, false, "@@ -1 +0,0 @@"},
		{"new é\n", Added, false, ""},
		{"run", Added, false, "@@ -0,0 +1 @@"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	all, err := l.q.Take(t.Context(), r, l.pieces(r))
	if err != nil || all.Tree != r.Tree {
		t.Errorf("all of it is %s, want %s, %v", all.Tree, r.Tree, err)
	}
	none, err := l.q.Take(t.Context(), r, nil)
	if err != nil || none.Tree != r.Have {
		t.Errorf("nothing of it is %s, want %s, %v", none.Tree, r.Have, err)
	}
	// A file and the folder in its place come and go together.
	i := slices.IndexFunc(l.pieces(r), func(p Piece) bool { return p.Path == "file" })
	part, err := l.q.Take(t.Context(), r, l.pieces(r)[i:i+1])
	l.must(err)
	if got := l.git("diff-tree", "-r", "--name-status", "--no-renames", r.Have.String(), part.Tree.String()); got != "D\tfile\nA\tfile/a\nA\tfile/b" {
		t.Errorf("got %s", got)
	}
	if got := len(l.pieces(r, "file", "both")); got != 4 {
		t.Errorf("%d pieces of two paths", got)
	}
	if _, err := l.q.Pieces(t.Context(), r, []string{"both", "fil"}); !errors.Is(err, ErrPaths) || !strings.Contains(err.Error(), "fil") {
		t.Errorf("got %v", err)
	}
}

// A file that is too large for hunks is one piece.
func TestPiecesOfALargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 130 MB")
	}
	l := newLab(t)
	big := strings.Repeat("line\n", 13<<20)
	r := Result{ID: "kkkk", State: Undecided}
	for side, tree := range []*plumbing.Hash{&r.BaseTree, &r.Tree} {
		h1, err1 := l.objs.WriteBlob([]byte(big + strings.Repeat("more\n", side)))
		h2, err2 := l.objs.WriteBlob([]byte(fmt.Sprintln(side)))
		l.must(errors.Join(err1, err2))
		var err error
		*tree, err = l.objs.Rewrite(plumbing.ZeroHash, []git.Change{
			{Path: "big", New: git.Entry{Mode: reg, Hash: h1}}, {Path: "small", New: git.Entry{Mode: reg, Hash: h2}},
		})
		l.must(err)
	}
	r.Have = r.BaseTree
	all := l.pieces(r)
	if len(all) != 2 || all[0].Hunk || !strings.HasPrefix(all[0].Text, "Binary files") {
		t.Errorf("%d pieces, the first with %.40q", len(all), all[0].Text)
	}
	part, err := l.q.Take(t.Context(), r, all[:1])
	l.must(err)
	if got := l.git("diff-tree", "-r", "--name-only", r.Tree.String(), part.Tree.String()); got != "small" {
		t.Errorf("differs in %s", got)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", lines(12, nil))
	r := l.store(l.snapshot(), file("a", lines(12, map[int]string{3: "three\nand more", 5: "five", 9: "nine"})))
	all := l.pieces(r)
	if len(all) != 1 {
		t.Fatalf("%d pieces", len(all))
	}
	parts := all[0].Split()
	var heads []string
	for _, p := range parts {
		head, _, _ := strings.Cut(p.Text, "\n")
		heads = append(heads, head)
		if p.Split() != nil {
			t.Errorf("%s can be split", head)
		}
	}
	if d := cmp.Diff([]string{"@@ -1,4 +1,5 @@", "@@ -4,5 +5,5 @@", "@@ -6,7 +7,7 @@"}, heads); d != "" {
		t.Error(d)
	}
	for mask := range 8 {
		var chosen []Piece
		edit := map[int]string{}
		for i, e := range []struct {
			line int
			text string
		}{{3, "three\nand more"}, {5, "five"}, {9, "nine"}} {
			if mask>>i&1 == 1 {
				chosen = append(chosen, parts[i])
				edit[e.line] = e.text
			}
		}
		slices.Reverse(chosen)
		part, err := l.q.Take(t.Context(), r, chosen)
		l.must(err)
		if got := l.git("show", part.Tree.String()+":a"); got+"\n" != lines(12, edit) {
			t.Errorf("%b: %q", mask, got)
		}
	}
}

// What is taken of random changes is what git apply makes of a patch with exactly
// these hunks.
func TestTakeIsGitApply(t *testing.T) {
	cases, repos := 300, 4
	if testing.Short() {
		cases, repos = 20, 2
	}
	for i := range repos {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			rnd := rand.New(rand.NewSource(int64(i)))
			for n := range cases / repos {
				takeRandom(l, rnd, n)
			}
		})
	}
}

func takeRandom(l *lab, rnd *rand.Rand, n int) {
	l.t.Helper()
	trees := [2]plumbing.Hash{}
	for side := range trees {
		var changes []git.Change
		for _, name := range names {
			if c, ok := randomEntry(l, rnd, name, side); ok {
				changes = append(changes, c)
			}
		}
		if side == 1 { // a rename, and what stays
			changes = append(changes, git.Change{Path: "moved", New: git.Entry{}})
		}
		var err error
		trees[side], err = l.objs.Rewrite(trees[0], changes)
		l.must(err)
	}
	r := Result{ID: "kkkk", Have: trees[0], BaseTree: trees[0], Tree: trees[1], State: Undecided}
	var chosen []Piece
	for _, p := range l.pieces(r) {
		parts := []Piece{p}
		if split := p.Split(); split != nil && rnd.Intn(2) == 0 {
			parts = split
		}
		for _, p := range parts {
			if rnd.Intn(2) == 0 {
				chosen = append(chosen, p)
			}
		}
	}
	part, err := l.q.Take(l.t.Context(), r, chosen)
	l.must(err)
	want := gitApply(l, r, chosen)
	if part.Tree != want {
		l.t.Fatalf("case %d: took %s, git apply makes %s:\n%s", n, part.Tree, want, l.git("diff", want.String(), part.Tree.String()))
	}
}

// randomEntry is what a path has on a side: side 1 is an edit of side 0, if that
// has it.
func randomEntry(l *lab, rnd *rand.Rand, name string, side int) (git.Change, bool) {
	l.t.Helper()
	if side == 1 && rnd.Intn(4) == 0 {
		return git.Change{Path: name}, rnd.Intn(2) == 0 // gone, or as it was
	}
	if side == 0 && rnd.Intn(4) == 0 {
		return git.Change{}, false
	}
	seed := rand.New(rand.NewSource(int64(len(name)) + rnd.Int63n(3)*100))
	end := []string{"\n", "\r\n"}[seed.Intn(2)]
	var b strings.Builder
	for i := range seed.Intn(30) {
		switch k := rnd.Intn(12); {
		case side == 1 && k == 0:
		case side == 1 && k == 1:
			fmt.Fprintf(&b, "new %d%s", rnd.Intn(3), end)
		case side == 1 && k == 2:
			fmt.Fprintf(&b, "line %d%sadded%s", i%4, end, end)
		default:
			fmt.Fprintf(&b, "line %d%s", i%4, end)
		}
	}
	content := b.String()
	mode := []git.Entry{{Mode: reg}, {Mode: reg}, {Mode: exe}, {Mode: sym}}[rnd.Intn(4)].Mode
	switch k := rnd.Intn(8); {
	case mode == sym:
		content = "target" + fmt.Sprint(rnd.Intn(2))
	case k == 0:
		content += "\x00"
	case k < 4:
		content += "no newline"
	}
	h, err := l.objs.WriteBlob([]byte(content))
	l.must(err)
	return git.Change{Path: name, New: git.Entry{Mode: mode, Hash: h}}, true
}

// gitApply lets git apply a patch of these pieces to what r has.
func gitApply(l *lab, r Result, chosen []Piece) plumbing.Hash {
	l.t.Helper()
	index := filepath.Join(l.repo.State, "test-apply")
	_, err := l.repo.Output(l.t.Context(), git.Call{Args: []string{"read-tree", r.Have.String()}, Index: index})
	l.must(err)
	for p := range byPath(chosen) {
		text := patchOf(l, r, p)
		_, err = l.repo.Output(l.t.Context(), git.Call{Args: []string{"apply", "--cached", "--whitespace=nowarn"}, Index: index, Stdin: strings.NewReader(text)})
		if err != nil {
			l.t.Fatalf("%v\n%s", err, text)
		}
	}
	out, err := l.repo.Output(l.t.Context(), git.Call{Args: []string{"write-tree"}, Index: index})
	l.must(err)
	return plumbing.NewHash(strings.TrimSpace(string(out)))
}

func byPath(chosen []Piece) func(func([]Piece) bool) {
	return func(yield func([]Piece) bool) {
		for len(chosen) > 0 {
			n := 1
			for n < len(chosen) && chosen[n].Path == chosen[0].Path {
				n++
			}
			if !yield(chosen[:n]) {
				return
			}
			chosen = chosen[n:]
		}
	}
}

// patchOf words the pieces of one file, with hunks where they are once those
// before them are in. What is no text comes as git words it.
func patchOf(l *lab, r Result, pieces []Piece) string {
	l.t.Helper()
	p := pieces[0]
	if c := p.changes[0]; !regular(c.Old.Mode) || !regular(c.New.Mode) || !slices.ContainsFunc(pieces, func(p Piece) bool { return p.Hunk }) {
		changes := slices.Clone(p.changes)
		if regular(c.Old.Mode) && regular(c.New.Mode) {
			changes[0].New = c.Old
			for _, p := range pieces {
				if p.Change == Mode {
					changes[0].New.Mode = c.New.Mode
				} else {
					changes[0].New.Hash = c.New.Hash
				}
			}
		}
		to, err := l.objs.Rewrite(r.Have, changes)
		l.must(err)
		var out bytes.Buffer
		l.must(l.q.diff(l.t.Context(), r.Have, to, &out, "--binary", "--full-index"))
		return out.String()
	}
	var b strings.Builder
	names := cQuote("a/"+p.Path) + " " + cQuote("b/"+p.Path)
	fmt.Fprintf(&b, "diff --git %s\n", names)
	if p.Change == Mode {
		fmt.Fprintf(&b, "old mode %o\nnew mode %o\n", uint32(p.changes[0].Old.Mode), uint32(p.changes[0].New.Mode))
		pieces = pieces[1:]
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", cQuote("a/"+p.Path), cQuote("b/"+p.Path))
	shift := 0
	var joined []hunk
	for _, p := range pieces {
		h := p.hunk
		if n := len(joined); n > 0 { // those of one split share lines
			last := &joined[n-1]
			old, _ := last.sides()
			if over := last.old + old - h.old; over > 0 {
				h.lines = h.lines[over:]
				last.lines = append(slices.Clone(last.lines), h.lines...)
				continue
			}
		}
		joined = append(joined, h)
	}
	for _, h := range joined {
		h.new = h.old + shift
		old, new := h.sides()
		shift += new - old
		b.WriteString(h.text())
	}
	return b.String()
}
