package review

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// binding is what keys do. Keys are named as bubbletea names them.
type binding struct {
	keys []string
	what string
	do   func(*model) tea.Cmd
}

// move is a binding that moves the cursor and leaves all else alone.
func move(what string, f func(*model), keys ...string) binding {
	return binding{keys, what, func(m *model) tea.Cmd {
		f(m)
		m.follow()
		return nil
	}}
}

// act is a binding that needs nothing of the program.
func act(what string, f func(*model), keys ...string) binding {
	return binding{keys, what, func(m *model) tea.Cmd {
		f(m)
		return nil
	}}
}

// motion is a way to move, the same in the change, in the list and on a page.
type motion struct {
	keys []string
	what string
	by   func(rows int) int // of a screen with so many
}

// farthest is beyond every end.
const farthest = 1 << 30

func motions() []motion {
	return []motion{
		{[]string{"j", "down", "enter", "ctrl+n"}, "a line down", func(int) int { return 1 }},
		{[]string{"k", "up", "ctrl+p"}, "a line up", func(int) int { return -1 }},
		{[]string{"space", "f", "pgdown", "ctrl+f"}, "a screen down", func(rows int) int { return max(rows-1, 1) }},
		{[]string{"b", "pgup", "ctrl+b"}, "a screen up", func(rows int) int { return min(1-rows, -1) }},
		{[]string{"d", "ctrl+d"}, "half a screen down", func(rows int) int { return max(rows/2, 1) }},
		{[]string{"u", "ctrl+u"}, "half a screen up", func(rows int) int { return min(-rows/2, -1) }},
		{[]string{"g", "home", "<"}, "the first line", func(int) int { return -farthest }},
		{[]string{"G", "end", ">"}, "the last line", func(int) int { return farthest }},
	}
}

// travel is how far a key moves; false where it is none that does.
func travel(key string, rows int) (by int, ok bool) {
	for _, way := range motions() {
		if slices.Contains(way.keys, key) {
			return way.by(rows), true
		}
	}
	return 0, false
}

// bindings are all keys of the change, in the order of the help. They follow less
// and vim.
func bindings() []binding {
	var all []binding
	for _, way := range motions() {
		all = append(all, move(way.what, func(m *model) { m.scroll(way.by(m.body())) }, way.keys...))
	}
	return append(all,
		move("the next hunk; the next match of a search", func(m *model) { m.next(1) }, "n"),
		move("the match before", func(m *model) { m.next(-1) }, "N"),
		move("the hunk before", func(m *model) { m.to(m.doc.hunks, -1) }, "p", "["),
		move("the next hunk", func(m *model) { m.to(m.doc.hunks, 1) }, "]"),
		move("the next file", func(m *model) { m.to(m.doc.files, 1) }, "}", "J"),
		move("the file before", func(m *model) { m.to(m.doc.files, -1) }, "{", "K"),
		act("long lines: to the right", func(m *model) { m.shift += tabStop }, "l", "right"),
		act("long lines: to the left", func(m *model) { m.shift = max(m.shift-tabStop, 0) }, "h", "left"),
		act("search; esc ends it", (*model).askSearch, "/"),
		act("the files: j, k and enter choose one", (*model).openList, "tab"),
		act("old and new side by side, or not", (*model).toggleSplit, "v"),
		act("accept the hunk, or no more; on a file, all of it", func(m *model) { m.mark(Accepted, false) }, "y"),
		act("reject the hunk, or no more; on a file, all of it", func(m *model) { m.mark(Rejected, false) }, "x"),
		act("accept the whole file, or no more", func(m *model) { m.mark(Accepted, true) }, "Y"),
		act("reject the whole file, or no more", func(m *model) { m.mark(Rejected, true) }, "X"),
		act("split the hunk into smaller ones", (*model).splitHunk, "S"),
		act("comment on the line or hunk", (*model).askComment, "c"),
		act("ask a question about the change", (*model).askQuestion, "a", ":"),
		act("the last answer again", (*model).openAnswer, "o"),
		act("apply all, or the accepted hunks", func(m *model) { m.askApply(false) }, "A"),
		act("the same, and keep the tests that were written", func(m *model) { m.askApply(true) }, "T"),
		act("reject the result", (*model).askReject, "R"),
		act("send rejected hunks and comments to the agent", (*model).askSend, "s"),
		act("this help", (*model).openHelp, "?"),
		binding{[]string{"q", "ctrl+c"}, "leave; every mark and comment is kept", func(*model) tea.Cmd { return tea.Quit }},
		binding{[]string{"ctrl+z"}, "suspend", func(*model) tea.Cmd { return tea.Suspend }},
		binding{[]string{"ctrl+l"}, "draw the screen again", func(*model) tea.Cmd { return tea.ClearScreen }},
	)
}

// scroll moves the cursor, and by more than a line the screen too.
func (m *model) scroll(by int) {
	m.cur += by
	if by < -1 || by > 1 {
		m.top += by
	}
}

// to moves to the next row of some, or the one before.
func (m *model) to(rows []int, by int) {
	i, exact := slices.BinarySearch(rows, m.cur)
	switch {
	case by > 0 && exact:
		i++
	case by < 0:
		i--
	}
	if i < 0 || i >= len(rows) {
		m.message = "there is none"
		return
	}
	m.cur = rows[i]
	m.top = max(m.cur-2, 0) // what follows is what matters
}

// toggleSplit changes between one column and two.
func (m *model) toggleSplit() {
	if !m.split && m.width < splitFrom {
		m.message = fmt.Sprintf("side by side needs %d columns; there are %d", splitFrom, m.width)
		return
	}
	m.split = !m.split
	m.lay()
}

// marked are the hunks that a mark at the cursor means.
func (m *model) marked(file bool) []int {
	r := m.doc.rows[m.cur]
	if r.hunk >= 0 && !file {
		return []int{r.hunk}
	}
	var all []int
	for i, h := range m.hunks {
		if h.file == r.file {
			all = append(all, i)
		}
	}
	return all
}

// mark gives hunks a mark; where all have it they lose it.
func (m *model) mark(to Mark, file bool) {
	hunks := m.marked(file)
	if len(hunks) == 0 {
		m.message = "there is no hunk here; n goes to the next"
		return
	}
	if !slices.ContainsFunc(hunks, func(n int) bool { return m.Decisions.Marks[m.hunks[n].key] != to }) {
		to = ""
	}
	for _, n := range hunks {
		m.Decisions.mark(m.hunks[n].key, to)
	}
	m.changed()
}

// splitHunk parts the hunk at the cursor. Its mark and comments are those of the
// whole, and go.
func (m *model) splitHunk() {
	r := m.doc.rows[m.cur]
	if r.hunk < 0 || len(m.hunks[r.hunk].piece.Split()) == 0 {
		m.message = "this cannot be split"
		return
	}
	key := m.hunks[r.hunk].key
	m.Decisions.mark(key, "")
	m.Decisions.Comments = slices.DeleteFunc(m.Decisions.Comments, func(c Comment) bool { return c.Hunk == key })
	m.Decisions.Split = append(m.Decisions.Split, key)
	m.hunks = hunksOf(m.Change.Files, m.Decisions.Split)
	m.cur = m.doc.hunks[r.hunk]
	m.lay()
	m.changed()
}

// tally counts the hunks with each mark.
func (m *model) tally() (accepted, rejected int) {
	for _, h := range m.hunks {
		switch m.Decisions.Marks[h.key] {
		case Accepted:
			accepted++
		case Rejected:
			rejected++
		}
	}
	return accepted, rejected
}
