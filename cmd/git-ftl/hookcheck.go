package main

import (
	"context"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/hooks"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// hookCheck lints what a hook is about. What that needs is gathered at the first
// call.
func (a *app) hookCheck(repo *git.Repo) hooks.Check {
	var look *session.Look
	return func(ctx context.Context, from, to string) (hooks.Report, error) {
		if look == nil {
			s, err := a.session(ctx, repo)
			if err != nil {
				return hooks.Report{}, err
			}
			look = s.Look(ctx)
		}
		lints := func() (lint.Report, error) { return look.Trees(ctx, from, to) }
		if to == "" {
			lints = func() (lint.Report, error) { return look.Index(ctx, a.index(repo)) }
		}
		r, err := lints()
		return hookReport(r), err
	}
}

// hookReport words what was found for a hook. What only tells is left out.
func hookReport(r lint.Report) hooks.Report {
	out := hooks.Report{Blocked: r.Blocked(), Files: r.Files, Bytes: r.Bytes, Skipped: r.Skipped}
	for i, f := range r.Findings {
		if f.Waived == "" && f.Severity != lint.Info {
			out.Findings++
			out.Lines = append(out.Lines, fmt.Sprintf("f%-3d %-5s %s  %s  %s", i+1, f.Severity, f.Rule, whereIs(f), f.Excerpt))
		}
	}
	return out
}
