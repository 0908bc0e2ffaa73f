// Package doc is one changed path as the families of the linter read it: its
// content as text, what the base has, and which lines are new.
//
// It reads nothing itself and holds a file, or a window of a large one, whole.
package doc

import (
	"bytes"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/git-ftl/git-ftl/lint/internal/decode"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Severity says what a finding does to a change.
type Severity string

// The severities.
const (
	Block Severity = "block" // an apply needs the user's word
	Warn  Severity = "warn"
	Info  Severity = "info"
)

// Hit is what a family found, before anybody has accepted it.
type Hit struct {
	Rule       string // "family/name"
	Severity   Severity
	Start, End int    // bytes of Document.Text that matched; 0, 0 is the path itself
	Match      []byte // what the finding is about, for its id; nil is Text[Start:End], or the path
	Secret     bool   // what matched is hidden in an excerpt
	Anywhere   bool   // it counts whichever lines are new
	Message    string // one line, without the value
	Remedy     string // one line: what to do about it
}

// Document is one changed path. It is read only, for one goroutine at a time.
type Document struct {
	Path     string    // slashes, from the top, raw bytes
	Old, New git.Entry // zero where the side has none
	Text     []byte    // the new content, UTF-16 as UTF-8; a symlink's target; empty for a deletion
	Was      []byte    // the base's content, read the same way
	Binary   bool      // Text holds a NUL in its first 8,000 bytes, as git judges
	Part     bool      // Text is a window of a file too large to hold

	FirstLine int // the number of Text's first line, from 1

	starts []int // offsets of the lines of Text
	added  []bool
	raw    []byte // as in the object store, where Text was UTF-16
	layers []decode.Layer
	read   bool // layers are known
}

// New makes a document of a whole file. text and was are as in the object store.
func New(path string, old, new git.Entry, text, was []byte) *Document {
	d := &Document{Path: path, Old: old, New: new, Text: Decode(text), Was: Decode(was), FirstLine: 1}
	d.Binary = isBinary(d.Text)
	if _, _, ok := utf16Order(text); ok {
		d.raw = text
	}
	return d
}

// Layers are the decoded parts of Text. What looks like UTF-16 may be none: so its
// bytes are one, too.
func (d *Document) Layers() []decode.Layer {
	if !d.read {
		d.layers, d.read = append(decode.Layers(d.Text), decode.Plain(d.raw, len(d.Text))...), true
	}
	return d.layers
}

// binaryWindow is how much of a file git looks at to call it binary.
const binaryWindow = 8000

func isBinary(text []byte) bool {
	return bytes.IndexByte(text[:min(len(text), binaryWindow)], 0) >= 0
}

// Line is the number of the line that holds an offset of Text.
func (d *Document) Line(offset int) int { return d.FirstLine + d.index(offset) }

// LineText is the line that holds an offset, without its end, and where it starts.
func (d *Document) LineText(offset int) (line []byte, start int) {
	i := d.index(offset)
	start = d.starts[i]
	end := len(d.Text)
	if i+1 < len(d.starts) {
		end = d.starts[i+1]
	}
	return bytes.TrimRight(d.Text[start:end], "\r\n"), start
}

// Added reports whether a line that holds a byte of Text[start:end] is new. A
// line is new whose text is nowhere in the base's content.
func (d *Document) Added(start, end int) bool {
	if d.Old == (git.Entry{}) {
		return true
	}
	d.compare()
	for i := d.index(start); i <= d.index(max(start, end-1)); i++ {
		if d.added[i] {
			return true
		}
	}
	return false
}

func (d *Document) index(offset int) int {
	d.lines()
	return sort.SearchInts(d.starts, offset+1) - 1
}

func (d *Document) lines() {
	if d.starts != nil {
		return
	}
	d.starts = append(make([]int, 0, 1+len(d.Text)/32), 0)
	for i := 0; ; {
		n := bytes.IndexByte(d.Text[i:], '\n')
		if n < 0 || i+n+1 == len(d.Text) {
			return
		}
		i += n + 1
		d.starts = append(d.starts, i)
	}
}

// compare finds the lines that the base lacks.
func (d *Document) compare() {
	if d.added != nil {
		return
	}
	d.lines()
	old := map[string]bool{}
	for line := range bytes.Lines(d.Was) {
		old[string(bytes.TrimRight(line, "\r\n"))] = true
	}
	d.added = make([]bool, len(d.starts))
	for i, start := range d.starts {
		end := len(d.Text)
		if i+1 < len(d.starts) {
			end = d.starts[i+1]
		}
		d.added[i] = !old[string(bytes.TrimRight(d.Text[start:end], "\r\n"))]
	}
}

// Decode reads UTF-16 that begins with a byte order mark, or plainly is it, as
// UTF-8; any other text stays as it is.
func Decode(text []byte) []byte {
	little, marked, ok := utf16Order(text)
	switch {
	case !ok:
		return text
	case marked:
		return appendUTF16(nil, text[2:], little)
	}
	// At either end other bytes may make the pairs seem to be shifted by one.
	from, to := bytes.IndexByte(text, 0), bytes.LastIndexByte(text, 0)+2
	if little {
		from, to = from-1, to-1
	}
	to = min(to, len(text))
	return append(appendUTF16(bytes.Clone(text[:from]), text[from:to], little), text[to:]...)
}

// appendUTF16 appends UTF-16 as UTF-8.
func appendUTF16(out, text []byte, little bool) []byte {
	out = slices.Grow(out, len(text)/2)
	unit := func(i int) rune {
		if little {
			return rune(text[i]) | rune(text[i+1])<<8
		}
		return rune(text[i])<<8 | rune(text[i+1])
	}
	for i := 0; i+1 < len(text); i += 2 {
		r := unit(i)
		if r >= 0xd800 && r < 0xdc00 && i+3 < len(text) {
			if low := unit(i + 2); low >= 0xdc00 && low < 0xe000 {
				r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// oneByte reports whether text behind a mark of UTF-16 is of one byte each: without
// a NUL, so without a line or a Latin letter of two bytes, and nearly all ASCII.
func oneByte(text []byte) bool {
	high := 0
	for _, b := range text {
		switch {
		case b == 0:
			return false
		case b >= utf8.RuneSelf:
			high++
		}
	}
	return high*8 < len(text)
}

// utf16Order tells the byte order of UTF-16 text and whether a mark says so. Text
// without a mark is UTF-16 where every other byte of its beginning is NUL.
func utf16Order(text []byte) (little, marked, ok bool) {
	if marks := bytes.HasPrefix(text, []byte{0xff, 0xfe}); marks || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return marks, true, !oneByte(text[2:])
	}
	head := text[:min(len(text), 64)&^1]
	var even, odd int
	for i, b := range head {
		if b == 0 && i%2 == 0 {
			even++
		} else if b == 0 {
			odd++
		}
	}
	most := len(head) / 2 * 3 / 4
	switch {
	case len(head) < 16:
		return false, false, false
	case odd > most && even == 0:
		return true, false, true
	case even > most && odd == 0:
		return false, false, true
	}
	return false, false, false
}
