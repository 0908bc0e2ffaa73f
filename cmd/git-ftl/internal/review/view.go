package review

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// The least screen that shows anything.
const (
	leastWidth  = 20
	leastHeight = 4
)

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.frame(), "\n"))
	v.AltScreen = true
	if p := m.prompt; p != nil && m.width >= leastWidth && m.height >= leastHeight {
		_, column := m.promptText()
		v.Cursor = tea.NewCursor(column, m.height-1)
	}
	return v
}

// frame draws the screen: as many lines as it has rows.
func (m *model) frame() []string {
	if m.width < leastWidth || m.height < leastHeight {
		lines := make([]string, max(m.height, 1))
		lines[0] = window{m.method, 0, max(m.width, 1)}.fit("too small")
		return lines
	}
	lines := []string{m.bar()}
	if m.page == nil || m.page.answer {
		lines = append(lines, m.bodyRows()...)
	}
	if m.page != nil {
		lines = append(lines, m.pageRows()...)
	}
	return append(lines, m.foot())
}

// bar is the first line: what is under review.
func (m *model) bar() string {
	var all size
	for _, f := range m.doc.sizes {
		all.added, all.removed = all.added+f.added, all.removed+f.removed
	}
	words := []string{m.Change.ID, countOf(len(m.Change.Files), "file"), all.String()}
	if n := len(m.Change.Findings); n > 0 {
		words = append(words, fmt.Sprintf("!%d", n))
	}
	if m.Change.Blocked {
		words = append(words, "blocked")
	}
	if t := testMark(m.Change.Tests.Status); t != "" {
		words = append(words, t)
	}
	if len(m.Change.Touched) > 0 {
		words = append(words, "T!")
	}
	words = append(words, firstLine(m.Change.Task))
	return m.theme.bar.Render(window{m.method, 0, m.width}.fit(" " + strings.Join(words, "  ")))
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// foot is the last line: what is asked, what happened, or where the cursor is.
func (m *model) foot() string {
	w := window{m.method, 0, m.width}
	switch {
	case m.prompt != nil:
		text, _ := m.promptText()
		return m.theme.plain.Render(w.fit(text))
	case m.message != "":
		return m.theme.bold.Render(w.fit(m.message))
	}
	return m.theme.dim.Render(w.fit(m.status()))
}

// promptText is the prompt with as much of the text as shows where it is typed,
// and the column of the cursor.
func (m *model) promptText() (string, int) {
	p := m.prompt
	measure := window{m.method, 0, 1 << 20}
	_, label := measure.show(p.label, nil, nil)
	_, before := measure.show(string(p.text[:p.at]), nil, nil)
	room := max(m.width-label-1, 8)
	from := max(before-room, 0)
	return p.label + strings.TrimRight(window{m.method, from, room}.fit(string(p.text)), " "), min(label+before-from, m.width-1)
}

// status says where the cursor is, and what was marked.
func (m *model) status() string {
	accepted, rejected := m.tally()
	words := []string{fmt.Sprintf("%d%%", 100*(m.cur+1)/len(m.doc.rows))}
	r := m.doc.rows[m.cur]
	if r.hunk >= 0 {
		words = append(words, fmt.Sprintf("hunk %d of %d", r.hunk+1, len(m.hunks)))
	} else {
		words = append(words, countOf(len(m.hunks), "hunk"))
	}
	words = append(words, fmt.Sprintf("%d accepted, %d rejected", accepted, rejected))
	if r.file >= 0 {
		words = append(words, m.Change.Files[r.file].Path)
	}
	if m.query != "" {
		words = append(words, "/"+string(m.query))
	}
	keys := " ? help  "
	if m.listing {
		keys = " j k enter: choose a file  "
	}
	return keys + strings.Join(words, "  ")
}

// bodyRows draws the change, beside the list where there is room or instead of it
// where there is none.
func (m *model) bodyRows() []string {
	rows, list := m.body(), m.listWidth()
	if list == 0 && m.listing {
		return m.listRows(m.width, rows)
	}
	all := make([]string, rows)
	for i := range all {
		all[i] = m.rowAt(m.top+i, m.mainWidth())
	}
	if list > 0 {
		for i, entry := range m.listRows(list, rows) {
			all[i] = entry + m.theme.number.Render("│") + all[i]
		}
	}
	return all
}

// rowAt draws a row of the document.
func (m *model) rowAt(i, width int) string {
	w := window{m.method, 0, width - gutter}
	if i >= len(m.doc.rows) {
		return strings.Repeat(" ", width)
	}
	r := m.doc.rows[i]
	lead := m.lead(i, r)
	switch r.kind {
	case codeRow:
		return lead + m.codeRow(r, w.width)
	case hunkRow:
		return lead + m.theme.head.Render(w.fit(m.hunkWords(r.hunk)))
	case fileRow:
		f := m.Change.Files[r.file]
		return lead + m.theme.file.Render(w.fit(f.Change.Letter()+" "+f.Path+"  "+m.doc.sizes[r.file].String()))
	case title:
		return lead + m.theme.bold.Render(w.fit(r.text))
	case warning:
		return lead + m.theme.warning.Render(w.fit(r.text))
	case remark:
		return lead + m.theme.remark.Render(w.fit(r.text))
	}
	return lead + m.theme.plain.Render(w.fit(r.text))
}

// lead is what stands before a row.
func (m *model) lead(i int, r row) string {
	cursor := m.theme.plain.Render(" ")
	if i == m.cur {
		cursor = m.theme.here.Render(">")
	}
	mark := " "
	if r.hunk >= 0 {
		mark = m.markOf(r.hunk)
	}
	switch mark {
	case "y":
		mark = m.theme.accepted.Render(mark)
	case "x":
		mark = m.theme.rejected.Render(mark)
	}
	return cursor + mark + " "
}

func (m *model) hunkWords(n int) string {
	words := "[" + m.markOf(n) + "] " + m.hunks[n].title()
	if mark := m.Decisions.Marks[m.hunks[n].key]; mark != "" {
		words += "  " + string(mark)
	}
	return words
}

// codeRow draws lines of code, one or two beside each other.
func (m *model) codeRow(r row, width int) string {
	h := &m.hunks[r.hunk]
	if !m.sideBySide() {
		return m.side(h, r.left, width, oldNumber|newNumber)
	}
	half := (width - 1) / 2
	return m.side(h, r.left, half, oldNumber) + m.theme.number.Render("│") + m.side(h, r.right, width-1-half, newNumber)
}

// Which numbers a line is shown with.
const (
	oldNumber = 1 << iota
	newNumber
)

// side draws a line of a hunk, nothing where there is none.
func (m *model) side(h *hunk, n, width, which int) string {
	if n < 0 {
		return strings.Repeat(" ", width)
	}
	l := h.lines[n]
	ground := groundOf(l.op)
	numbers := m.numbers(l, which)
	op := string(l.op)
	if l.op == 0 {
		op = " "
	}
	width -= len(numbers) + 1
	runs, used := window{m.method, m.shift, width}.show(l.text, m.spans(h, n), m.query.hits(l.text))
	code := m.theme.draw(runs, 0, ground)
	if l.bare && used+len(noEnd) <= width {
		code += m.theme.number.Render(noEnd)
		used += len(noEnd)
	}
	return m.theme.number.Render(numbers) + m.theme.sign[ground].Render(op) + code + m.theme.draw(nil, width-used, ground)
}

// noEnd follows a last line as git says it.
const noEnd = `  \ no newline at end of file`

func (m *model) numbers(l line, which int) string {
	numbers := ""
	if which&oldNumber != 0 && m.width >= numberFrom {
		numbers += m.number(l.old)
	}
	if which&newNumber != 0 && m.width >= numberFrom {
		numbers += m.number(l.new)
	}
	return numbers
}

// number writes the number of a line, a space for none.
func (m *model) number(n int) string {
	if n == 0 {
		return fmt.Sprintf("%*s ", len(fmt.Sprint(m.doc.highest)), "")
	}
	return fmt.Sprintf("%*d ", len(fmt.Sprint(m.doc.highest)), n)
}
