package credential

import (
	"bytes"
	"sort"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

const (
	gapMost = 256 // between two literals that are put together
	reach   = 512 // what is looked at on either side of a gap
)

// gap is what stands between two pieces of a string: quotes and an operator, the
// end of a line and its continuation.
type gap struct{ start, end int }

// joined finds what scan would find if string literals side by side were one. It
// looks only at what is near a gap, and reports only what spans one.
func (r *Rules) joined(text []byte) []doc.Hit {
	var hits []doc.Hit
	gaps := gapsOf(text)
	for len(gaps) > 0 && len(hits) < maxHits {
		n := 1
		for n < len(gaps) && gaps[n].start-gaps[n-1].end <= 2*reach {
			n++
		}
		j := join(text, gaps[:n])
		for _, h := range r.scan(j.text, nil) {
			if j.spans(h.Start, h.End) {
				h.Match = j.text[h.Start:h.End]
				h.Start, h.End = j.at(h.Start), j.at(h.End-1)+1
				hits = append(hits, h)
			}
		}
		gaps = gaps[n:]
	}
	return hits
}

// piecewise is a text without its gaps.
type piecewise struct {
	text  []byte
	from  int   // where it starts in the original
	cut   []int // where gaps were, in text
	shift []int // by gap: what to add to offsets behind it
}

func join(text []byte, gaps []gap) piecewise {
	from := max(0, gaps[0].start-reach)
	to := min(len(text), gaps[len(gaps)-1].end+reach)
	j := piecewise{from: from, text: make([]byte, 0, to-from)}
	at := from
	for _, g := range gaps {
		j.text = append(j.text, text[at:g.start]...)
		at = g.end
		j.cut = append(j.cut, len(j.text))
		j.shift = append(j.shift, at-len(j.text))
	}
	j.text = append(j.text, text[at:to]...)
	return j
}

// at is the original offset of a byte of the text.
func (j *piecewise) at(offset int) int {
	i := sort.SearchInts(j.cut, offset+1)
	if i == 0 {
		return j.from + offset
	}
	return offset + j.shift[i-1]
}

// spans reports whether a gap was inside.
func (j *piecewise) spans(start, end int) bool {
	i := sort.SearchInts(j.cut, start+1)
	return i < len(j.cut) && j.cut[i] < end
}

// gapsOf finds the gaps of a text, in order and apart.
func gapsOf(text []byte) []gap {
	var gaps []gap
	begins := [256]bool{'"': true, '\'': true, '`': true, '\\': true, '\n': true, '$': true, '#': true}
	for i := 0; i < len(text); i++ {
		if !begins[text[i]] {
			continue
		}
		end := 0
		switch text[i] {
		case '"', '\'', '`':
			end = literals(text, i)
		case '\\':
			end = continuation(text, i)
		case '\n':
			end = folded(text, i)
		case '$', '#':
			end = opened(text, i)
		}
		if end > i {
			start := i
			if text[i] == '\n' && text[i-1] == '\r' {
				start-- // of the line's end
			}
			gaps = append(gaps, gap{start, end})
			i = end - 1
		}
	}
	return gaps
}

// literals is where the next literal's text begins when a quote closes one and
// only operators, spaces and remarks stand between them; 0 where that is not so.
func literals(text []byte, at int) int {
	limit := min(len(text), at+gapMost)
	i := at + 1
	if i < limit && reopens(text, at) {
		return i // a shell's abc"def"
	}
	if i < limit && text[i] == '}' {
		i++ // of a template
		for _, next := range []string{"${", "#{", "{"} {
			if n := i + len(next); bytes.HasPrefix(text[i:limit], []byte(next)) && n < limit && isQuote(text[n]) {
				return n + 1
			}
		}
		if i < limit && (url | plus | slash | dot).Has(text[i]) {
			return i
		}
	}
	for i < limit {
		if isQuote(text[i]) {
			return i + 1
		}
		n := parts(text[i:limit])
		if n == 0 {
			return 0
		}
		i += n
	}
	return 0
}

// known is how much of a token, with a digit near, has to stand before a quote for
// it to be in the middle of a word.
const known = 8

// reopens reports whether the quote at an offset stands in a word that looks drawn.
func reopens(text []byte, at int) bool {
	if at < known || at+1 == len(text) || !url.Has(text[at+1]) {
		return false
	}
	before := text[max(0, at-3*known):at]
	return url.run(before[len(before)-known:], known) == known && bytes.ContainsAny(before, "0123456789")
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// parts is how much of what may stand between two literals a text begins with: an
// operator, a space, a remark, the prefix of a literal.
func parts(text []byte) int {
	switch b := text[0]; {
	case b == '.' && len(text) > 1 && letter.Has(text[1]): // .concat("
		if n := 1 + word.run(text[1:], 20); n < len(text) && text[n] == '(' {
			return n + 1
		}
		return 0
	case bytes.IndexByte([]byte(" \t\r\n+.,&\\|<>()~"), b) >= 0:
		return 1
	case b == '#' || b == '/' || b == '-':
		return remark(text)
	case len(text) > 1 && bytes.IndexByte([]byte("bBfFrRuUL@$"), b) >= 0 && isQuote(text[1]):
		return 1
	}
	return 0
}

// remark is the length of a comment; 0 for none.
func remark(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("/*")):
		if i := bytes.Index(text, []byte("*/")); i > 0 {
			return i + 2
		}
	case text[0] == '#', bytes.HasPrefix(text, []byte("//")), bytes.HasPrefix(text, []byte("--")):
		return bytes.IndexByte(text, '\n') + 1
	}
	return 0
}

// continuation is where a line that ends in a backslash goes on.
func continuation(text []byte, at int) int {
	i := at + 1
	if i < len(text) && text[i] == '\r' {
		i++
	}
	if i >= len(text) || text[i] != '\n' {
		return 0
	}
	return indented(text, i+1)
}

func indented(text []byte, i int) int {
	limit := min(len(text), i+gapMost)
	for i < limit && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// folded is where a scalar goes on that fills its lines, such as YAML folds: the
// next line is one run of a token, and so is the end of this one.
func folded(text []byte, at int) int {
	last := at - 1
	if last >= 0 && text[last] == '\r' {
		last--
	}
	if last < 0 || !token.Has(text[last]) {
		return 0
	}
	i := indented(text, at+1)
	n := (token | equals).run(text[i:], 200)
	if end := i + n; n < 4 || end < len(text) && text[end] != '\n' && text[end] != '\r' && text[end] != '"' && text[end] != '\'' {
		return 0
	}
	return i
}

// opened is where the text of a literal inside a template begins: ${"…"}, #{'…'}.
func opened(text []byte, at int) int {
	if at+2 < len(text) && text[at+1] == '{' && isQuote(text[at+2]) {
		return at + 3
	}
	return 0
}
