package review

import (
	"fmt"
	"slices"
	"strings"
)

// openList lets the keys move in the list of files.
func (m *model) openList() { m.listing = true }

// at is the file of the cursor, counted with what comes before all.
func (m *model) at() int {
	if m.cur >= len(m.doc.rows) {
		return 0
	}
	return m.doc.rows[m.cur].file + 1
}

// choose does what a key means in the list; false where it means nothing there.
func (m *model) choose(key string) bool {
	if slices.Contains([]string{"enter", "tab", "esc", "l", "right"}, key) {
		m.listing = false
		return true
	}
	by, ok := travel(key, m.body())
	if ok {
		m.cur = m.doc.files[min(max(m.at()+by, 0), len(m.doc.files)-1)]
		m.top = m.cur
		m.follow()
	}
	return ok
}

// listRows draws the list.
func (m *model) listRows(width, rows int) []string {
	at := m.at()
	top := max(min(at-rows/2, len(m.doc.files)-rows), 0)
	all := make([]string, rows)
	for i := range all {
		n := top + i
		text := strings.Repeat(" ", width)
		if n < len(m.doc.files) {
			text = m.listRow(n, width)
		}
		switch {
		case n == at && m.listing:
			text = m.theme.here.Render(text)
		case n == at:
			text = m.theme.bold.Render(text)
		}
		all[i] = text
	}
	return all
}

// listRow is one entry: the marks of its hunks, its change, name, findings, tests.
func (m *model) listRow(n, width int) string {
	lead := " "
	if n == m.at() {
		lead = ">"
	}
	if n == 0 {
		return window{m.method, 0, width}.fit(lead + "  overview")
	}
	f := m.Change.Files[n-1]
	var marks []string
	if c := m.doc.found[f.Path]; c > 0 {
		marks = append(marks, fmt.Sprintf("!%d", c))
	}
	if t := testMark(f.Tests.Status); t != "" {
		marks = append(marks, t)
	} else if f.Touched {
		marks = append(marks, "T!")
	}
	tail := strings.Join(append(marks, m.doc.sizes[n-1].String()), " ")
	lead += m.fileMark(n-1) + f.Change.Letter() + " "
	room := width - len(lead) - len(tail) - 1
	if room < 8 {
		tail, room = "", width-len(lead)-1
	}
	return lead + m.tailOf(f.Path, room) + " " + tail
}

// tailOf is a name in a width, without its begin where it is too long.
func (m *model) tailOf(name string, width int) string {
	all := window{m.method, 0, 1 << 20}
	runs, used := all.show(name, nil, nil)
	var b strings.Builder
	for _, r := range runs {
		b.WriteString(r.text)
	}
	if used <= width {
		return b.String() + strings.Repeat(" ", width-used)
	}
	return "…" + window{m.method, used - width + 1, width - 1}.fit(name)
}

// fileMark sums up the marks of a file's hunks: y, x, ~ for some, or none.
func (m *model) fileMark(file int) string {
	var marks []string
	for i := range m.hunks {
		if m.hunks[i].file == file {
			marks = append(marks, m.markOf(i))
		}
	}
	slices.Sort(marks)
	switch marks = slices.Compact(marks); len(marks) {
	case 0:
		return " "
	case 1:
		return marks[0]
	}
	return "~"
}

// markOf is the letter of a hunk's mark, a space for none.
func (m *model) markOf(hunk int) string {
	switch m.Decisions.Marks[m.hunks[hunk].key] {
	case Accepted:
		return "y"
	case Rejected:
		return "x"
	}
	return " "
}

func testMark(status string) string {
	switch status {
	case "passed":
		return "T+"
	case "failed":
		return "T-"
	case "invalid":
		return "T?"
	}
	return ""
}
