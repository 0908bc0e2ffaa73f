package review

import "strings"

// next moves to the next match of a search, or hunk where there is no search.
func (m *model) next(by int) {
	if m.query == "" {
		m.to(m.doc.hunks, by)
		return
	}
	n := len(m.doc.rows)
	for i := 1; i <= n; i++ {
		at := ((m.cur+by*i)%n + n) % n
		if len(m.hits(m.doc.rows[at].words(m.Change, m.hunks))) > 0 {
			if wrapped := (at-m.cur)*by <= 0; wrapped {
				m.message = "the search went on at the other end"
			}
			m.cur = at
			return
		}
	}
	m.message = "no match for " + m.query
}

// hits finds the query in a text: begin and end of each. Capitals count where the
// query has some.
func (m *model) hits(text string) [][2]int {
	if m.query == "" {
		return nil
	}
	query := m.query
	if lower := strings.ToLower(query); lower == query {
		folded := strings.ToLower(text)
		if len(folded) != len(text) { // a few letters change their length
			folded = text
		}
		text = folded
	}
	var all [][2]int
	for at := 0; ; {
		i := strings.Index(text[at:], query)
		if i < 0 {
			return all
		}
		all = append(all, [2]int{at + i, at + i + len(query)})
		at += i + len(query)
	}
}
