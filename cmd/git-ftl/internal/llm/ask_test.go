package llm

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
)

func TestAsk(t *testing.T) {
	m, canned := newModel(t, turn{Pieces: []string{"Because ", "it retries."}})
	m.Budget = 30
	var pieces []string
	a, err := m.Ask(t.Context(), AskInput{Question: "Why?", Files: []FileChange{{"a.go", strings.Repeat("x\n", 14)}, {"b.go", strings.Repeat("y\n", 10)}}}, func(s string) { pieces = append(pieces, s) })
	if err != nil || a.Text != "Because it retries." || len(pieces) != 2 || a.Prompt != "ask/1" {
		t.Errorf("got %+v, %q, %v", a, pieces, err)
	}
	if len(a.LeftOut) != 2 || !strings.HasPrefix(a.LeftOut[0], "a.go: the first 13 of 14") || !strings.HasPrefix(a.LeftOut[1], "b.go: not shown") {
		t.Errorf("left out %q", a.LeftOut)
	}
	if _, ok := canned.Asked()[0].Body["tools"]; ok {
		t.Error("the question has tools")
	}
	if _, err := m.Ask(t.Context(), AskInput{Question: " \n"}, nil); err == nil || len(canned.Asked()) != 1 {
		t.Errorf("asks nothing: %v", err)
	}
}

func TestAskRefused(t *testing.T) {
	m, _ := newModel(t, turn{Pieces: []string{"I"}, Stop: "content_filter"})
	_, err := m.Ask(t.Context(), AskInput{Question: "Why?"}, nil)
	var e *chat.Error
	if !errors.As(err, &e) || e.Kind != chat.Refused {
		t.Errorf("got %v", err)
	}
}
