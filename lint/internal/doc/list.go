package doc

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"regexp"
	"sync"
)

// maxAlike is how many hits of one rule a document gets one by one. A hostile
// file has a million; nobody reads them, and each costs memory.
const maxAlike = 100

// List gathers the hits of one document. Of each rule it keeps the first hundred;
// the rest is one hit more, whose Match covers all that it stands for, so that
// accepting it accepts nothing that comes later.
type List struct {
	d     *Document
	hits  []Hit
	rules map[string]*alike
}

type alike struct {
	n, first, end int
	rest          hash.Hash
	last          Hit
}

// NewList makes an empty list for a document.
func NewList(d *Document) *List { return &List{d: d, rules: map[string]*alike{}} }

// Add takes a hit, unless its lines are not new and it does not count anywhere.
func (l *List) Add(h Hit) {
	if !h.Anywhere && h.End > h.Start && !l.d.Added(h.Start, h.End) {
		return
	}
	a := l.rules[h.Rule]
	if a == nil {
		a = &alike{}
		l.rules[h.Rule] = a
	}
	if a.n++; a.n <= maxAlike {
		l.hits = append(l.hits, h)
		return
	}
	if a.rest == nil {
		a.rest, a.first, a.last = sha256.New(), h.Start, h
	}
	match := h.Match
	if match == nil {
		match = l.d.Text[h.Start:h.End]
	}
	fmt.Fprintf(a.rest, "%d:", len(match))
	a.rest.Write(match)
	a.end = max(a.end, h.End)
	a.last.Severity = graver(a.last.Severity, h.Severity)
}

// All returns the hits in the order they came, those of a rule that had too many
// ended by the one for the rest.
func (l *List) All() []Hit {
	out := l.hits
	for _, h := range l.hits {
		a := l.rules[h.Rule]
		if a.rest == nil {
			continue
		}
		rest := a.last
		rest.Start, rest.End = a.first, a.first
		rest.Match = a.rest.Sum(nil)
		rest.Anywhere = true
		rest.Message = fmt.Sprintf("%d more like it: %s", a.n-maxAlike, rest.Message)
		out = append(out, rest)
		a.rest = nil
	}
	return out
}

func graver(a, b Severity) Severity {
	switch {
	case a == Block || b == Block:
		return Block
	case a == Warn || b == Warn:
		return Warn
	}
	return Info
}

// Pattern compiles an expression when it is first asked for: a run that finds no
// keyword of a rule never pays for the rule.
func Pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
