package review

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review/syntax"
)

// tabStop is how far apart the stops of tabs are.
const tabStop = 8

// window is a part of a line of the screen: what of a text is to be seen in it.
type window struct {
	method ansi.Method // how the terminal measures
	from   int         // first column of the text
	width  int         // columns
}

// run is some text that looks alike, safe to show.
type run struct {
	text string
	look look
}

// look is how text is drawn.
type look struct {
	class syntax.Class
	hit   bool // of a search
}

// show cuts a text, which is hostile, to the window. spans say how its bytes look,
// hits which of them a search found. used is how many columns there are.
func (w window) show(text string, spans []syntax.Span, hits [][2]int) (runs []run, used int) {
	p := pen{window: w, marker: marker{spans: spans, hits: hits}}
	for at := 0; at < len(text) && p.col < w.from+w.width; {
		cluster, n := w.first(text[at:])
		p.put(cluster, n, p.look(at))
		at += len(cluster)
	}
	return p.runs, p.used
}

// first is what stands in the first place of a text, and its width. Controls and
// what is no UTF-8 come one by one.
func (w window) first(text string) (string, int) {
	if c := text[0]; c < 0x20 || c < 0x7f && alone(text[1:]) {
		return text[:1], 1
	}
	if n := ideograph(text); n > 0 && alone(text[n:]) {
		return text[:n], 2
	}
	cluster, width := ansi.FirstGraphemeCluster(text, w.method)
	for i, r := range cluster {
		if r >= 0x20 && (r != utf8.RuneError || strings.HasPrefix(cluster[i:], "\ufffd")) {
			continue
		}
		cluster = cluster[:max(i, 1)]
		return cluster, w.method.StringWidth(cluster)
	}
	return cluster, width
}

// alone reports whether a text cannot join what stands before it: it begins with
// ASCII or an ideograph. To ask the rules of Unicode takes long in long lines.
func alone(text string) bool { return text == "" || text[0] < 0x80 || ideograph(text) > 0 }

// ideograph is the length of the character that a text begins with where that is one
// of two columns which joins nothing.
func ideograph(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if r >= 0x4e00 && r <= 0x9fff {
		return n
	}
	return 0
}

// pen writes clusters into a window.
type pen struct {
	window
	marker
	runs []run
	col  int // of the text
	used int
}

// put writes what a person reads as one character, of a width.
func (p *pen) put(cluster string, width int, l look) {
	switch {
	case cluster == "\t":
		width = tabStop - p.col%tabStop
		cluster = strings.Repeat(" ", width)
	case len(cluster) > 1 || cluster[0] < 0x20 || cluster[0] >= 0x7f:
		cluster, width = tame(cluster, width, p.method)
	}
	begin := p.col - p.from
	p.col += width
	switch end := begin + width; {
	case begin >= 0 && end <= p.width:
		p.write(cluster, width, l)
	case end > 0 && begin < p.width: // half of it: a tab, an escape or a wide character
		begin, end = max(begin, 0), min(end, p.width)
		if len(cluster) == width { // its characters are narrow ones
			first := begin - (p.col - width - p.from)
			cluster = cluster[first : first+end-begin]
		} else {
			cluster = strings.Repeat(" ", end-begin)
		}
		p.write(cluster, end-begin, l)
	}
}

// maxCluster bounds the bytes of what a terminal shows in one place.
const maxCluster = 32

// tame escapes what no terminal should be given, and what has no place of its own.
func tame(cluster string, width int, method ansi.Method) (string, int) {
	alone, _ := ansi.FirstGraphemeCluster("x"+cluster, method) // or it joins what stands before it
	switch safe := escape.Text(cluster); {
	case alone != "x" && utf8.ValidString(cluster):
	case safe != cluster:
		return safe, method.StringWidth(safe)
	case width > 0 && len(cluster) <= maxCluster:
		return cluster, width
	}
	var b strings.Builder
	for _, r := range cluster {
		if r > 0xffff {
			fmt.Fprintf(&b, `\U%08x`, r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String(), b.Len()
}

func (p *pen) write(text string, width int, l look) {
	p.used += width
	if last := len(p.runs) - 1; last >= 0 && p.runs[last].look == l {
		p.runs[last].text += text
		return
	}
	p.runs = append(p.runs, run{text, l})
}

// marker knows how the bytes of a text look, asked from first to last.
type marker struct {
	spans []syntax.Span
	ends  int // of the first span
	hits  [][2]int
}

func (m *marker) look(at int) look {
	for len(m.spans) > 0 && at >= m.ends+m.spans[0].Len {
		m.ends += m.spans[0].Len
		m.spans = m.spans[1:]
	}
	for len(m.hits) > 0 && at >= m.hits[0][1] {
		m.hits = m.hits[1:]
	}
	var l look
	if len(m.spans) > 0 {
		l.class = m.spans[0].Class
	}
	l.hit = len(m.hits) > 0 && at >= m.hits[0][0]
	return l
}

// fit is a text as it is to be seen, cut to a width and filled up to it.
func (w window) fit(text string) string {
	runs, used := w.show(text, nil, nil)
	var b strings.Builder
	for _, r := range runs {
		b.WriteString(r.text)
	}
	return b.String() + strings.Repeat(" ", w.width-used)
}

// wrap breaks a text at words into lines that the width takes, indented alike. It
// is safe to show.
func wrap(text string, width int, method ansi.Method, indent string) []string {
	width = max(width-len(indent), 8)
	var all []string
	for l := range strings.Lines(strings.TrimRight(text, "\n")) {
		l = strings.ReplaceAll(escape.Text(strings.TrimRight(l, "\r\n")), "\t", "    ")
		if len(l) <= width && !strings.ContainsFunc(l, func(r rune) bool { return r >= 0x80 }) {
			all = append(all, indent+strings.TrimRight(l, " "))
			continue
		}
		for part := range strings.SplitSeq(method.Wrap(l, width, ""), "\n") {
			all = append(all, indent+strings.TrimRight(part, " "))
		}
	}
	return all
}
