// Package decode finds text inside text: what is written in base64, base32, hex,
// escapes, entities or numbers, two of them one inside the other, and what stands
// in pieces.
//
// Its cost is in proportion to its input, whatever that is: each encoding is read
// in one pass, and what is kept are printable runs of 12 bytes and more. It
// unpacks no archive and undoes no cipher.
package decode

import "slices"

// Layer is what a text holds in one encoding, or as one once its pieces are
// joined.
type Layer struct {
	Text []byte // the decoded runs, each behind a NUL and a line feed
	How  string // "base64", "base64 of hex": the outer encoding first

	from []uint32 // where in the original text each byte of Text begins
	step int      // how many bytes of the original make one of Text, at most
	size int      // of the original text
}

// At is the offset in the original text of Text[i].
func (l Layer) At(i int) int { return int(l.from[i]) }

// Span is the part of the original text that Text[i:j] comes from, for i < j.
func (l Layer) Span(i, j int) (start, end int) {
	start = int(l.from[i])
	last := max(start, int(l.from[j-1]))
	end = min(last+l.step, l.size)
	if j < len(l.from) && int(l.from[j]) > last {
		end = min(end, int(l.from[j])+1) // two bytes may share a letter
	}
	return start, end
}

// Layers are the decoded parts of a text of less than 4 GB: one layer for each
// encoding that occurs in it, and for each that occurs in what this gives.
func Layers(text []byte) []Layer {
	outer := once(text)
	all := outer
	for _, o := range outer {
		for _, inner := range once(o.Text) {
			all = append(all, o.around(inner))
		}
	}
	return all
}

// once undoes each encoding one time.
func once(text []byte) []Layer {
	all := slices.Concat(inDigits(text), inMarks(text), inWide(text))
	for i := range all {
		all[i].size = len(text)
	}
	return all
}

// inMarks undoes what single characters are written by.
func inMarks(text []byte) []Layer {
	escapes := escaped{Layer: Layer{How: "escapes", step: 10}, least: 1, read: anyEscape}
	printed := escaped{Layer: Layer{How: "quoted-printable", step: 3}, least: 2, read: quoted}
	row := numbers{Layer: Layer{How: "numbers", step: 10}}
	kinds := [256]byte{'\\': 1, '%': 1, '&': 1, '=': 2, '0': 3, '1': 3, '2': 3, '3': 3, '4': 3, '5': 3, '6': 3, '7': 3, '8': 3, '9': 3}
	for i, c := range text {
		switch kinds[c] {
		case 0:
		case 1:
			escapes.meet(text, i)
		case 2:
			printed.meet(text, i)
		default:
			row.meet(text, i)
		}
	}
	escapes.end(text)
	printed.end(text)
	row.end()
	return filled([]Layer{escapes.Layer, printed.Layer, row.Layer})
}

// around makes a layer of l.Text one of the text that l is of.
func (l Layer) around(inner Layer) Layer {
	for i, at := range inner.from {
		inner.from[i] = l.from[at]
	}
	inner.How = l.How + " of " + inner.How
	inner.step *= l.step
	inner.size = l.size
	return inner
}
