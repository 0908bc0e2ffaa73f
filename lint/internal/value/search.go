package value

import (
	"bytes"
	"encoding/binary"

	"github.com/git-ftl/git-ftl/lint/internal/decode"
)

// How much of a needle, in tenths, has to be in a file.
const (
	realTenths = 7
	partTenths = 4
)

// maxSpots bounds the places that are told of one needle, and of shadows.
const maxSpots = 100

// search goes through one text in all its readings.
type search struct {
	*Index
	found   []*tally // of each needle, nil where nothing is; nil until something is
	shadows []token

	reading reading
	isNew   func(start, end int) bool
}

// reading is one way to read a text.
type reading struct {
	text   []byte
	how    string                          // the encoding that is undone, "" for none
	joined bool                            // pieces are put together
	order  int                             // plainer readings come first
	span   func(i, j int) (start, end int) // of text[i:j] in the text that is searched
}

// tally is what a text holds of one needle.
type tally struct {
	covered []bool
	count   int  // of covered
	order   int  // the reading of the latest run
	until   int  // where that run ends
	all     spot // from the first to the last of the runs that covered more
	spots   []spot
}

// spot is where a needle is in the text that is searched.
type spot struct {
	start, end int
	how        string
	order      int
}

// search goes through a text and its decoded layers.
func (ix *Index) search(text []byte, layers []decode.Layer, isNew func(start, end int) bool) *search {
	s := &search{Index: ix, isNew: isNew}
	s.read(reading{text: text, span: func(i, j int) (int, int) { return i, j }})
	for _, l := range layers {
		s.read(reading{text: l.Text, how: l.How, span: l.Span})
	}
	return s
}

// read goes through a text as it is and with its pieces joined.
func (s *search) read(r reading) {
	s.scan(r)
	pieces := decode.Squeeze(r.text)
	plain := r.span
	r.text, r.joined = pieces.Text, true
	r.span = func(i, j int) (int, int) { return plain(pieces.Span(i, j)) }
	s.scan(r)
}

// scan looks up every window of a text.
func (s *search) scan(r reading) {
	r.order = s.reading.order + 1
	s.reading = r
	text, seen := r.text, s.seen
	for i := 0; i+width <= len(text); i++ {
		h := hash(binary.LittleEndian.Uint64(text[i : i+width]))
		if !seen.has(h) {
			continue
		}
		for next := s.heads[h>>s.shift]; next != 0; {
			known := s.windows[next-1]
			s.meet(i, known)
			next = known.next
		}
	}
}

// meet compares a place of the text with one of a needle.
func (s *search) meet(i int, w window) {
	n := s.needles[w.needle]
	text, form := s.reading.text, s.Index.text[n.start:n.end]
	switch at := int(w.at) - n.start; {
	case n.marker:
		if len(text)-i >= len(form) && bytes.EqualFold(text[i:i+len(form)], form) {
			s.shadow(i, i+len(form))
		}
	case n.whole && bytes.HasPrefix(text[i:], form):
		s.tally(int(w.needle)).add(s, i, 0, len(form))
	case !n.whole && bytes.Equal(text[i:i+width], form[at:at+width]):
		s.extend(i, at, form, s.tally(int(w.needle)))
	}
}

func (s *search) tally(needle int) *tally {
	if s.found == nil {
		s.found = make([]*tally, len(s.needles))
	}
	if s.found[needle] == nil {
		s.found[needle] = &tally{covered: make([]bool, s.needles[needle].end-s.needles[needle].start)}
	}
	return s.found[needle]
}

// extend makes of a window the longest run that text and needle share. Within the
// run before it there is nothing new.
func (s *search) extend(i, at int, form []byte, t *tally) {
	text, floor := s.reading.text, 0
	if t.order == s.reading.order {
		floor = t.until
	}
	if i < floor {
		return
	}
	end := at + width
	for j := i + width; j < len(text) && end < len(form) && text[j] == form[end]; j++ {
		end++
	}
	for at > 0 && i > floor && text[i-1] == form[at-1] {
		i--
		at--
	}
	t.add(s, i, at, end)
}

// add takes text[i:] as form[from:to].
func (t *tally) add(s *search, i, from, to int) {
	t.order, t.until = s.reading.order, i+to-from
	start, end := s.reading.span(i, t.until)
	here := spot{start, end, s.reading.how, s.reading.order}
	if s.reading.joined {
		here.how += pieces
	}
	more := 0
	for k := from; k < to; k++ {
		if !t.covered[k] {
			t.covered[k] = true
			more++
		}
	}
	if more > 0 {
		if t.count > 0 {
			here.start, here.end = min(here.start, t.all.start), max(here.end, t.all.end)
		}
		t.all = here
		t.count += more
	}
	if 10*(to-from) >= realTenths*len(t.covered) && len(t.spots) < maxSpots {
		t.spots = append(t.spots, spot{start, end, here.how, here.order})
	}
}

// tenths is how much of the needle there is.
func (t *tally) tenths() int {
	if t == nil {
		return 0
	}
	return 10 * t.count / len(t.covered)
}
