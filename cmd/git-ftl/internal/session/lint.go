package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// BlockedError says that findings keep a result from being applied. Nothing was
// written.
type BlockedError struct {
	ID       string         // of the result
	Findings []lint.Finding // all of the result's, in the order that their numbers follow
	Blocking []lint.Finding // those that block
}

// Error counts them.
func (e *BlockedError) Error() string {
	verb := "findings block"
	if len(e.Blocking) == 1 {
		verb = "finding blocks"
	}
	return fmt.Sprintf("%d %s %s; nothing was written", len(e.Blocking), verb, e.ID)
}

// lint looks at the result that the task has. What cannot be looked at is said,
// and an apply looks again.
func (r *run) lint(ctx context.Context) {
	start := r.Now()
	report, err := r.lintResult(ctx)
	if err != nil {
		r.note(fmt.Sprintf("%s could not be linted, and will be when it is applied: %v", r.out.ID, err))
		return
	}
	r.out.Findings, r.out.Blocked = append(report.Findings, r.out.Egress.findings()...), report.Blocked()
	for _, what := range report.Skipped {
		r.note("lint: " + what)
	}
	r.stage("lint", Verdict(report), start)
}

// Verdict sums a report up: "clean", or how many findings do what.
func Verdict(r lint.Report) string {
	var block, warn, info, waived int
	for _, f := range r.Findings {
		switch {
		case f.Waived != "":
			waived++
		case f.Severity == lint.Block:
			block++
		case f.Severity == lint.Warn:
			warn++
		default:
			info++
		}
	}
	var parts []string
	for _, p := range []struct {
		n        int
		one, all string
	}{
		{block, "1 finding blocks", "%d findings block"}, {warn, "1 warning", "%d warnings"},
		{info, "1 remark", "%d remarks"}, {waived, "1 accepted", "%d accepted"}, {r.More, "1 more", "%d more"},
	} {
		switch p.n {
		case 0:
		case 1:
			parts = append(parts, p.one)
		default:
			parts = append(parts, fmt.Sprintf(p.all, p.n))
		}
	}
	if len(parts) == 0 {
		return "clean"
	}
	return strings.Join(parts, ", ")
}

// lintResult looks at the task's result with the secrets that the task knows.
func (r *run) lintResult(ctx context.Context) (lint.Report, error) {
	result, err := r.Queue.Find(ctx, r.out.ID)
	if err != nil {
		return lint.Report{}, err
	}
	k := known{values: valuesOf(r.secret.sought)}
	if r.secret.mint == nil { // of a process that died: what it knew is gathered anew
		k = r.known(ctx)
	}
	return r.look(k).Result(ctx, result)
}

// checkApply is what an apply asks of what it is about to take: what blocks ends
// it, unless the user accepts it here and now.
func (s *Session) checkApply(result patch.Result, waive, dry bool) func(context.Context, *git.Objects, []git.Change) error {
	return func(ctx context.Context, objs *git.Objects, taken []git.Change) error {
		l := s.Look(ctx)
		report, err := l.changes(ctx, objs, l.termsOf(result), taken)
		if err != nil {
			return fmt.Errorf("lint: %w", err)
		}
		for _, what := range report.Skipped {
			s.note("lint: " + what)
		}
		blocking := blocking(report)
		if len(blocking) == 0 || waive && dry {
			return nil
		}
		if waive {
			return s.Waive(ctx, result.ID, blocking)
		}
		whole, err := l.Result(ctx, result)
		if err != nil {
			return fmt.Errorf("lint: %w", err)
		}
		if blocking = asWhole(blocking, whole.Findings); len(blocking) == 0 {
			return nil
		}
		return &BlockedError{ID: result.ID, Findings: whole.Findings, Blocking: blocking}
	}
}

// asWhole gives what blocks a part of a result the place of the same finding of the
// whole: what is found of a file as such has another id in a part of the file, and
// who accepted the whole has accepted it.
func asWhole(blocking, whole []lint.Finding) []lint.Finding {
	var left []lint.Finding
	for _, f := range blocking {
		i := slices.IndexFunc(whole, func(w lint.Finding) bool { return w.Rule == f.Rule && w.Path == f.Path && w.Line == 0 && f.Line == 0 })
		if i >= 0 {
			f = whole[i]
		}
		if f.Blocks() {
			left = append(left, f)
		}
	}
	return left
}

// Clear reports as a *BlockedError what of a result blocks.
func (s *Session) Clear(ctx context.Context, result patch.Result) error {
	report, err := s.Look(ctx).Result(ctx, result)
	if err != nil {
		return fmt.Errorf("lint: %w", err)
	}
	if blocking := blocking(report); len(blocking) > 0 {
		return &BlockedError{ID: result.ID, Findings: report.Findings, Blocking: blocking}
	}
	return nil
}

func blocking(r lint.Report) []lint.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f lint.Finding) bool { return !f.Blocks() })
}
