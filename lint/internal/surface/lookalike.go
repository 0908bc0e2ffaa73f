package surface

import (
	"strings"
	"unicode/utf8"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// twins are letters of Cyrillic, Greek, Armenian and Cherokee that look like
// Latin ones. Source: Unicode TR 39, confusables.txt, the entries whose skeleton
// is one ASCII letter.
const twins = "аеорсухіјѕһԁԛԝѵӏьвгкмнтАВЕКМНОРСТХУІЈЅԌЗҮѴοΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳօոսհցքզյᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᏀᏃᏎᏏᏔᏙᏚᏞᏟᏢᏦᏴ"

// word is an identifier under way, by the kinds of its letters.
type word struct {
	ascii, twin, other bool
	styled             int
}

func (w *word) add(r rune) {
	switch {
	case r < utf8.RuneSelf:
		w.ascii = w.ascii || r >= 'A'
	case styledLetter(r):
		w.styled++
	case strings.ContainsRune(twins, r):
		w.twin = true
	default:
		w.other = true
	}
}

// deceives reports whether the word is read as an ASCII one that it is not. One
// styled letter alone is a symbol of mathematics.
func (w word) deceives() bool {
	return !w.other && (w.styled > 1 || w.ascii && (w.twin || w.styled > 0))
}

// lookalikes warns of identifiers that mix ASCII letters with their twins, or
// are written in the styled letters that some languages read as plain ones. One
// hit for a line: the first.
func (s *scan) lookalikes(start, end int) {
	line := s.Text[start:end]
	var w word
	for i, from := 0, 0; i <= len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if r != utf8.RuneError && letter(r) {
			w.add(r)
			i += n
			continue
		}
		if w.deceives() {
			s.list.Add(doc.Hit{
				Rule: "text/lookalike", Severity: doc.Warn, Start: start + from, End: start + i,
				Message: "a name with letters that only look like Latin ones", Remedy: "write it in ASCII",
			})
			return
		}
		i += max(n, 1)
		w, from = word{}, i
	}
}

// styledLetter reports whether compatibility makes a rune an ASCII letter: the
// mathematical alphabets and the full-width forms.
func styledLetter(r rune) bool {
	return r >= 0x1d400 && r <= 0x1d6a3 || r >= 0xff21 && r <= 0xff3a || r >= 0xff41 && r <= 0xff5a
}
