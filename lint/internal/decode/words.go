package decode

// piece is a part of a text, in bytes.
type piece struct{ start, end int }

// minWord is the length of 12 bytes in base64, the shortest of the encodings. A
// word that goes on elsewhere begins with as much.
const minWord = 16

// maxGap bounds what may stand between the pieces of a word: the end of a line,
// an indentation, the marks around a literal.
const maxGap = 128

// words goes through the long words of a text, those that are cut over lines or
// literals as one.
type words struct {
	text   []byte
	letter *[256]uint8 // none for what is in no word
	pieces []piece     // of the present word

	at int // what lies before it has been seen
}

// next finds the next word. It looks at every sixteenth byte only, as long as
// that is in no word.
func (w *words) next() bool {
	for probe := w.at + minWord - 1; probe < len(w.text); {
		if !w.in(probe) {
			probe += minWord
			continue
		}
		start := probe
		for start > w.at && w.in(start-1) {
			start--
		}
		end := w.end(probe)
		if end-start < minWord {
			w.at = end
			probe = end + minWord
			continue
		}
		w.take(start, end)
		return true
	}
	return false
}

func (w *words) in(i int) bool { return w.letter[w.text[i]] != none }

// end is where the piece ends that holds i.
func (w *words) end(i int) int {
	for i < len(w.text) && w.in(i) {
		i++
	}
	return i
}

// take collects the pieces of a word, from its first one.
func (w *words) take(start, end int) {
	w.pieces = append(w.pieces[:0], piece{start, end})
	for {
		start = w.gap(end)
		if start == end || start == len(w.text) || !w.in(start) {
			break
		}
		end = w.end(start)
		w.pieces = append(w.pieces, piece{start, end})
	}
	w.at = end
}

// gap is where a word may go on that stops at i: behind the end of a line or of a
// literal, and what usually follows. Where it cannot, that is i.
func (w *words) gap(i int) int {
	joined := false
	rest := w.text[i:min(len(w.text), i+maxGap)]
	for n := 0; n < len(rest); n++ {
		follows := byte(' ')
		if n+1 < len(rest) {
			follows = rest[n+1]
		}
		switch rest[n] {
		case '\n', '"', '\'', '`':
			joined = true
		case '\\': // of a line, or of \n in a literal
			if follows == 'n' || follows == 'r' {
				joined = true
				n++
			}
		case ' ', '\t', '\r', '.', ',', '&', '|', '<', '>', '(', ')':
		case '+': // a letter of base64, too
			if follows != ' ' && follows != '\n' && follows != '\r' && follows != '"' && follows != '\'' && follows != '`' {
				return ahead(i, n, joined)
			}
		default:
			return ahead(i, n, joined)
		}
	}
	return i
}

func ahead(i, n int, joined bool) int {
	if joined {
		return i + n
	}
	return i
}
