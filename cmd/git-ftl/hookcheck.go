package main

import (
	"context"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/hooks"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// hookCheck lints what a hook is about. What commits need is gathered at the first
// of them.
func (a *app) hookCheck(repo *git.Repo) hooks.Check {
	var look *session.Look
	return func(ctx context.Context, from, to string) (hooks.Report, error) {
		if to == "" {
			r, err := a.lintStaged(ctx, repo)
			return hookReport(r), err
		}
		if look == nil {
			s, err := a.session(ctx, repo)
			if err != nil {
				return hooks.Report{}, err
			}
			look = s.Look(ctx)
		}
		r, err := look.Trees(ctx, from, to)
		return hookReport(r), err
	}
}

// lintStaged looks at what is staged. Git reads the index while the settings are
// read: a person waits for this at each commit.
func (a *app) lintStaged(ctx context.Context, repo *git.Repo) (lint.Report, error) {
	staged := make(chan session.Staged)
	go func() { staged <- session.ReadStaged(ctx, repo, a.index(repo)) }()
	s, err := a.session(ctx, repo)
	read := <-staged
	if err != nil {
		return lint.Report{}, err
	}
	return s.Look(ctx).Staged(ctx, read)
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
