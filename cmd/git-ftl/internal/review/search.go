package review

import "strings"

// query is what a search looks for. Capitals count where it has some; one without
// is found by ASCII letters of either case where it has no others.
type query string

// next moves to the next match of a search, or hunk where there is no search.
func (m *model) next(by int) {
	if m.query == "" {
		m.to(m.doc.hunks, by)
		return
	}
	n := len(m.doc.rows)
	for i := 1; i <= n; i++ {
		at := ((m.cur+by*i)%n + n) % n
		if m.doc.rows[at].matches(m.query, m.Change, m.hunks) {
			if wrapped := (at-m.cur)*by <= 0; wrapped {
				m.message = "the search went on at the other end"
			}
			m.cur = at
			return
		}
	}
	m.message = "no match for " + string(m.query)
}

func (q query) in(text string) bool { return q != "" && q.index(text) >= 0 }

// hits finds the query in a text: begin and end of each.
func (q query) hits(text string) [][2]int {
	if q == "" {
		return nil
	}
	var all [][2]int
	for at := 0; ; {
		i := q.index(text[at:])
		if i < 0 {
			return all
		}
		all = append(all, [2]int{at + i, at + i + len(q)})
		at += i + len(q)
	}
}

// index is where the query begins in a text, -1 for nowhere.
func (q query) index(text string) int {
	plain := strings.IndexFunc(string(q), func(r rune) bool { return r >= 0x80 }) < 0
	switch lower := strings.ToLower(string(q)); {
	case lower != string(q):
		return strings.Index(text, string(q))
	case plain:
		return indexFold(text, lower)
	}
	folded := strings.ToLower(text)
	if len(folded) != len(text) { // a few letters change their length
		folded = text
	}
	return strings.Index(folded, string(q))
}

// indexFold is strings.Index of lower-case ASCII where the case of a text does not
// count. A search goes through all of a change while a person waits.
func indexFold(text, lower string) int {
	first := lower[:1] + strings.ToUpper(lower[:1])
	for at := 0; at+len(lower) <= len(text); at++ {
		i := strings.IndexAny(text[at:], first)
		if i < 0 || at+i+len(lower) > len(text) {
			return -1
		}
		at += i
		if hasPrefixFold(text[at:], lower) {
			return at
		}
	}
	return -1
}

// hasPrefixFold reports whether a text, which is as long at least, begins so.
func hasPrefixFold(text, lower string) bool {
	for i := range len(lower) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
