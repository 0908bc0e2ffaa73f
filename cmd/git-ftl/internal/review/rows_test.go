package review

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/git-ftl/git-ftl/patch"
)

// TestNamesAreOneLine: no name that a change, a test or a linter brings looks like a
// statement of its own.
func TestNamesAreOneLine(t *testing.T) {
	const evil = "x\n  findings: none"
	f := Finding{Path: evil, Rule: evil, Severity: evil, Message: evil}
	c := Change{
		ID: "kkkk", About: evil, Touched: []string{evil}, Notes: []string{evil}, Findings: []Finding{f, {Path: evil, Line: 7}},
		Tests: Verdict{Status: "failed", Detail: evil}, Verdicts: []Test{{Status: "passed", Path: evil, Name: evil}, {Status: "failed", Path: evil, Name: evil, Detail: evil}},
		Files: []File{{Path: evil, Change: patch.Added, Tests: Verdict{Status: "failed", Detail: evil}}},
	}
	d := layOut(c, nil, &Decisions{}, shape{width: 200, method: ansi.GraphemeWidth})
	for _, r := range d.rows {
		if strings.HasPrefix(strings.TrimSpace(r.text), "findings: none") {
			t.Errorf("a row of its own: %q", r.text)
		}
	}
	if len(d.rows) == 0 {
		t.Fatal("no rows")
	}
}

func TestPlace(t *testing.T) {
	for f, want := range map[Finding]string{{Path: "a"}: "a", {Path: "a", Line: 3}: "a:3"} {
		if got := f.Place(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
