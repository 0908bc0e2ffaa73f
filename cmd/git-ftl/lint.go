package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type lintCmd struct {
	What    []string `arg:"" optional:"" name:"what" help:"ID of a result, RANGE of commits such as main..HEAD, or PATH…; the only undecided result otherwise."`
	Staged  bool     `help:"What is staged."`
	Pending bool     `help:"The undecided result of this work tree."`
	JSON    bool     `name:"json" help:"Print one JSON object."`
	SARIF   bool     `name:"sarif" help:"Print SARIF 2.1.0, for code hosts."`
}

// Help says what counts, and what ends in which exit code.
func (lintCmd) Help() string {
	return "Only added lines count. The exit code is 3 where a finding blocks that nobody has accepted. " +
		"What is accepted comes from git ftl waive, from git config ftl.lint.RULE off|info|warn|block, and from the .ftllint of the base once it is trusted."
}

// Run implements the verb.
func (c *lintCmd) Run(a *app) error {
	if c.JSON && c.SARIF {
		return &exitError{code: exitUsage, err: errors.New("--json and --sarif exclude each other")}
	}
	ctx, cancel := a.context()
	defer cancel()
	report, err := c.report(ctx, a)
	if err != nil {
		return err
	}
	if err := c.show(a, report); err != nil {
		return err
	}
	if report.Blocked() {
		return &exitError{code: exitFindings, err: errors.New("findings block"), quiet: true} // they were shown
	}
	return nil
}

// report looks at what was named.
func (c *lintCmd) report(ctx context.Context, a *app) (lint.Report, error) {
	words, paths := c.What, a.paths
	named := len(words)+len(paths) > 0
	if named && (c.Staged || c.Pending) || c.Staged && c.Pending {
		return lint.Report{}, &exitError{code: exitUsage, err: errors.New("name one thing to look at: --staged, --pending, a RANGE or PATH…")}
	}
	if c.Staged {
		return c.staged(ctx, a)
	}
	s, err := a.open(ctx)
	if err != nil {
		return lint.Report{}, err
	}
	look := s.Look(ctx)
	one := len(words) == 1 && len(paths) == 0 && !isThere(a.path(words[0]))
	switch {
	case !named:
		return c.result(ctx, a, s, look, "")
	case one && strings.Contains(words[0], ".."):
		return c.commits(ctx, look, words[0])
	case one && idShape.MatchString(words[0]):
		return c.result(ctx, a, s, look, words[0])
	}
	a.paths = append(words, paths...)
	names, err := a.repoPaths(s.Repo)
	if err != nil {
		return lint.Report{}, err
	}
	return look.Paths(ctx, names)
}

// staged asks git for no version, which is one git less, unless something is wrong.
func (c *lintCmd) staged(ctx context.Context, a *app) (lint.Report, error) {
	repo, err := git.Find(ctx, a.dir, a.env)
	if err != nil {
		repo, err = git.Open(ctx, a.dir, a.env)
	}
	if err != nil {
		return lint.Report{}, err
	}
	return a.lintStaged(ctx, repo)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (c *lintCmd) commits(ctx context.Context, look *session.Look, revisions string) (lint.Report, error) {
	report, err := look.Commits(ctx, "--end-of-options", revisions)
	if exit := (*git.ExitError)(nil); errors.As(err, &exit) {
		err = &exitError{code: exitUsage, err: fmt.Errorf("%q is no range of commits", revisions), hints: []string{"git ftl lint main..HEAD looks at what HEAD has and main has not"}}
	}
	return report, err
}

func (c *lintCmd) result(ctx context.Context, a *app, s *session.Session, look *session.Look, id string) (lint.Report, error) {
	r, err := a.choose(ctx, s, id)
	if err != nil {
		e := *explain(err, a.env)
		e.hints = append(e.hints[:len(e.hints):len(e.hints)], "git ftl lint --staged looks at what is staged")
		return lint.Report{}, &e
	}
	report, err := look.Result(ctx, r)
	if err != nil {
		return report, err
	}
	return report, s.Renew(ctx, r.ID, report)
}

// lintReport is what lint --json prints.
type lintReport struct {
	lint.Report
	Blocked bool `json:"blocked"`
}

func (c *lintCmd) show(a *app, r lint.Report) error {
	switch {
	case c.JSON:
		return a.json(lintReport{r, r.Blocked()})
	case c.SARIF:
		return lint.WriteSARIF(a.stdout, version(), r.Findings)
	}
	for i, f := range r.Findings {
		for _, line := range findingLines(f, i+1) {
			fmt.Fprintln(a.stdout, line)
		}
	}
	for _, what := range r.Skipped {
		a.ui.note(what)
	}
	fmt.Fprintln(a.stdout, summary(r))
	return nil
}

// summary says what came of a report, and how much was looked at: "clean" of no
// file is no good news.
func summary(r lint.Report) string {
	return fmt.Sprintf("%s; %s, %s scanned", session.Verdict(r), plural(r.Files, "file"), sizeText(r.Bytes))
}

// findingLines show a finding: what it is, where, the line, and what to do.
func findingLines(f lint.Finding, number int) []string {
	severity := string(f.Severity)
	if f.Waived != "" {
		severity = "accepted"
	}
	lines := []string{fmt.Sprintf("f%-3d %-8s %s  %s  %s", number, severity, f.Rule, whereIs(f), clean(f.Message))}
	if f.Excerpt != "" {
		lines = append(lines, "       "+clean(f.Excerpt))
	}
	if f.Remedy != "" && f.Waived == "" {
		lines = append(lines, "       "+clean(f.Remedy))
	}
	return lines
}

// whereIs is path and line of a finding.
func whereIs(f lint.Finding) string {
	if f.Line == 0 {
		return clean(f.Path)
	}
	return fmt.Sprintf("%s:%d", clean(f.Path), f.Line)
}

// explainBlocked lists what blocks, by the numbers that waive takes.
func (e *exitError) explainBlocked(b *session.BlockedError) {
	e.code, e.err = exitFindings, b
	var names []string
	for _, f := range b.Blocking {
		name := f.ID[:9]
		if i := slices.IndexFunc(b.Findings, func(o lint.Finding) bool { return o.ID == f.ID }); i >= 0 {
			name = fmt.Sprintf("f%d", i+1)
		}
		names = append(names, name)
		e.details = append(e.details, strings.TrimSpace(fmt.Sprintf("%s  %s  %s   %s", name, f.Rule, whereIs(f), f.Excerpt)))
	}
	if len(names) > 3 {
		names = []string{"--all"}
	}
	e.hints = []string{fmt.Sprintf(`git ftl continue %s "…" to fix it, git ftl waive %s %s to take it`, b.ID, b.ID, strings.Join(names, " "))}
}
