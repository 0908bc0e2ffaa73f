package lint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// maxExcerpt bounds an excerpt, in bytes of the line.
const maxExcerpt = 120

// hidden stands for a secret in an excerpt.
const hidden = "[secret]"

// span is a part of a text, in bytes.
type span struct{ start, end int }

// masksOf are the places that no excerpt shows, whichever finding it is of.
func masksOf(hits []doc.Hit) []span {
	return spansOf(hits, func(h doc.Hit) bool { return h.Secret && onText(h) })
}

// spansOf are the places of some hits, in order, those joined that meet.
func spansOf(hits []doc.Hit, which func(doc.Hit) bool) []span {
	var all, joined []span
	for _, h := range hits {
		if which(h) {
			all = append(all, span{h.Start, h.End})
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	for _, s := range all {
		if n := len(joined); n > 0 && s.start <= joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, s.end)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// finding words a hit.
func finding(d *doc.Document, h doc.Hit, match []byte, masks []span) Finding {
	f := Finding{
		ID: Identify(h.Rule, d.Path, match), Rule: h.Rule, Severity: h.Severity,
		Path: d.Path, Message: h.Message, Remedy: h.Remedy,
	}
	if onText(h) {
		f.Line, f.Excerpt = d.Line(h.Start), excerpt(d, h, masks)
	}
	return f
}

// Identify is the id of a finding: an acceptance of it covers these bytes at this
// path and no others.
func Identify(rule, path string, match []byte) string {
	sum := sha256.New()
	for _, part := range []string{rule, path} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	sum.Write(match)
	return "f" + hex.EncodeToString(sum.Sum(nil)[:16])
}

// excerpt is the part of the line around a hit, with every secret hidden.
func excerpt(d *doc.Document, h doc.Hit, masks []span) string {
	line, start := d.LineText(h.Start)
	from, to := around(h.Start-start, len(line))
	var out strings.Builder
	for at := from; at < to; {
		m, ok := covering(masks, start+at, start+to)
		if !ok {
			out.Write(line[at:to])
			break
		}
		out.Write(line[at:max(at, m.start-start)])
		out.WriteString(hidden)
		at = max(at+1, m.end-start)
	}
	return strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(out.String(), hidden+hidden, hidden), "�"))
}

// covering finds the first of spans in order that has a part in text[from:to].
func covering(spans []span, from, to int) (s span, ok bool) {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].end > from })
	if i == len(spans) || spans[i].start >= to {
		return s, false
	}
	return spans[i], true
}

// around picks what to show of a line: what matched, and some of what surrounds it.
func around(start, length int) (from, to int) {
	start = max(0, start)
	if length <= maxExcerpt {
		return 0, length
	}
	from = max(0, min(start-maxExcerpt/4, length-maxExcerpt))
	return from, min(length, from+maxExcerpt)
}

// shownPath is a path without the secrets that it holds, for every finding in it.
func shownPath(path string, hits []doc.Hit, matches [][]byte) string {
	for i, h := range hits {
		if h.Secret && !onText(h) {
			path = hidePath(path, matches[i])
		}
	}
	return path
}

// hidePath takes a secret out of a path.
func hidePath(path string, match []byte) string {
	if i := bytes.Index([]byte(path), match); i >= 0 && len(match) > 0 && len(match) < len(path) {
		return path[:i] + hidden + path[i+len(match):]
	}
	dir := path[:strings.LastIndexByte(path, '/')+1]
	if utf8.ValidString(dir) && !strings.Contains(dir, string(match)) {
		return dir + hidden
	}
	return hidden
}
