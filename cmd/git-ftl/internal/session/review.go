package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
)

// Review is what a model says of a result, and what that took. Its words are the
// model's own, and to be escaped when they are shown.
type Review struct {
	Of string `json:"of"` // commit
	llm.Review
	chat.Reply
}

// Verdict sums a review up.
func (r *Review) Verdict() string {
	var parts []string
	switch n := len(r.Security); n {
	case 0:
		parts = append(parts, "no security finding")
	case 1:
		parts = append(parts, "1 security finding")
	default:
		parts = append(parts, fmt.Sprintf("%d security findings", n))
	}
	scope := map[string]string{"within": "within the task", "partial": "a part of the task", "beyond": "beyond the task"}
	parts = append(parts, scope[r.Adherence.Scope])
	if r.Adherence.Injected {
		parts = append(parts, "something in it gives orders to its readers")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// wantsReview reports whether a reviewer is to look at the result.
func (r *run) wantsReview() bool {
	return r.Config.Reviewer != "" && !r.task.NoReview && r.out.Review == nil
}

// review has the reviewer look at the result, and gives what is to be done with
// what it says.
func (r *run) review(ctx context.Context) (keep func()) {
	start := r.Now()
	review, err := r.reviewResult(r.soft)
	return func() {
		switch {
		case r.interrupted():
			r.note("no review: it was interrupted")
		case err != nil:
			r.note("no review: " + err.Error())
		default:
			r.stageOf(Event{Stage: "review", Result: review.Verdict(), Cost: review.Usage.Cost}, start)
			r.amend(ctx, "review", review.Of, func(o *Outcome) { o.Review = review })
		}
	}
}

// reviewResult asks the reviewer. Errors: *chat.Error.
func (r *run) reviewResult(ctx context.Context) (*Review, error) {
	m, err := r.model(r.Config.Reviewer, r.secret.kept)
	if err != nil {
		return nil, err
	}
	result, err := r.Queue.Find(ctx, r.out.ID)
	if err != nil {
		return nil, err
	}
	hide := withheld(valuesOf(r.secret.sought))
	in := llm.ReviewInput{Task: hide(r.out.asked()), Findings: told(r.out.Findings), Tests: hide(r.out.testWords(result.Commit.String()))}
	if in.Files, err = r.changeOf(ctx, result, hide); err != nil {
		return nil, err
	}
	said, reply, err := m.Review(ctx, in)
	if err != nil {
		return nil, err
	}
	return &Review{Of: result.Commit.String(), Review: said, Reply: reply}, nil
}
