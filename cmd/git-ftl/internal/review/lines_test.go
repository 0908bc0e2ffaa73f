package review

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/patch"
)

func TestHunk(t *testing.T) {
	t.Parallel()
	type want struct {
		Title string
		Lines []line
	}
	for _, tc := range []struct {
		name  string
		piece patch.Piece
		want  want
	}{
		{"numbers", patch.Piece{Hunk: true, Text: "@@ -9,3 +12,3 @@ func\n a\n-b\n+c\n d\n"}, want{"@@ -9,3 +12,3 @@ func", []line{
			{op: ' ', old: 9, new: 12, text: "a"}, {op: '-', old: 10, text: "b"}, {op: '+', new: 13, text: "c"}, {op: ' ', old: 11, new: 14, text: "d"},
		}}},
		{"no end", patch.Piece{Hunk: true, Text: "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\r\n\\ No newline at end of file\n"}, want{"@@ -1 +1 @@", []line{
			{op: '-', old: 1, text: "a", bare: true}, {op: '+', new: 1, text: "b\r", bare: true},
		}}},
		{"lines that look like git's own", patch.Piece{Hunk: true, Text: "@@ -1,2 +1,2 @@\n-@@ -1 +1 @@\n+\\ No newline\n @@ -1 +1 @@\n"}, want{"@@ -1,2 +1,2 @@", []line{
			{op: '-', old: 1, text: "@@ -1 +1 @@"}, {op: '+', new: 1, text: `\ No newline`}, {op: ' ', old: 2, new: 2, text: "@@ -1 +1 @@"},
		}}},
		{"a file for a folder", patch.Piece{Change: patch.Type, Header: "deleted file mode 100644\n", Text: "@@ -1 +0,0 @@\n-a\ndiff --git a/f/a b/f/a\nnew file mode 120000\n@@ -0,0 +1 @@\n+b\n"},
			want{"change of type: deleted file mode 100644", []line{
				{op: '-', old: 1, text: "a"}, {text: "diff --git a/f/a b/f/a"}, {text: "new file mode 120000"}, {text: "@@ -0,0 +1 @@"}, {op: '+', new: 1, text: "b"},
			}}},
		{"a link", patch.Piece{Change: patch.Added, Header: "new file mode 120000\n"}, want{"addition of the file: new file mode 120000", nil}},
		{"a plain file", patch.Piece{Change: patch.Added, Header: "new file mode 100644\n"}, want{"addition of the file", nil}},
		{"a binary", patch.Piece{Change: patch.Modified, Text: "Binary files a/b and b/b differ\n"}, want{"change of a binary file", []line{{text: "Binary files a/b and b/b differ"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHunk(tc.piece, 0)
			if d := cmp.Diff(tc.want, want{h.title(), h.lines}, cmp.AllowUnexported(line{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestNames: a hunk keeps its name where only its numbers and what is around it
// change, and comments keep their lines; other hunks have other names.
func TestNames(t *testing.T) {
	t.Parallel()
	piece := func(text string) patch.Piece {
		return patch.Piece{Path: "a", Change: patch.Modified, Hunk: true, Text: text}
	}
	before := newHunk(piece("@@ -4,3 +4,3 @@\n x\n-a\n+b\n y\n"), 0)
	after := newHunk(piece("@@ -6,4 +9,4 @@ func\n w\n z\n-a\n+b\n y\n"), 0)
	if before.key != after.key {
		t.Errorf("%s became %s", before.key, after.key)
	}
	if got := after.index(before.line(2)); got != 3 {
		t.Errorf("the comment went to line %d", got)
	}
	if got := after.index(before.line(-1)); got != -1 {
		t.Errorf("the comment on the hunk went to %d", got)
	}
	if got := before.index(after.line(0)); got != 0 {
		t.Errorf("the comment on a line that is gone went to %d", got)
	}
	other := newHunk(piece("@@ -4,3 +4,3 @@\n x\n-a\n+c\n y\n"), 0)
	if other.key == before.key {
		t.Error("two changes have one name")
	}
	p := piece("@@ -4,3 +4,3 @@\n x\n-a\n+b\n y\n")
	twice := hunksOf([]File{{Path: "a", Pieces: []patch.Piece{p, p}}}, nil)
	if twice[0].key == twice[1].key {
		t.Error("the same change at two places has one name")
	}
}
