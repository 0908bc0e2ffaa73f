package review

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 1 << 20

// answer is what comes back for a question.
type answer struct {
	question string
	text     strings.Builder
	over     bool
	stop     context.CancelFunc
}

// answerMsg brings the next part of an answer, or its end.
type answerMsg struct {
	of   *answer
	text string
	over bool
	err  error
}

func (m *model) askQuestion() {
	if m.Ask == nil {
		m.message = "there is no model to ask: git config ftl.reviewer names one"
		return
	}
	m.askText("ask: ", "", func(question string) tea.Cmd {
		if question != "" {
			m.ask(question)
		}
		return nil
	})
}

// ask starts a question, in place of the one before.
func (m *model) ask(question string) {
	if m.answer != nil {
		m.answer.stop()
	}
	ctx, stop := context.WithCancel(m.ctx)
	a := &answer{question: question, stop: stop}
	m.answer = a
	m.background(func() {
		err := m.Ask(ctx, question, func(text string) { m.send(answerMsg{of: a, text: text}) })
		m.send(answerMsg{of: a, over: true, err: err})
	})
	m.openAnswer()
}

// hear takes a part of an answer; what comes for an older question is dropped.
func (m *model) hear(msg answerMsg) {
	a := m.answer
	if msg.of != a {
		return
	}
	if a.text.Len()+len(msg.text) <= maxAnswer {
		a.text.WriteString(msg.text)
	}
	if msg.over {
		a.over = true
		a.stop()
	}
	switch {
	case errors.Is(msg.err, context.Canceled):
		a.text.WriteString("\n[stopped]")
	case msg.err != nil:
		a.text.WriteString("\n[no answer: " + msg.err.Error() + "]")
	}
	if m.page != nil && m.page.answer {
		m.page.text = a.words()
	}
}

// words is the question with what came of it so far.
func (a *answer) words() string {
	end := "\n…"
	if a.over {
		end = ""
	}
	return "? " + a.question + "\n\n" + strings.TrimSpace(a.text.String()) + end
}

func (m *model) openAnswer() {
	if m.answer == nil {
		m.message = "nothing was asked yet; a asks"
		return
	}
	m.page = &page{answer: true, text: m.answer.words()}
	m.follow()
}
