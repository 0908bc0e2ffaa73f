// Package credential finds credentials in a text: tokens whose provider says how
// they are written, private keys, signed web tokens, and values whose name says
// that they are secret.
//
// It decides from the bytes alone. It asks no provider, reads no comment that
// would excuse a finding, and copies no value into a message. Whatever the bytes,
// its work grows with their number only.
package credential

import (
	"slices"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Options change what counts.
type Options struct {
	Now time.Time // tells an expired token from a valid one; zero: none is known to be either
}

// Rules finds credentials. It is safe for concurrent use; what it needs beyond
// the first text is made once, when that text comes.
type Rules struct {
	now   time.Time
	table func() *table
}

// New makes the rules.
func New(o Options) *Rules {
	return &Rules{now: o.Now, table: sync.OnceValue(newTable)}
}

// Prepare makes what the first text would wait for, a millisecond.
func (r *Rules) Prepare() { r.table() }

// maxHits is how many hits one text may have. A text with more gets one that says
// so whichever lines are new: what comes behind could be.
const maxHits = 10_000

// Hits are the credentials in a document and in its path. Part documents have only
// what HitsIn finds.
func (r *Rules) Hits(d *doc.Document) []doc.Hit {
	if d.Part || d.Binary {
		return append(r.HitsIn(d.Text, d.Part), r.inPath(d)...)
	}
	n := named{text: d.Text, class: classify(d.Path)}
	hits := r.whole(d.Text, n.meet)
	return append(merge(append(hits, n.hits...)), r.inPath(d)...)
}

// overflow says that there are more hits than are listed.
func overflow(last doc.Hit) doc.Hit {
	return doc.Hit{Rule: "credential/too-many", Severity: doc.Block, Start: last.End, End: last.End, Match: []byte("too many"), Secret: true, Anywhere: true,
		Message: "more credentials than are listed", Remedy: "look at the file by hand, or take it apart"}
}

// HitsIn are the tokens of providers, the private keys and the signed web tokens
// in a text, also those that are put together from string literals side by side.
// It is what decoded text is looked at with. part says that the text is a window
// of a file too large to hold: there, literals are not put together.
func (r *Rules) HitsIn(text []byte, part bool) []doc.Hit {
	if part {
		return bounded(r.scan(text, nil))
	}
	return r.whole(text, nil)
}

// whole is the hits in a text and across its literals.
func (r *Rules) whole(text []byte, likely func(f trigger, at, end int)) []doc.Hit {
	return bounded(append(r.scan(text, likely), r.joined(text)...))
}

// bounded merges hits, and says so where there are too many.
func bounded(hits []doc.Hit) []doc.Hit {
	full := len(hits) >= maxHits
	if hits = merge(hits); full {
		hits = append(hits, overflow(hits[len(hits)-1]))
	}
	return hits
}

// inPath looks at the path itself: a name of a file leaves a machine as well.
func (r *Rules) inPath(d *doc.Document) []doc.Hit {
	hits := merge(r.scan([]byte(d.Path), nil))
	for i := range hits {
		h := &hits[i]
		h.Match = []byte(d.Path)[h.Start:h.End]
		h.Start, h.End = 0, 0
		h.Anywhere = d.Old == git.Entry{}
	}
	return hits
}

// merge sorts hits and keeps of those that overlap the gravest, then the longest.
func merge(hits []doc.Hit) []doc.Hit {
	slices.SortStableFunc(hits, func(a, b doc.Hit) int {
		return a.Start - b.Start
	})
	out := hits[:0]
	for _, h := range hits {
		if n := len(out); n > 0 && h.Start < out[n-1].End {
			if graver(h, out[n-1]) {
				out[n-1] = h
			}
			continue
		}
		out = append(out, h)
	}
	return out
}

func graver(a, b doc.Hit) bool {
	if x, y := weight(a.Severity), weight(b.Severity); x != y {
		return x > y
	}
	return a.End-a.Start > b.End-b.Start
}

func weight(s doc.Severity) int {
	return slices.Index([]doc.Severity{doc.Info, doc.Warn, doc.Block}, s)
}
