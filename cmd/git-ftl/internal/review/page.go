package review

import (
	"slices"
	"strings"
)

// page is text over the change: the help over all of it, an answer over its lower
// half.
type page struct {
	answer bool
	text   string
	top    int
}

// pageHeight is how many rows a page has.
func (m *model) pageHeight() int {
	rows := max(m.height-2, 1)
	if m.page.answer && rows >= 8 {
		return rows/2 + 1
	}
	return rows
}

// turn does what a key means on a page; false where it means nothing there. A page
// of an answer leaves the other keys to the change above it.
func (m *model) turn(key string) bool {
	p, rows := m.page, m.pageHeight()-1
	if by, ok := travel(key, rows); ok {
		p.top = max(min(p.top+by, len(m.pageLines())-rows), 0)
		return true
	}
	if !slices.Contains([]string{"esc", "q", "?", "o"}, key) {
		return !p.answer && !strings.HasPrefix(key, "ctrl+")
	}
	if p.answer && key == "esc" {
		m.answer.stop()
	}
	m.page = nil
	m.follow()
	return true
}

func (m *model) pageLines() []string { return wrap(m.page.text, m.width-1, m.method, " ") }

// pageRows draws the page: a rule, then its text.
func (m *model) pageRows() []string {
	rows := m.pageHeight()
	lines := m.pageLines()
	all := make([]string, rows)
	name := " help: esc closes it "
	if m.page.answer {
		name = " answer: esc closes it, j and k move in it "
	}
	w := window{m.method, 0, m.width}
	all[0] = m.theme.bar.Render(w.fit(name))
	for i := 1; i < rows; i++ {
		text := ""
		if n := m.page.top + i - 1; n < len(lines) {
			text = lines[n]
		}
		all[i] = m.theme.plain.Render(w.fit(text))
	}
	return all
}

// openHelp shows every key.
func (m *model) openHelp() {
	var b strings.Builder
	for _, k := range bindings() {
		b.WriteString(k.line() + "\n")
	}
	m.page = &page{text: b.String()}
}

// line is one line of the help.
func (b binding) line() string {
	const column = 26
	keys := strings.Join(b.keys, " ")
	return keys + strings.Repeat(" ", max(column-len(keys), 2)) + b.what
}
