package value

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/decode"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// nearby is how far apart the parts of one value may be, in bytes: the lines of a
// private key.
const nearby = 64

// pieces marks, in how a value is written, that it is in pieces.
const pieces = " in pieces"

// Hits finds values and shadows in what is new of a document: in its text, and in
// the path of one that the base lacks. A value that the base's content holds does
// not count. Whether it does is told by all of the content, not by lines: each
// line with a part of a value may be old, and only their order new.
func (ix *Index) Hits(d *doc.Document) []doc.Hit {
	s := ix.search(d.Text, d.Layers(), d.Added)
	found := s.places()
	if len(found) > 0 && len(d.Was) > 0 {
		was := ix.search(d.Was, decode.Layers(d.Was), never)
		found = slices.DeleteFunc(found, was.holds)
	}
	var all []doc.Hit
	for _, p := range merge(found) {
		all = append(all, ix.hit(p))
	}
	for _, t := range s.shadows {
		all = append(all, t.hit())
	}
	if d.Old == (git.Entry{}) && d.New != (git.Entry{}) {
		all = append(all, ix.inPath([]byte(d.Path))...)
	}
	return all
}

func never(int, int) bool { return false }

func always(int, int) bool { return true }

// inPath finds values and shadows in a path.
func (ix *Index) inPath(path []byte) []doc.Hit {
	s := ix.search(path, decode.Layers(path), always)
	var all []doc.Hit
	for _, p := range merge(s.places()) {
		all = append(all, ix.hit(p))
	}
	for _, t := range s.shadows {
		all = append(all, t.hit())
	}
	for i := range all {
		all[i].Match = bytes.Clone(path[all[i].Start:all[i].End])
		all[i].Start, all[i].End = 0, 0
	}
	return all
}

// Hide returns a text with a mark in place of each value, and of each part of one
// that would be told.
func (ix *Index) Hide(text, mark string) string {
	if ix.Empty() {
		return text
	}
	s := ix.search([]byte(text), decode.Layers([]byte(text)), always)
	places := s.places()
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	var out strings.Builder
	at := 0
	for _, p := range places {
		if p.start >= at {
			out.WriteString(text[at:p.start])
			out.WriteString(mark)
		}
		at = max(at, p.end)
	}
	out.WriteString(text[at:])
	return out.String()
}

// place is where a value is.
type place struct {
	spot
	of     needle
	tenths int // of the needle
}

func (p place) isReal() bool { return p.tenths >= realTenths }

// places are the spots of all needles of which there is enough.
func (s *search) places() []place {
	var all []place
	for i, t := range s.found {
		tenths := t.tenths()
		if tenths < partTenths || s.needles[i].marker {
			continue
		}
		spots := t.spots
		if len(spots) == 0 {
			spots = []spot{t.all}
		}
		for _, spot := range spots {
			all = append(all, place{spot, s.needles[i], tenths})
		}
	}
	return all
}

// holds reports whether as much of a value is in the text that was searched.
func (s *search) holds(p place) bool {
	for i, t := range s.found {
		if tenths := t.tenths(); s.needles[i].piece == p.of.piece && (tenths >= realTenths || tenths >= partTenths && !p.isReal()) {
			return true
		}
	}
	return false
}

// merge makes one place of those that overlap, and of those next to each other
// that are of different pieces of a value. Of a value that is there no parts are
// told.
func merge(all []place) []place {
	isReal := map[int]bool{}
	for _, p := range all {
		isReal[p.of.value] = isReal[p.of.value] || p.isReal()
	}
	all = slices.DeleteFunc(all, func(p place) bool { return !p.isReal() && isReal[p.of.value] })
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(a.of.value-b.of.value, a.start-b.start, a.order-b.order, b.tenths-a.tenths)
	})
	var out []place
	for _, p := range all {
		if len(out) > 0 && out[len(out)-1].meets(p) {
			out[len(out)-1] = out[len(out)-1].with(p)
			continue
		}
		out = append(out, p)
	}
	return out
}

// meets reports whether q, which does not begin before p, is one with it.
func (p place) meets(q place) bool {
	if p.of.value != q.of.value {
		return false
	}
	return q.start < p.end || q.of.piece != p.of.piece && q.start <= p.end+nearby
}

// with is both places, told by the plainer one. The last piece stays, for what
// comes next.
func (p place) with(q place) place {
	start, end := p.start, max(p.end, q.end)
	piece := q.of.piece
	if q.order < p.order || q.order == p.order && q.tenths > p.tenths {
		p = q
	}
	p.start, p.end, p.of.piece = start, end, piece
	return p
}

const takeOut = "take it out and rotate it; code reads it from the environment"

func (ix *Index) hit(p place) doc.Hit {
	h := doc.Hit{Rule: "value/real", Severity: doc.Block, Start: p.start, End: p.end, Secret: true, Anywhere: true, Remedy: takeOut}
	h.Message = "value of " + ix.names[p.of.value] + ", " + p.form()
	if !p.isReal() {
		h.Rule, h.Severity, h.Message = "value/part", doc.Warn, "part of the "+h.Message
	}
	return h
}

// form words how a value is written down.
func (p place) form() string {
	how, joined := strings.CutSuffix(p.how, pieces)
	switch {
	case how == "":
		how = p.of.how
	case p.of.how != "raw":
		how += " of " + p.of.how
	}
	if joined {
		how += pieces
	}
	return how
}

// hit is of a shadow. It is no secret, but hidden as one, so that what a rule
// takes for a credential of a provider is told as a shadow alone.
func (t token) hit() doc.Hit {
	what, name := "a shadow", "the value"
	if t.name != "" {
		what, name = "the shadow of "+t.name, t.name
	}
	return doc.Hit{
		Rule: "value/shadow", Severity: doc.Block, Start: t.start, End: t.end, Secret: true,
		Message: what + ", which is worth nothing outside a sandbox",
		Remedy:  "read " + name + " from the environment instead",
	}
}
