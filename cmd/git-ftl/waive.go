package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/patch"
)

type waiveCmd struct {
	Words  []string `arg:"" optional:"" name:"finding" help:"[ID] FINDING…: a result, and its findings as git ftl lint numbers or names them."`
	Staged bool     `help:"Of what is staged: the hooks take it from now on."`
	All    bool     `help:"Accept everything that blocks."`
	JSON   bool     `name:"json" help:"Print one JSON object."`
}

// Run implements the verb. Where one word fits no finding, none is accepted.
func (c *waiveCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		id, words := "", c.Words
		if len(words) > 0 && !c.Staged && idShape.MatchString(words[0]) {
			id, words = words[0], words[1:]
		}
		if (len(words) == 0) != c.All {
			return &exitError{code: exitUsage, err: errors.New("name the findings, or give --all"), hints: []string{"git ftl lint " + id + " lists them"}}
		}
		look := s.Look(ctx)
		if c.Staged {
			return c.waive(ctx, a, s, "", words, func() (lint.Report, error) { return look.Staged(ctx, session.ReadStaged(ctx, s.Repo, a.index(s.Repo))) })
		}
		r, err := a.choose(ctx, s, id)
		if err != nil {
			return err
		}
		if r.State == patch.Foreign {
			return fmt.Errorf("waive %s: %w", r.ID, patch.ErrForeign)
		}
		return c.waive(ctx, a, s, r.ID, words, func() (lint.Report, error) { return look.Result(ctx, r) })
	})
}

// waive accepts what the words name of the findings of a result, or of what is
// staged.
func (c *waiveCmd) waive(ctx context.Context, a *app, s *session.Session, id string, words []string, lints func() (lint.Report, error)) error {
	report, err := lints()
	if err != nil {
		return err
	}
	chosen, err := c.pick(id, report, words)
	if err != nil {
		return err
	}
	if err := s.Waive(ctx, id, chosen); err != nil {
		return err
	}
	if report, err = lints(); err != nil {
		return err
	}
	if id != "" {
		if err := s.Renew(ctx, id, report); err != nil {
			return err
		}
	}
	return c.show(a, id, chosen, report)
}

// pick finds what the words name, or all that blocks.
func (c *waiveCmd) pick(id string, report lint.Report, words []string) ([]lint.Finding, error) {
	chosen := []lint.Finding{}
	for _, word := range words {
		f, ok := lint.Find(report.Findings, word)
		if !ok {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("there is no finding %q", word), hints: []string{c.lists(id) + " lists them"}}
		}
		chosen = append(chosen, f)
	}
	for _, f := range report.Findings {
		if c.All && f.Blocks() {
			chosen = append(chosen, f)
		}
	}
	return chosen, nil
}

// lists is the command that lists findings.
func (c *waiveCmd) lists(id string) string {
	if c.Staged {
		return "git ftl lint --staged"
	}
	return "git ftl lint " + id
}

func (c *waiveCmd) show(a *app, id string, chosen []lint.Finding, report lint.Report) error {
	if c.JSON {
		return a.json(struct {
			ID      string         `json:"id"`
			Waived  []lint.Finding `json:"waived"`
			Blocked bool           `json:"blocked"`
		}{id, chosen, report.Blocked()})
	}
	for _, f := range chosen {
		fmt.Fprintf(a.stdout, "%saccepted %s at %s\n", prefixed(id), f.Rule, whereIs(f))
	}
	switch {
	case report.Blocked():
		a.ui.line("%s: %s", session.Verdict(report), c.lists(id))
	case id != "":
		a.ui.line("  git ftl apply %s", id)
	}
	return nil
}

// prefixed is an ID in front of what is said of its result.
func prefixed(id string) string {
	if id == "" {
		return ""
	}
	return id + ": "
}
