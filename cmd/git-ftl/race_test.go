package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/lint"
)

// TestCompare: the table of a race, and the commands below it.
func TestCompare(t *testing.T) {
	commit := "c"
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	out := func(id, agent, status string, findings int, result bool) session.Outcome {
		o := session.Outcome{ID: id, Agent: agent, Status: status, Created: start, Ended: start.Add(108 * time.Second)}
		o.Stages = []session.Stage{{Name: "lint"}}
		o.Findings = make([]lint.Finding, findings)
		if result {
			o.Result, o.Files = &commit, []session.File{{Path: "a", Insertions: 84, Deletions: 6}}
		}
		return o
	}
	blocked := out("qqqq", "c", session.Pending, 0, true)
	blocked.Blocked = true
	unlinted := out("llll", "d", session.Pending, 0, true)
	unlinted.Stages = nil
	failing := out("kkkk", "a", session.Pending, 0, true)
	failing.Tests = session.Tests{Status: session.TestsFailed, Written: []session.TestVerdict{{Status: session.TestsFailed}, {Status: session.TestsPassed}}}
	for _, row := range []struct {
		name  string
		outs  []session.Outcome
		table string
		next  string
	}{
		{
			"the fewest findings", []session.Outcome{out("kkkk", "a", session.Pending, 2, true), out("mmmm", "bb", session.Pending, 1, true)},
			"kkkk  a   pending  1 file, +84 -6  2 findings  -  1m48s  git ftl apply kkkk\n" +
				"mmmm  bb  pending  1 file, +84 -6  1 finding   -  1m48s  git ftl apply mmmm\n",
			"  git ftl diff mmmm   git ftl apply mmmm   git ftl reject kkkk\n",
		},
		{
			"one that ended well goes before one that did not", []session.Outcome{out("kkkk", "a", session.Failed, 0, true), blocked, unlinted},
			"kkkk  a  failed   1 file, +84 -6  0 findings  -  1m48s  git ftl apply kkkk\n" +
				"qqqq  c  pending  1 file, +84 -6  0 findings  -  1m48s  git ftl apply qqqq\n" +
				"llll  d  pending  1 file, +84 -6  -           -  1m48s  git ftl apply llll\n",
			"  git ftl diff llll   git ftl apply llll   git ftl reject kkkk qqqq\n",
		},
		{
			"the fewest failing tests", []session.Outcome{failing, out("mmmm", "bb", session.Pending, 0, true)},
			"kkkk  a   pending  1 file, +84 -6  0 findings  tests 1 fails  -  1m48s  git ftl apply kkkk\n" +
				"mmmm  bb  pending  1 file, +84 -6  0 findings  tests -        -  1m48s  git ftl apply mmmm\n",
			"  git ftl diff mmmm   git ftl apply mmmm   git ftl reject kkkk\n",
		},
		{
			"only one has a result", []session.Outcome{out("kkkk", "a", session.Empty, 0, false), out("mmmm", "a", session.Failed, 0, true)},
			"kkkk  a  empty   nothing changed  0 findings  -  1m48s\n" +
				"mmmm  a  failed  1 file, +84 -6   0 findings  -  1m48s  git ftl apply mmmm\n",
			"  git ftl diff mmmm   git ftl apply mmmm   git ftl reject mmmm\n",
		},
		{
			"none has", []session.Outcome{out("kkkk", "a\x1b", session.Empty, 0, false), out("mmmm", "a", session.Empty, 0, false)},
			"kkkk  a\\x1b  empty  nothing changed  0 findings  -  1m48s\n" +
				"mmmm  a      empty  nothing changed  0 findings  -  1m48s\n",
			"",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			a := &app{stdout: &stdout, stderr: &stderr}
			a.ui = newUI(a)
			a.compare(row.outs)
			if diff := cmp.Diff([]string{row.table, row.next}, []string{stdout.String(), stderr.String()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
