package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
)

// AskInput is a question and what there is to answer it from; all but the
// question may be empty.
type AskInput struct {
	Question string
	Task     string
	Files    []FileChange
	Findings []Finding // of the linter
	Tests    string    // what it does to the project's own tests, and what tests said
	Review   *Review
}

// Answer is a model's answer, in its own words.
type Answer struct {
	chat.Reply
	LeftOut []string // what the model was not shown
}

// Ask answers a question about a change. The model has no tools: an answer changes
// nothing. stream, which may be nil, gets it as it comes, to be escaped when it
// is shown.
func (m Model) Ask(ctx context.Context, in AskInput, stream func(string)) (Answer, error) {
	if strings.TrimSpace(in.Question) == "" {
		return Answer{}, errors.New("ask: there is no question")
	}
	f, err := m.fence()
	if err != nil {
		return Answer{}, err
	}
	values := map[string]string{
		"fence": string(f), "task": f.data("task", clip(in.Task, maxTask)), "question": f.data("question", clip(in.Question, maxTask)),
		"findings": f.data("findings of a linter", list(in.Findings)), "tests": f.data("tests", clip(in.Tests, maxTask)),
		"review": "", "part": "", "patch": "",
	}
	if in.Review != nil {
		review, err := json.Marshal(in.Review)
		if err != nil {
			return Answer{}, fmt.Errorf("encode review: %w", err)
		}
		values["review"] = f.data("review by a model", clip(string(review), maxTask))
	}
	shown, left := split(in.Files, m.budget(), 1)
	if len(shown) > 0 {
		values["patch"] = f.data("change", shown[0].text())
	}
	values["part"] = f.data("not shown of the change", clip(strings.Join(left, "\n"), 4<<10))
	p, err := prompt("ask", values)
	if err != nil {
		return Answer{}, err
	}
	reply, err := m.Client.Text(ctx, p, stream)
	if err != nil {
		return Answer{Reply: reply, LeftOut: left}, fmt.Errorf("ask: %w", err)
	}
	return Answer{Reply: reply, LeftOut: left}, nil
}
