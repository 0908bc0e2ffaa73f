package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type testCmd struct {
	ID    string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise."`
	Write bool   `help:"Have new tests written, beside those that there are."`
	JSON  bool   `name:"json" help:"Print one JSON object."`
}

// Help is the end of the verb's --help.
func (c *testCmd) Help() string {
	return "The tests that ftl.tester wrote for the task, and the project's own command (ftl.test, or what is found), run in new sandboxes without a network: on the tree that the task started from, and on its result. " +
		"A test that fails on both says nothing. Verdicts inform and block nothing: the exit code is 0 whatever they are, and 1 where nothing could run."
}

// testReport is what test --json prints.
type testReport struct {
	ID string `json:"id"`
	session.Tests
}

// Run implements the verb.
func (c *testCmd) Run(a *app) error {
	ctx := context.Background() // a signal is the tests' own to take
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := s.Recover(ctx); err != nil {
		return err
	}
	r, err := a.choose(ctx, s, c.ID)
	if err != nil {
		return err
	}
	a.ui.quiet = c.JSON
	a.ui.note(r.ID + ": its tests run on the tree before the change and on the one after it")
	o, err := s.Test(ctx, r, session.Testing{Write: c.Write, Interrupt: a.signals})
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(testReport{o.ID, o.Tests})
	}
	fmt.Fprintf(a.stdout, "%-9s %s: %s\n", o.ID, o.Tests.Status, clean(o.Tests.Detail))
	for _, line := range testLines(o.Tests) {
		fmt.Fprintln(a.stdout, line)
	}
	return nil
}

// tests shows which tests fail since the change.
func (u *ui) tests(t session.Tests) {
	if len(t.Failing()) == 0 {
		return
	}
	for _, line := range testLines(t) {
		u.line("%s", line)
	}
}

// testLines name the first of the tests that fail since the change or say nothing,
// each with the last line of what it printed.
func testLines(t session.Tests) []string {
	const most = 10
	all := slices.DeleteFunc(verdicts(t), func(v review.Test) bool {
		return v.Status != session.TestsFailed && v.Status != session.TestsInvalid
	})
	var lines []string
	for i, v := range all {
		if i == most {
			return append(lines, fmt.Sprintf("  and %d more: git ftl show", len(all)-most))
		}
		lines = append(lines, fmt.Sprintf("  %-8s %s", v.Status, clean(shorten(strings.TrimSpace(v.Words())))))
		if last := lastLine(v.Output); last != "" {
			lines = append(lines, "           "+clean(shorten(last)))
		}
	}
	return lines
}

// lastLine is the last one that has words.
func lastLine(text string) (last string) {
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			last = strings.TrimSpace(line)
		}
	}
	return last
}
