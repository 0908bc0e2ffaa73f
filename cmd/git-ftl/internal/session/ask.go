package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/patch"
)

// Ask has a model answer a question about a result, from its patch, task, findings
// and tests, with the user's real values withheld. Nothing can come of it but words;
// stream, which may be nil, gets them as they come, not escaped. Errors:
// ErrNoModel, patch.ErrForeign, *chat.Error.
func (s *Session) Ask(ctx context.Context, r patch.Result, question string, stream func(string)) (llm.Answer, error) {
	v, err := s.openVault(ctx)
	if err != nil {
		return llm.Answer{}, err
	}
	kept := s.withVariables(v.Kept)
	spec := s.asked(kept)
	if spec == "" {
		return llm.Answer{}, ErrNoModel
	}
	m, err := s.model(spec, kept)
	if err != nil {
		return llm.Answer{}, err
	}
	open := *s
	open.Peek = func(context.Context, string) (Vault, error) { return v, nil }
	hide := withheld(open.known(ctx).values)
	in := llm.AskInput{Question: hide(question), Task: hide(r.Task)}
	if in.Files, err = s.changeOf(ctx, r, hide); err != nil {
		return llm.Answer{}, fmt.Errorf("ask about %s: %w", r.ID, err)
	}
	o, err := s.Task(r.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return llm.Answer{}, fmt.Errorf("ask about %s: %w", r.ID, err)
	}
	if o.Mends {
		in.Task = hide(o.asked())
	}
	in.Findings = told(o.Findings)
	if o.Review != nil && o.Review.Of == r.Commit.String() {
		in.Review = &o.Review.Review
	}
	in.Tests = hide(o.testWords(r.Commit.String()))
	return m.Ask(ctx, in, stream)
}

// changeOf is the whole change of a result, by file, whatever of it was applied
// since. Errors: patch.ErrForeign.
func (s *Session) changeOf(ctx context.Context, r patch.Result, hide func(string) string) ([]llm.FileChange, error) {
	if r.State == patch.Foreign {
		return nil, patch.ErrForeign
	}
	r.Have, r.State = r.BaseTree, patch.Undecided
	pieces, err := s.Queue.Pieces(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	var files []llm.FileChange
	var text strings.Builder
	for i, p := range pieces {
		if i == 0 || pieces[i-1].Path != p.Path {
			text.Reset()
			text.WriteString(p.Header)
		}
		text.WriteString(p.Text)
		if i+1 == len(pieces) || pieces[i+1].Path != p.Path {
			files = append(files, llm.FileChange{Path: p.Path, Patch: hide(text.String())})
		}
	}
	return files, nil
}

// told is what a model is told of findings: their excerpts are in the patch.
func told(findings []lint.Finding) []llm.Finding {
	var all []llm.Finding
	for _, f := range findings {
		all = append(all, llm.Finding{Rule: f.Rule, Severity: string(f.Severity), Path: f.Path, Line: f.Line, Message: f.Message})
	}
	return all
}
