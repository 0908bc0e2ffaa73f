package decode

import "sort"

// joints are what stands between the pieces of a text that code puts together,
// and the NUL of UTF-16.
const joints = " \t\r\n\v\f\x00'\"`+\\,;.()[]{}$&<>|"

// Pieces is a text without white space, quotes and the marks by which languages
// join strings.
type Pieces struct {
	Text []byte

	of     []byte
	before []uint32 // by block of the original text: how much of Text comes before it
	kept   *[256]uint8
}

// block is so short that walking through one costs little, and so long that what
// is remembered of each is.
const block = 64

// Squeeze joins the pieces of a text of less than 4 GB.
func Squeeze(text []byte) Pieces {
	var kept [256]uint8
	for c := range kept {
		kept[c] = 1
	}
	for i := range len(joints) {
		kept[joints[i]] = 0
	}
	out := make([]byte, len(text))
	before := make([]uint32, 0, len(text)/block+1)
	n := 0
	for start := 0; start < len(text); start += block {
		before = append(before, uint32(n))
		for _, c := range text[start:min(start+block, len(text))] {
			out[n] = c
			n += int(kept[c])
		}
	}
	return Pieces{Text: out[:n], of: text, before: before, kept: &kept}
}

// Span is the part of the original text that Text[i:j] comes from, for i < j.
func (p Pieces) Span(i, j int) (start, end int) { return p.at(i), p.at(j-1) + 1 }

// at is the offset in the original text of Text[i].
func (p Pieces) at(i int) int {
	b := sort.Search(len(p.before), func(b int) bool { return int(p.before[b]) > i }) - 1
	left := i - int(p.before[b])
	at := b * block
	for ; left > 0 || p.kept[p.of[at]] == 0; at++ {
		left -= int(p.kept[p.of[at]])
	}
	return at
}
