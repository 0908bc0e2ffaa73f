package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// race makes the task of the agent, and those of others that are named beside it.
func (c *runCmd) race(s *session.Session, text string) (session.Task, error) {
	var all []session.Task
	for name := range strings.SplitSeq(c.Agent, ",") {
		if c.Agent != "" && name == "" {
			return session.Task{}, &exitError{code: exitUsage, err: fmt.Errorf("%q names an agent too few", c.Agent), hints: []string{"git ftl run -a NAME,NAME"}}
		}
		chosen, err := chooseAgent(s, name, agent.Turn{Task: text, Model: s.Config.Model})
		if err != nil {
			return session.Task{}, err
		}
		all = append(all, session.Task{Text: text, Agent: chosen, Model: s.Config.Model})
	}
	c.rivals = all[1:]
	return all[0], nil
}

// compare sets attempts side by side: what each cost, and how to take it.
func (a *app) compare(outs []session.Outcome) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	best, verdict := choice(outs), testColumn(outs)
	for _, o := range outs {
		a.ui.touching(o)
	}
	for _, o := range outs {
		what, take := "nothing changed", ""
		if o.Result != nil {
			what = fmt.Sprintf("%s, +%d -%d", plural(len(o.Files), "file"), o.Insertions(), o.Deletions())
			take = "git ftl apply " + o.ID
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join([]string{
			o.ID, clean(o.Agent), o.Status, what, findings(o) + verdict(o), cost(o), took(o.Ended.Sub(o.Created)), take,
		}, "\t"), "\t"))
	}
	_ = w.Flush()
	switch rest := others(outs, best); {
	case best == "":
	case len(rest) == 0:
		a.ui.line("  git ftl diff %s   git ftl apply %s   git ftl reject %s", best, best, best)
	default:
		a.ui.line("  git ftl diff %s   git ftl apply %s   git ftl reject %s", best, best, strings.Join(rest, " "))
	}
}

// choice is the attempt that the commands below a comparison name: the first of
// those that ended as they should, with as few findings and failing tests as any.
func choice(outs []session.Outcome) string {
	best, rank := "", 0
	for _, o := range outs {
		r := 1 + len(o.Findings) + len(o.Tests.Failing())
		if o.Status != session.Pending || o.Blocked {
			r += 1 << 20
		}
		if o.Result != nil && (best == "" || r < rank) {
			best, rank = o.ID, r
		}
	}
	return best
}

// findings counts what lint found, where it has looked.
func findings(o session.Outcome) string {
	if !slices.ContainsFunc(o.Stages, func(s session.Stage) bool { return s.Name == "lint" }) {
		return "-"
	}
	return plural(len(o.Findings), "finding")
}

// testColumn gives what tests say of an attempt as a column, where they say something
// of any.
func testColumn(outs []session.Outcome) func(session.Outcome) string {
	silent := func(o session.Outcome) bool { return o.Tests.Status == "" || o.Tests.Status == session.TestsSkipped }
	if !slices.ContainsFunc(outs, func(o session.Outcome) bool { return !silent(o) }) {
		return func(session.Outcome) string { return "" }
	}
	return func(o session.Outcome) string {
		if silent(o) {
			return "\ttests -"
		}
		return "\ttests " + clean(o.Tests.Short())
	}
}

// cost is what an attempt cost, as far as its agent says.
func cost(o session.Outcome) string {
	if o.Usage.Cost == 0 {
		return "-"
	}
	return dollars(o.Usage.Cost)
}

func others(outs []session.Outcome, but string) []string {
	var ids []string
	for _, o := range outs {
		if o.ID != but && o.Result != nil {
			ids = append(ids, o.ID)
		}
	}
	return ids
}
