package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/patch"
)

// hunk is a piece as it is shown.
type hunk struct {
	piece patch.Piece
	key   string
	file  int // of the change
	head  string
	lines []line
	first int // line that is changed
}

// line is one line of a hunk.
type line struct {
	op       byte   // ' ', '+', '-', or 0 for a word of git about the file
	old, new int    // numbers from 1, 0 where that side does not have it
	text     string // raw, without operation and end
	bare     bool   // its end is missing in the file
}

// where names the line for a person who has the file.
func (l line) where() string {
	switch l.op {
	case '-':
		return fmt.Sprintf("%d (removed) `%s`", l.old, l.text)
	case 0:
		return "`" + l.text + "`"
	}
	return fmt.Sprintf("%d `%s`", l.new, l.text)
}

var hunkStart = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// newHunk reads the lines of a piece.
func newHunk(p patch.Piece, file int) hunk {
	h := hunk{piece: p, file: file}
	var r lineReader
	for text := range strings.Lines(p.Text) {
		text = strings.TrimSuffix(text, "\n")
		first := len(h.lines) == 0 && h.head == ""
		var m []string
		if r.done() {
			m = hunkStart.FindStringSubmatch(text)
		}
		switch {
		case m != nil:
			r.begin(m)
			if first {
				h.head = text
			} else {
				h.lines = append(h.lines, line{text: text})
			}
		case strings.HasPrefix(text, `\`) && len(h.lines) > 0:
			h.lines[len(h.lines)-1].bare = true
		default:
			h.lines = append(h.lines, r.line(text))
		}
	}
	h.key = keyOf(p, h.lines)
	h.first = max(slices.IndexFunc(h.lines, func(l line) bool { return l.op != ' ' }), 0)
	return h
}

// index is where the line of a comment is, -1 for that of the whole hunk. What was
// around a hunk may be gone.
func (h *hunk) index(line int) int {
	if line == Whole || len(h.lines) == 0 {
		return -1
	}
	return min(max(line+h.first, 0), len(h.lines)-1)
}

// line is the line of a comment at an index.
func (h *hunk) line(index int) int {
	if index < 0 {
		return Whole
	}
	return index - h.first
}

// lineReader counts the lines of a hunk.
type lineReader struct {
	old, new         int // next numbers
	oldLeft, newLeft int // lines that the hunk still has
}

func (r *lineReader) begin(numbers []string) {
	r.old, _ = strconv.Atoi(numbers[1])
	r.new, _ = strconv.Atoi(numbers[3])
	r.oldLeft, r.newLeft = count(numbers[2]), count(numbers[4])
}

// count reads a number of lines, which is left out where it is 1.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

func (r *lineReader) done() bool { return r.oldLeft <= 0 && r.newLeft <= 0 }

func (r *lineReader) line(text string) line {
	if r.done() || text == "" || strings.IndexByte(" +-", text[0]) < 0 {
		return line{text: text}
	}
	l := line{op: text[0], text: text[1:]}
	if l.op != '+' {
		l.old = r.old
		r.old, r.oldLeft = r.old+1, r.oldLeft-1
	}
	if l.op != '-' {
		l.new = r.new
		r.new, r.newLeft = r.new+1, r.newLeft-1
	}
	return l
}

// title names what taking the piece means.
func (h *hunk) title() string {
	switch p := h.piece; {
	case p.Hunk:
		return h.head
	case p.Change == patch.Added:
		return "addition of the file" + oddMode(p.Header)
	case p.Change == patch.Deleted:
		return "deletion of the file" + oddMode(p.Header)
	case p.Change == patch.Mode:
		return "executable bit: " + modes(p.Header)
	case p.Change == patch.Type:
		return "change of type: " + modes(p.Header)
	}
	return "change of a binary file"
}

// oddMode says what the file is where it is no plain one.
func oddMode(header string) string {
	if m := modes(header); m != "" && !strings.HasSuffix(m, " 100644") {
		return ": " + m
	}
	return ""
}

// modes finds the words about modes in git's lines about a file.
func modes(header string) string {
	var words []string
	for l := range strings.Lines(header) {
		if l = strings.TrimSpace(l); strings.Contains(l, " mode ") {
			words = append(words, l)
		}
	}
	return strings.Join(words, ", ")
}

// hunksOf lists the hunks of a change, parted where they were before.
func hunksOf(files []File, split []string) []hunk {
	parted := map[string]bool{}
	for _, key := range split {
		parted[key] = true
	}
	var all []hunk
	seen := map[string]int{}
	var add func(p patch.Piece, file int)
	add = func(p patch.Piece, file int) {
		h := newHunk(p, file)
		seen[h.key]++
		if n := seen[h.key]; n > 1 { // the same edit at several places
			h.key = fmt.Sprintf("%s-%d", h.key, n)
		}
		parts := p.Split()
		if len(parts) == 0 || !parted[h.key] {
			all = append(all, h)
			return
		}
		for _, part := range parts {
			add(part, file)
		}
	}
	for i, f := range files {
		for _, p := range f.Pieces {
			add(p, i)
		}
	}
	return all
}
