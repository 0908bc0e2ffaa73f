package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type statusCmd struct {
	Short bool `short:"s" help:"One line for a prompt; nothing where nothing is pending."`
	JSON  bool `name:"json" help:"Print one JSON object."`
}

// statusReport is what status --json prints.
type statusReport struct {
	Pending []taskLine `json:"pending"` // undecided results of this work tree
	Running []taskLine `json:"running"` // of the repository
}

// taskLine is one task in a listing.
type taskLine struct {
	ID         string    `json:"id"`
	State      string    `json:"state"` // of the result, or the task's status where it has none
	Status     string    `json:"status"`
	Task       string    `json:"task"`
	Agent      string    `json:"agent"`
	Created    time.Time `json:"created"`
	Files      int       `json:"files"`
	Left       int       `json:"left"` // files of the result that are not, or not wholly, applied
	Insertions int       `json:"insertions"`
	Deletions  int       `json:"deletions"`
	Result     string    `json:"result"`
	Blocked    bool      `json:"blocked"`             // findings keep it from being applied
	Tests      string    `json:"tests"`               // what came of them: passed, failed, invalid or skipped
	Verifying  string    `json:"verifying,omitempty"` // what still looks at the result: tests or review
	WorkTree   string    `json:"work_tree"`
	Doing      string    `json:"doing,omitempty"`   // of a running task: the last line it printed, or the stage that it is at
	Elapsed    float64   `json:"elapsed,omitempty"` // of a running task, seconds
}

// Run implements the verb. It asks no engine but for the change of a task that
// was cut off.
func (c *statusCmd) Run(a *app) error {
	if c.Short && !c.JSON {
		return a.shortStatus()
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		results, err := s.Queue.List(ctx)
		if err != nil {
			return err
		}
		lines, err := join(s, results)
		if err != nil {
			return err
		}
		open, err := s.Queue.UndecidedOf(ctx, results)
		if err != nil {
			return err
		}
		report := statusReport{Pending: []taskLine{}, Running: []taskLine{}}
		for _, l := range lines {
			if l.Status == session.Running {
				report.Running = append(report.Running, l.live(s))
			}
			if slices.ContainsFunc(open, func(r patch.Result) bool { return r.ID == l.ID }) {
				report.Pending = append(report.Pending, l)
			}
		}
		if c.JSON {
			return a.json(report)
		}
		a.longStatus(report)
		for _, l := range report.Pending { // a prompt or a script has shown them to no one
			if err := s.MarkShown(l.ID, l.Result); err != nil {
				return err
			}
		}
		return nil
	})
}

// live adds what a task does at the moment.
func (l taskLine) live(s *session.Session) taskLine {
	if e, ok := s.LastEvent(l.ID); ok {
		l.Doing = cmp.Or(e.Text, afterStage(e.Stage))
	}
	l.Elapsed = s.Now().Sub(l.Created).Seconds()
	return l
}

// afterStage is the stage that a task is at once one has ended.
func afterStage(ended string) string {
	next := map[string]string{
		"snapshot": "boot", "setup": "boot", "boot": "agent", "write": "agent", "agent": "diff", "diff": "store", "store": "lint",
	}
	return cmp.Or(next[ended], ended)
}

// shortStatus is for a prompt: it looks into files, and leaves what an earlier
// command was cut off in to others.
func (a *app) shortStatus() error {
	ctx, cancel := a.context()
	defer cancel()
	repo, err := git.Find(ctx, a.dir, a.env)
	if errors.Is(err, git.ErrNotRepository) {
		return &exitError{code: exitFailed, err: err, quiet: true} // a prompt is shown everywhere
	}
	if err != nil {
		return err
	}
	s := &session.Session{Repo: repo}
	parts, err := patch.NewQueue(repo, a.umask).Waiting(ctx)
	if err != nil {
		return err
	}
	running, err := s.Running()
	if err != nil {
		return err
	}
	const most = 3 // a prompt is one line with other things
	if more := len(parts) - most; more > 1 {
		parts = append(parts[:most], fmt.Sprintf("+%d", more))
	}
	if n := len(running); n > 0 {
		parts = append(parts, fmt.Sprintf("%d running", n))
	}
	if len(parts) > 0 {
		fmt.Fprintln(a.stdout, strings.Join(parts, " "))
	}
	return nil
}

func (a *app) longStatus(r statusReport) {
	if len(r.Pending) == 0 && len(r.Running) == 0 {
		fmt.Fprintln(a.stdout, "nothing pending, nothing running")
		return
	}
	for _, l := range r.Running {
		fmt.Fprintf(a.stdout, "%-9s running %s   %s\n", l.ID, took(time.Duration(l.Elapsed*float64(time.Second))), clean(session.Subject(l.Task)))
		if l.Doing != "" {
			fmt.Fprintf(a.stdout, "  %s\n", clean(shorten(l.Doing)))
		}
	}
	for _, l := range r.Pending {
		files := plural(l.Files, "file")
		if l.Blocked {
			files = "blocked, " + files
		}
		if l.Verifying != "" {
			files = l.Verifying + " under way, " + files
		}
		if l.Tests == session.TestsFailed {
			files = "tests failed, " + files
		}
		if l.State == string(patch.Partial) {
			files = fmt.Sprintf("partial, %d of %s left", l.Left, files)
		}
		fmt.Fprintf(a.stdout, "%-9s %s, +%d -%d%s   %s\n", l.ID, files, l.Insertions, l.Deletions, cut(l.Status), clean(session.Subject(l.Task)))
	}
	if len(r.Running) > 0 {
		a.ui.line("  git ftl logs -f ID   git ftl stop ID")
	}
	if len(r.Pending) > 0 {
		id := ""
		if len(r.Pending) > 1 {
			id = " ID"
		}
		a.ui.line("  git ftl diff%s   git ftl apply%s   git ftl reject%s", id, id, id)
	}
}

