package decode

import "unicode/utf8"

// minText is how many decoded bytes in a row are worth a look. It is the length
// from which on a value is looked for in parts.
const minText = 12

// run is decoded text and where each byte comes from.
type run struct {
	text []byte
	from []uint32
}

func (r *run) add(c byte, from int) {
	r.text = append(r.text, c)
	r.from = append(r.from, uint32(from))
}

func (r *run) reset() { r.text, r.from = r.text[:0], r.from[:0] }

// keep adds the printable parts of a run. Random bytes hardly ever have one.
func (l *Layer) keep(r *run) {
	for i := 0; i+minText <= len(r.text); {
		end, seen := printable(r.text[i:])
		if seen >= minText {
			first := r.from[i]
			l.Text = append(append(l.Text, 0, '\n'), r.text[i:i+end]...)
			l.from = append(append(l.from, first, first), r.from[i:i+end]...)
		}
		i += end + 1
	}
}

// printable is the length of the text at the beginning of b, and that without
// NULs. A single NUL behind a character is a half of UTF-16.
func printable(b []byte) (end, seen int) {
	for end < len(b) {
		switch c := b[end]; {
		case c >= ' ' && c < 0x7f || c >= '\t' && c <= '\r':
			end++
			seen++
		case c == 0 && end > 0 && b[end-1] != 0:
			end++
		case c >= utf8.RuneSelf:
			letter, size := utf8.DecodeRune(b[end:])
			if letter == utf8.RuneError {
				return end, seen
			}
			end += size
			seen += size
		default:
			return end, seen
		}
	}
	return end, seen
}
