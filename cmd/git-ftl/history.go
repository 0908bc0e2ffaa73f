package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type logCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// logged is a task in git ftl log.
type logged struct {
	ID        string         `json:"id"`
	Created   time.Time      `json:"created"`
	Ended     time.Time      `json:"ended,omitzero"`
	Agent     string         `json:"agent"`
	Model     string         `json:"model"`
	Status    string         `json:"status"`
	State     string         `json:"state"` // of the result; "" without one
	Task      string         `json:"task"`
	Turns     []string       `json:"turns"` // what was asked before, oldest first
	Result    string         `json:"result"`
	Files     []session.File `json:"files"`
	Tests     string         `json:"tests"`               // what came of them: passed, failed, invalid or skipped
	Verifying string         `json:"verifying,omitempty"` // what still looks at the result: tests or review
	Cost      float64        `json:"cost_usd"`            // of the newest turn, its review and tests included, as far as it is known
}

// Run implements the verb.
func (c *logCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		records, err := s.Tasks()
		if err != nil {
			return err
		}
		lines, err := tasks(ctx, s)
		if err != nil {
			return err
		}
		states := map[string]taskLine{}
		for _, l := range lines {
			states[l.ID] = l
		}
		all := []logged{}
		for _, o := range records {
			all = append(all, logOf(o, states[o.ID]))
		}
		if c.JSON {
			return a.json(all)
		}
		for i, l := range all {
			if i > 0 {
				fmt.Fprintln(a.stdout)
			}
			a.logEntry(l)
		}
		return nil
	})
}

func logOf(o session.Outcome, now taskLine) logged {
	l := logged{
		ID: o.ID, Created: o.Created, Ended: o.Ended, Agent: o.Agent, Model: o.Model, Status: o.Status,
		Task: o.Task, Turns: []string{}, Result: now.Result, Files: o.Files, Tests: o.Tests.Status, Verifying: now.Verifying, Cost: o.Usage.Cost,
	}
	if now.Result != "" {
		l.State = now.State
	}
	for _, t := range o.Turns {
		l.Turns = append(l.Turns, t.Task)
	}
	if len(o.Turns) > 0 {
		l.Created = o.Turns[0].Created
	}
	if o.Review != nil && o.Review.Usage.Known {
		l.Cost += o.Review.Usage.Cost
	}
	if w := o.Tests.Writer; w != nil && w.Usage.Known {
		l.Cost += w.Usage.Cost
	}
	return l
}

// logEntry prints a task as git log prints a commit.
func (a *app) logEntry(l logged) {
	state := l.Status
	if l.State != "" {
		state = l.State + cut(l.Status) + tested(l.Tests)
	}
	if l.Verifying != "" {
		state += ", " + l.Verifying + " under way"
	}
	fmt.Fprintf(a.stdout, "task %s  %s\n", clean(l.ID), state)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.stdout, "%-8s%s\n", name+":", clean(value))
		}
	}
	row("Agent", strings.TrimSpace(l.Agent+" "+l.Model))
	row("Date", l.Created.Format("2006-01-02 15:04:05 -0700"))
	row("Result", l.Result)
	if l.Cost > 0 {
		row("Cost", dollars(l.Cost))
	}
	fmt.Fprintln(a.stdout)
	for _, text := range append(l.Turns, l.Task) {
		for line := range strings.Lines(strings.TrimRight(text, "\n")) {
			fmt.Fprintf(a.stdout, "    %s\n", clean(strings.TrimSuffix(line, "\n")))
		}
	}
	if len(l.Files) > 0 {
		fmt.Fprintln(a.stdout, "\n"+fileLine(l.Files))
	}
}

type blameCmd struct {
	Path string `arg:"" help:"File of the working tree."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Help is the end of the verb's --help.
func (c *blameCmd) Help() string {
	return "A line is a task's where a result of it added the line at this path, was applied, and the line stands there since. What was edited later, or moved to another file, is no task's any more, nor is what a result brought that gc has removed."
}

// blamed is what blame --json prints.
type blamed struct {
	Path  string               `json:"path"`
	Lines []session.BlamedLine `json:"lines"`
	Tasks map[string]string    `json:"tasks"` // what was asked, by ID
}

// Run implements the verb.
func (c *blameCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		from := *a
		from.paths = []string{c.Path}
		paths, err := from.repoPaths(s.Repo)
		if err != nil {
			return err
		}
		b := blamed{Path: paths[0], Tasks: map[string]string{}}
		b.Lines, err = s.Blame(ctx, b.Path)
		if errors.Is(err, session.ErrNoLines) {
			return &exitError{code: exitFailed, err: err, hints: []string{"git ftl blame takes a file of the working tree; git blame REV -- PATH looks at older ones"}}
		}
		if err != nil {
			return err
		}
		var order []string
		for _, l := range b.Lines {
			if _, known := b.Tasks[l.Task]; l.Task != "" && !known {
				o, _ := s.Task(l.Task) // the line has its agent and ID without a record, too
				b.Tasks[l.Task], order = o.Task, append(order, l.Task)
			}
		}
		if c.JSON {
			b.Lines = append([]session.BlamedLine{}, b.Lines...)
			return a.json(b)
		}
		a.blameLines(b.Lines)
		for _, id := range order {
			a.ui.line("%s  %s", id, clean(session.Subject(b.Tasks[id])))
		}
		return nil
	})
}

// blameLines prints lines as git blame does, behind the task and the agent.
func (a *app) blameLines(lines []session.BlamedLine) {
	const most = 20
	name := func(s string) string {
		if r := []rune(clean(s)); len(r) > most {
			return string(r[:most-1]) + "…"
		}
		return clean(s)
	}
	var who, author int
	for _, l := range lines {
		who = max(who, utf8.RuneCountInString(name(l.Task+" "+l.Agent)))
		author = max(author, utf8.RuneCountInString(name(l.Author)))
	}
	digits := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		commit := "not committed yet"
		if l.Commit != "" {
			commit = fmt.Sprintf("%.8s %-*s %s", l.Commit, author, name(l.Author), l.When.Format("2006-01-02"))
		}
		fmt.Fprintf(a.stdout, "%-*s  %-*s  %*d) %s\n", who, name(strings.TrimSpace(l.Task+" "+l.Agent)), max(author+len("1234abcd  2006-01-02"), len("not committed yet")), commit, digits, i+1, clean(l.Text))
	}
}
