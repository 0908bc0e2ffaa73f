package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// mostNames bounds the names of tests in one line.
const mostNames = 4

// touching says before all else what a change does to the project's own tests.
func (u *ui) touching(o session.Outcome) {
	for _, line := range o.Touching(mostNames) {
		u.status("tests", u.tagged(o.ID)+line)
	}
}

// tagged names the task in a line where several end at once.
func (u *ui) tagged(id string) string {
	if u.many {
		return id + ": "
	}
	return ""
}

// sayTouched is touching, of a result that is about to be applied.
func (v *applying) sayTouched() {
	if o, err := v.s.Task(v.r.ID); err == nil {
		v.ui.touching(o)
	}
}

// tested is what came of tests in a list of tasks; nothing where none ran.
func tested(status string) string {
	if status == "" || status == session.TestsSkipped {
		return ""
	}
	return ", tests " + clean(status)
}

// showTests is the part of a record that tests are, what fails first.
func (a *app) showTests(t session.Tests) {
	if t.Status == "" {
		return
	}
	fmt.Fprintf(a.stdout, "%-9s %s\n", "tests", clean(verdictWords(t)))
	const most = 40
	all := verdicts(t)
	for i, v := range all {
		if i == most {
			fmt.Fprintf(a.stdout, "  and %d more\n", len(all)-most)
			break
		}
		fmt.Fprintf(a.stdout, "  %-8s %s\n", clean(v.Status), clean(v.Words()))
		for _, line := range tail(v.Output, 12) {
			fmt.Fprintf(a.stdout, "           %s\n", clean(shorten(line)))
		}
	}
	if len(t.Kept) > 0 {
		fmt.Fprintf(a.stdout, "%-9s %s\n", "kept", clean(strings.Join(t.Kept, ", ")))
	}
}

// verdictWords is one line of status and detail.
func verdictWords(t session.Tests) string {
	if t.Detail == "" {
		return t.Status
	}
	return t.Status + ": " + t.Detail
}

// verdicts are the tests that have one, those that a person has to look at first.
func verdicts(t session.Tests) []review.Test {
	var all []review.Test
	add := func(of []session.TestVerdict, own bool) {
		for _, v := range of {
			all = append(all, review.Test{Path: v.Path, Name: v.Name, Status: v.Status, Own: own, Proves: v.Proves, Detail: v.Detail, Output: v.Output})
		}
	}
	if t.Own != nil {
		add(t.Own.Failed, true)
	}
	add(t.Written, false)
	order := []string{session.TestsFailed, session.TestsInvalid, session.TestsSkipped, session.TestsPassed}
	slices.SortStableFunc(all, func(a, b review.Test) int { return slices.Index(order, a.Status) - slices.Index(order, b.Status) })
	return all
}

// tail is the last lines of an output, where a failure says why.
func tail(output string, most int) []string {
	lines := outputLines(output)
	if more := len(lines) - most; more > 0 {
		return append([]string{fmt.Sprintf("… %d lines before", more)}, lines[more:]...)
	}
	return lines
}

// testsOn puts what is known of tests on the screen: verdicts of this very commit,
// and what the change does to the project's own.
func testsOn(c *review.Change, o session.Outcome, commit string) {
	c.Touched = o.Touching(mostNames)
	for i := range c.Files {
		if slices.Contains(o.Tests.Touched, c.Files[i].Path) {
			c.Files[i].Touched = true
		}
	}
	if o.Tests.Of != commit {
		return
	}
	c.Tests, c.Verdicts = review.Verdict{Status: o.Tests.Status, Detail: o.Tests.Detail}, verdicts(o.Tests)
	for i := range c.Files {
		c.Files[i].Tests = verdictOf(c.Files[i].Path, c.Verdicts)
	}
}

// verdictOf sums up the verdicts of a file that has tests itself.
func verdictOf(path string, all []review.Test) (v review.Verdict) {
	count := map[string]int{}
	for _, t := range all {
		if t.Path == path {
			count[t.Status]++
		}
	}
	var parts []string
	for _, status := range []string{session.TestsFailed, session.TestsInvalid, session.TestsPassed} {
		if n := count[status]; n > 0 {
			if v.Status == "" {
				v.Status = status
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	v.Detail = strings.Join(parts, ", ")
	return v
}