// tasks lists all, newest first.
func tasks(ctx context.Context, s *session.Session) ([]taskLine, error) {
	results, err := s.Queue.List(ctx)
	if err != nil {
		return nil, err
	}
	return join(s, results)
}

// join makes lines of records and results, newest first.
func join(s *session.Session, results []patch.Result) ([]taskLine, error) {
	byID := map[string]patch.Result{}
	for _, r := range results {
		byID[r.ID] = r
	}
	records, err := s.Tasks()
	if err != nil {
		return nil, err
	}
	lines := []taskLine{}
	for _, o := range records {
		l := taskLine{
			ID: o.ID, State: o.Status, Status: o.Status, Task: o.Task, Agent: o.Agent, WorkTree: o.WorkTree,
			Created: o.Created, Files: len(o.Files), Insertions: o.Insertions(), Deletions: o.Deletions(), Blocked: o.Blocked, Tests: o.Tests.Status,
			Verifying: s.Verifying(o),
		}
		if r, ok := byID[o.ID]; ok {
			l.State, l.Result, l.Left = string(r.State), r.Commit.String(), len(r.Left)
			delete(byID, o.ID)
		}
		lines = append(lines, l)
	}
	for _, r := range results {
		if _, alone := byID[r.ID]; alone {
			lines = append(lines, taskLine{ID: r.ID, State: string(r.State), Created: r.Created, Result: r.Commit.String(), WorkTree: r.Worktree})
		}
	}
	return lines, nil
}

type listCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run implements the verb.
func (c *listCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		lines, err := tasks(ctx, s)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(lines)
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, l := range lines {
			state := l.State
			if l.Result != "" {
				state += cut(l.Status) + tested(l.Tests)
			}
			if l.Verifying != "" {
				state += ", " + l.Verifying + " under way"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t+%d -%d\t%s\n", clean(l.ID), when(l.Created), state, l.Agent, l.Insertions, l.Deletions, clean(session.Subject(l.Task)))
		}
		return w.Flush()
	})
}

type showCmd struct {
	ID   string `arg:"" optional:"" help:"Task; the only undecided one of this work tree otherwise."`
	JSON bool   `name:"json" help:"Print the record as JSON."`
}

// Run implements the verb.
func (c *showCmd) Run(a *app) error {
	if err := a.noPaths("show"); err != nil {
		return err
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		o, err := a.record(ctx, s, c.ID)
		if err != nil {
			return err
		}
		if o.Result != nil {
			if r, err := s.Queue.Find(ctx, o.ID); err == nil {
				o.State = string(r.State)
			}
			if err := s.MarkShown(o.ID, *o.Result); err != nil {
				return err
			}
		}
		if c.JSON {
			return a.json(o)
		}
		if s.Verifying(o) == "tests" {
			o.Tests.Status, o.Tests.Detail = "under way", "git ftl wait "+o.ID+" waits for them"
		}
		a.showRecord(o)
		return nil
	})
}

func (a *app) showRecord(o session.Outcome) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.stdout, "%-9s %s\n", name, clean(value))
		}
	}
	for _, line := range o.Touching(mostNames) {
		row("tests", line)
	}
	row("task", o.ID)
	row("status", o.Status)
	row("state", o.State)
	row("why", o.Error)
	row("agent", strings.TrimSpace(o.Agent+" "+o.Model))
	row("created", o.Created.Format("2006-01-02 15:04:05"))
	if !o.Ended.IsZero() {
		row("took", took(o.Ended.Sub(o.Created)))
	}
	row("from", strings.TrimSpace(o.Branch+" "+o.Head))
	row("sandbox", o.Sandbox)
	if o.Kept {
		row("kept", "its change was refused; the sandbox keeps it")
	}
	for _, l := range o.LeftOut {
		row("left out", l.Path+"  "+l.Why)
	}
	for _, d := range o.Dropped {
		row("dropped", d.Path+"  "+d.Why)
	}
	for _, t := range o.Turns {
		row(fmt.Sprintf("turn %d", t.Turn), session.Subject(t.Task)+cut(t.Status))
	}
	for line := range strings.Lines(strings.TrimRight(o.Task, "\n")) {
		fmt.Fprintf(a.stdout, "    %s\n", clean(strings.TrimSuffix(line, "\n")))
	}
	a.showFound(o)
}

// showFound is the part of a record that is about the change.
func (a *app) showFound(o session.Outcome) {
	for i, f := range o.Findings {
		for _, line := range findingLines(f, i+1) {
			fmt.Fprintln(a.stdout, line)
		}
	}
	a.showTests(o.Tests)
	a.showReview(o.Review)
	for _, f := range o.Files {
		fmt.Fprintf(a.stdout, " %s %s  +%d -%d\n", patch.Kind(f.Change).Letter(), clean(f.Path), f.Insertions, f.Deletions)
	}
}
