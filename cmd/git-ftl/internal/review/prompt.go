package review

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// prompt asks in the last line of the screen: for a text, or one of some keys.
type prompt struct {
	label string
	keys  string // that answer; "" where a text does, which enter ends
	text  []rune
	at    int // where the next character goes
	done  func(answer string) tea.Cmd
}

// maxInput bounds what is typed or pasted, in characters.
const maxInput = 16 << 10

// insert puts text in. A line break would end the one line that there is.
func (p *prompt) insert(text string) {
	if p.keys != "" {
		return
	}
	in := []rune(strings.Join(strings.Fields(strings.NewReplacer("\r", " ", "\n", " ").Replace(text)), " "))
	if text == " " {
		in = []rune(text)
	}
	if len(p.text)+len(in) > maxInput {
		return
	}
	p.text = slices.Insert(p.text, p.at, in...)
	p.at += len(in)
}

// edit does what a key does to the text.
func (p *prompt) edit(key tea.KeyPressMsg) {
	switch key.String() {
	case "left", "ctrl+b":
		p.at = max(p.at-1, 0)
	case "right", "ctrl+f":
		p.at = min(p.at+1, len(p.text))
	case "home", "ctrl+a":
		p.at = 0
	case "end", "ctrl+e":
		p.at = len(p.text)
	case "backspace", "ctrl+h":
		p.remove(max(p.at-1, 0), p.at)
	case "delete", "ctrl+d":
		p.remove(p.at, min(p.at+1, len(p.text)))
	case "ctrl+u":
		p.remove(0, p.at)
	case "ctrl+k":
		p.remove(p.at, len(p.text))
	case "ctrl+w":
		before := strings.TrimRight(string(p.text[:p.at]), " ")
		p.remove(len([]rune(before[:strings.LastIndex(before, " ")+1])), p.at)
	default:
		if key.Text != "" {
			p.insert(key.Text)
		}
	}
}

func (p *prompt) remove(from, to int) {
	p.text = slices.Delete(p.text, from, to)
	p.at = from
}

// answers gives a key to the prompt.
func (m *model) answers(key tea.KeyPressMsg) tea.Cmd {
	p, name := m.prompt, key.String()
	switch {
	case name == "esc" || name == "ctrl+c":
		m.prompt = nil
	case p.keys != "" && len(name) == 1 && strings.Contains(p.keys, name):
		m.prompt = nil
		return p.done(name)
	case p.keys != "":
		m.prompt, m.message = nil, "nothing was done"
	case name == "enter":
		m.prompt = nil
		return p.done(strings.TrimSpace(string(p.text)))
	default:
		p.edit(key)
	}
	return nil
}

// askText asks for a text, which begins as it was.
func (m *model) askText(label, was string, done func(string) tea.Cmd) {
	text := []rune(was)
	m.prompt = &prompt{label: label, text: text, at: len(text), done: done}
}

func (m *model) askSearch() {
	m.askText("/", "", func(text string) tea.Cmd {
		m.query = query(text)
		if text != "" {
			m.next(1)
			m.follow()
		}
		return nil
	})
}

func (m *model) askComment() {
	r := m.doc.rows[m.cur]
	if r.hunk < 0 {
		m.message = "a comment is on a line or a hunk; n goes to the next"
		return
	}
	h := &m.hunks[r.hunk]
	line := Whole
	if r.kind == codeRow {
		shown := sides(r.left, r.right)
		line = h.line(shown[len(shown)-1])
	}
	key := h.key
	m.askText("comment: ", m.Decisions.said(key, line), func(text string) tea.Cmd {
		m.Decisions.comment(Comment{key, line, text})
		m.lay()
		m.changed()
		return nil
	})
}

// askApply asks once what is to be applied, with the tests or without them.
func (m *model) askApply(tests bool) {
	what := ""
	if tests {
		if m.Change.Keepable == 0 {
			m.message = "there are no tests to keep: git ftl test writes and runs some"
			return
		}
		what = fmt.Sprintf(" with %s", countOf(m.Change.Keepable, "test file"))
	}
	accepted, rejected := m.tally()
	p := &prompt{label: fmt.Sprintf("apply %s%s (y/N)? ", m.Change.ID, what), keys: "y"}
	p.done = func(string) tea.Cmd { return m.end(Outcome{Action: Apply, Tests: tests}) }
	if accepted+rejected > 0 {
		p.label, p.keys = "apply"+what+" a: all", "a"
		if accepted > 0 {
			p.label, p.keys = p.label+fmt.Sprintf(", y: %d accepted", accepted), p.keys+"y"
		}
		if rejected > 0 && accepted+rejected < len(m.hunks) {
			p.label, p.keys = p.label+fmt.Sprintf(", x: all but %d rejected", rejected), p.keys+"x"
		}
		p.label += "? "
		p.done = func(key string) tea.Cmd { return m.applies(key, tests) }
	}
	m.prompt = p
}

// applies ends the review with an apply.
func (m *model) applies(key string, tests bool) tea.Cmd {
	out := Outcome{Action: Apply, Tests: tests}
	if key == "a" {
		return m.end(out)
	}
	var taken []hunk
	for _, h := range m.hunks {
		mark := m.Decisions.Marks[h.key]
		if key == "y" && mark == Accepted || key == "x" && mark != Rejected {
			taken, out.Pieces = append(taken, h), append(out.Pieces, h.piece)
		}
	}
	out.Left = m.Decisions.without(taken)
	return m.end(out)
}

func (m *model) askReject() {
	m.prompt = &prompt{label: fmt.Sprintf("reject %s (y/N)? ", m.Change.ID), keys: "y", done: func(string) tea.Cmd {
		return m.end(Outcome{Action: Reject})
	}}
}

func (m *model) askSend() {
	_, rejected := m.tally()
	comments := 0
	for _, c := range m.Decisions.Comments {
		if slices.ContainsFunc(m.hunks, func(h hunk) bool { return h.key == c.Hunk }) {
			comments++
		}
	}
	label := fmt.Sprintf("send %d rejected, %d comments; and say: ", rejected, comments)
	m.askText(label, "", func(more string) tea.Cmd {
		text := instruction(m.hunks, &m.Decisions, more)
		if text == "" {
			m.message = "nothing to send: x rejects a hunk, c comments on it"
			return nil
		}
		return m.end(Outcome{Action: Send, Text: text})
	})
}

// end leaves the screen with what was decided.
func (m *model) end(o Outcome) tea.Cmd {
	m.outcome = o
	return tea.Quit
}
