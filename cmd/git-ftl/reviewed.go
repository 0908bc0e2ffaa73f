package main

import (
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// review shows what the reviewer says before the change itself is looked at.
func (u *ui) review(o session.Outcome) {
	if o.Review == nil {
		return
	}
	for _, line := range reviewLines(*o.Review) {
		u.line("%s", line)
	}
}

// showReview is the part of a record that is a model's.
func (a *app) showReview(r *session.Review) {
	if r == nil {
		return
	}
	fmt.Fprintf(a.stdout, "%-9s %s; %s\n", "review", clean(r.Verdict()), spent(r.Reply))
	for _, line := range reviewLines(*r) {
		fmt.Fprintln(a.stdout, line)
	}
}

// reviewLines show a review: security first, then how it keeps to the task, then
// each file. They can be shown as they are.
func reviewLines(r session.Review) []string {
	const most = 12
	var lines []string
	add := func(first, about, text string) {
		text = clean(strings.Join(strings.Fields(text), " "))
		if about != "" {
			text = strings.TrimRight(clean(about)+"  "+text, " ")
		}
		lines = append(lines, fmt.Sprintf("  %-8s %s", clean(first), text))
	}
	for _, f := range r.Security {
		at := f.Path
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.Path, f.Line)
		}
		add(f.Severity, at, f.Message)
	}
	add("task", "", adherence(r)+" "+r.Adherence.Text)
	for i, s := range r.Summary {
		if i == most {
			add("files", fmt.Sprintf("and %d more", len(r.Summary)-most), "")
			break
		}
		add("file", s.Path, s.Text)
	}
	for _, what := range r.LeftOut {
		add("unseen", what, "")
	}
	return lines
}

// adherence is how a change keeps to its task, in words.
func adherence(r session.Review) string {
	words := map[string]string{"within": "within it;", "partial": "does a part of it;", "beyond": "goes beyond it;"}[r.Adherence.Scope]
	if r.Adherence.Injected {
		words = "the change gives orders to its readers; " + words
	}
	return words
}

// reviewOn puts a review of this very commit on the screen. What a model finds
// never blocks, whatever its severity.
func reviewOn(c *review.Change, r *session.Review, commit string) {
	if r == nil || r.Of != commit {
		return
	}
	c.Summary = strings.Join(append([]string{adherence(*r) + " " + r.Adherence.Text}, r.LeftOut...), "\n")
	for _, s := range r.Summary {
		for i := range c.Files {
			if c.Files[i].Path == s.Path {
				c.Files[i].Summary = s.Text
			}
		}
	}
	severities := map[string]string{"high": "warn", "medium": "warn", "low": "info"}
	for _, f := range r.Security {
		c.Findings = append(c.Findings, review.Finding{
			Rule: "review/" + f.Severity, Severity: severities[f.Severity], Path: f.Path, Line: f.Line, Message: f.Message,
		})
	}
}
