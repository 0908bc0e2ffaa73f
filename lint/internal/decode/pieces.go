package decode

import (
	"sort"
	"strings"
)

// joints are what stands between the pieces of a text that code puts together,
// and the NUL of UTF-16.
const joints = " \t\r\n\v\f\x00'\"`+\\,;.()[]{}$&<>|"

// Pieces is a text without white space, quotes and the marks by which languages
// join strings.
type Pieces struct {
	Text []byte

	of     []byte
	before []uint32 // by block of the original text: how much of Text comes before it
}

// block is so short that walking through one costs little, and so long that what
// is remembered of each is.
const block = 64

// Squeeze joins the pieces of a text of less than 4 GB.
func Squeeze(text []byte) Pieces {
	var joint [256]bool
	for i := range len(joints) {
		joint[joints[i]] = true
	}
	out := make([]byte, len(text))
	before := make([]uint32, 0, len(text)/block+1)
	n := 0
	for start := 0; start < len(text); start += block {
		before = append(before, uint32(n))
		for _, c := range text[start:min(start+block, len(text))] {
			out[n] = c
			if !joint[c] {
				n++
			}
		}
	}
	return Pieces{Text: out[:n], of: text, before: before}
}

// Span is the part of the original text that Text[i:j] comes from, for i < j.
func (p Pieces) Span(i, j int) (start, end int) { return p.at(i), p.at(j-1) + 1 }

// at is the offset in the original text of Text[i].
func (p Pieces) at(i int) int {
	b := sort.Search(len(p.before), func(b int) bool { return int(p.before[b]) > i }) - 1
	at, left := b*block, i-int(p.before[b])
	for {
		if strings.IndexByte(joints, p.of[at]) < 0 {
			if left == 0 {
				return at
			}
			left--
		}
		at++
	}
}
