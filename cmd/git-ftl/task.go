package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
	"github.com/git-ftl/git-ftl/lint"
)

// maxAttempts bounds how many sandboxes one command starts, maxFix how many turns it
// adds to a task.
const (
	maxAttempts = 32
	maxFix      = 20
)

// job is a task with all that was asked for, so that any process can do it.
type job struct {
	Flags  taskFlags      `json:"flags"`
	Task   session.Task   `json:"task"`
	Rivals []session.Task `json:"rivals"` // the same for other agents

	Unlock  unlock         `json:"unlock"`  // what opens the vault
	Brought *trust.Content `json:"brought"` // what the settings were read from
}

// attempts are the tasks that the job starts, each agent's beside each other.
func (j *job) attempts() (all []session.Task) {
	for _, t := range append([]session.Task{j.Task}, j.Rivals...) {
		for range j.Flags.Attempts {
			all = append(all, t)
		}
	}
	return all
}

// do runs a task in one of three ways and shows its end: here; in a process of
// its own that this one only watches, so that Ctrl-Z can leave it to itself; or
// in one that is left at once.
func (a *app) do(f *taskFlags, build func(*session.Session) (session.Task, error)) error {
	a.ui.quiet, a.ui.verbose = f.Quiet || f.Events, f.Verbose
	if err := f.check(); err != nil {
		return err
	}
	s, err := a.open(context.Background())
	if err != nil {
		return err
	}
	if err := f.settings(s.Config); err != nil {
		return err
	}
	task, err := build(s)
	if err != nil {
		return err
	}
	for _, note := range s.Config.Notes() {
		a.ui.note(note)
	}
	j := job{Flags: *f, Task: task, Rivals: f.rivals, Brought: a.brought}
	if err := j.equip(a); err != nil {
		return err
	}
	a.ui.many = len(j.attempts()) > 1
	a.ui.early = !a.ui.many && !f.JSON && !f.Events && !f.Quiet
	attend := canSuspend && isTerminal(a.stdin) && isTerminal(a.stderr)
	if !f.Detach && !attend {
		return a.finish(s, f, a.perform(s, j))
	}
	if err := a.askUnlock(context.Background()); err != nil {
		return err
	}
	j.Unlock = a.unlock
	if f.Detach {
		return a.detach(j)
	}
	return a.attend(s, j)
}

// equip gives each task of the job what the flags say of all.
func (j *job) equip(a *app) error {
	if n := len(j.attempts()); n > maxAttempts {
		return &exitError{code: exitUsage, err: fmt.Errorf("%d attempts are too many at once; %d is the most", n, maxAttempts)}
	}
	attach, err := j.Flags.attachments(a)
	if err != nil {
		return err
	}
	give := func(t *session.Task) {
		t.Fresh, t.Clean, t.Use, t.Attach, t.NoReview = j.Flags.Fresh, j.Flags.Clean, j.Flags.Use, attach, j.Flags.NoReview
		t.NoTests, t.Fix = j.Flags.NoTests, j.Flags.Fix
	}
	give(&j.Task)
	for i := range j.Rivals {
		give(&j.Rivals[i])
	}
	return nil
}

// check refuses what no task can be.
func (f *taskFlags) check() error {
	switch {
	case f.Attempts < 1 || f.Attempts > maxAttempts:
		return &exitError{code: exitUsage, err: fmt.Errorf("--attempts is 1 to %d", maxAttempts)}
	case f.Fix < 0 || f.Fix > maxFix:
		return &exitError{code: exitUsage, err: fmt.Errorf("--fix is 0 to %d", maxFix)}
	case f.Fix > 0 && f.NoTests:
		return &exitError{code: exitUsage, err: errors.New("--fix needs the tests that --no-tests leaves out")}
	case f.Detach && f.Events:
		return &exitError{code: exitUsage, err: errors.New("--detach leaves no one to print events"), hints: []string{"git ftl logs -f --json ID prints them"}}
	}
	return nil
}

// eventWriter prints events as lines of JSON.
type eventWriter struct {
	mu sync.Mutex
	to *app
}

// Event implements session.Reporter.
func (w *eventWriter) Event(e session.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.to.jsonLine(e) // a reader that went away does not end the task
}

// finish shows what came of the attempts of a job. It fails as the first of them
// did where none has done its work.
func (a *app) finish(s *session.Session, f *taskFlags, ends []ending) error {
	var outs []session.Outcome
	var failed error
	done := false
	for _, e := range ends {
		if e.out.ID != "" {
			outs = append(outs, e.out)
		}
		done = done || e.err == nil
		if failed == nil {
			failed = a.unread(f, e)
		}
	}
	if done && len(ends) > 1 {
		failed = nil
	}
	a.sayUnbegun(ends, failed)
	if len(outs) == 0 {
		return failed
	}
	for _, o := range outs {
		if !o.Started.IsZero() {
			a.began = append(a.began, o.ID)
		}
	}
	defer a.notify(s.Config.Notify, outs)
	if err := a.showEnds(s, f, outs); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// sayUnbegun tells why attempts never began, each reason once and but for the one that
// the command ends with. What happens to an agent at work is told when it does.
func (a *app) sayUnbegun(ends []ending, with error) {
	said := map[string]bool{}
	if with != nil {
		said[a.tell(with).Error] = true
	}
	for _, e := range ends {
		if e.err == nil || !e.out.Started.IsZero() {
			continue
		}
		f := a.tell(e.err)
		if !said[f.Error] {
			a.ui.note(strings.Join(append([]string{f.Error}, f.Hints...), "; "))
		}
		said[f.Error] = true
	}
}

// unread adds to the error of an agent whose output was not shown where it is.
func (a *app) unread(f *taskFlags, e ending) error {
	var agent *session.AgentError
	if !f.Quiet || !errors.As(e.err, &agent) {
		return e.err
	}
	told := *explain(e.err, a.env)
	told.hints = append(told.hints, "git ftl logs "+e.out.ID+" shows what it printed")
	return &told
}

// showEnds prints results, and notes that the user has seen them.
func (a *app) showEnds(s *session.Session, f *taskFlags, outs []session.Outcome) error {
	switch {
	case f.Events: // the last event has said it all
	case f.JSON && len(outs) == 1:
		if err := a.json(outs[0]); err != nil {
			return err
		}
	case f.JSON:
		if err := a.json(map[string]any{"attempts": outs}); err != nil {
			return err
		}
	case f.Quiet:
		for _, o := range outs {
			fmt.Fprintln(a.stdout, o.ID)
		}
	case len(outs) == 1 && outs[0].Started.IsZero(): // and the error says why
	case len(outs) == 1:
		if a.ui.printed != outs[0].ID {
			a.ui.result(outs[0])
		}
		a.ui.tests(outs[0].Tests)
		a.ui.review(outs[0])
		a.next(s, outs[0])
	default:
		a.compare(outs)
	}
	for _, o := range outs {
		if o.Result == nil {
			continue
		}
		if err := s.MarkShown(o.ID, *o.Result); err != nil {
			return err
		}
	}
	return nil
}

// result is the last part of a run: what changed, and what is not part of it.
func (u *ui) result(o session.Outcome) {
	u.touching(o)
	switch {
	case o.Result != nil:
		fmt.Fprintf(u.out, "%-9s %s, +%d -%d\n%s\n", o.ID, plural(len(o.Files), "file"), o.Insertions(), o.Deletions(), fileLine(o.Files))
	case !o.Ended.IsZero() && !o.Started.IsZero() && !o.Kept:
		fmt.Fprintf(u.out, "%-9s nothing changed\n", o.ID)
	}
	var names []string
	for _, d := range o.Dropped[:min(len(o.Dropped), 4)] {
		names = append(names, fmt.Sprintf("%s (%s)", shorten(d.Path), d.Why))
	}
	if more := len(o.Dropped) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	if len(names) > 0 {
		u.status("dropped", strings.Join(names, ", "))
	}
	u.findings(o)
	u.egress(o)
}

// findings lists the first of what the linter found that is more than a remark.
func (u *ui) findings(o session.Outcome) {
	const most = 6
	shown := 0
	for i, f := range o.Findings {
		if f.Severity == lint.Info || f.Waived != "" {
			continue
		}
		if shown++; shown > most {
			u.line("  and more: git ftl lint %s", o.ID)
			return
		}
		for _, line := range findingLines(f, i+1) {
			u.line("%s", line)
		}
	}
}

// next says what to do with the result, as commands that work here.
func (a *app) next(s *session.Session, o session.Outcome) {
	if o.Result == nil {
		if o.Ended.IsZero() && !o.Started.IsZero() {
			a.ui.line("  git ftl status stores the change once the engine answers")
		}
		return
	}
	id, refs := "", "ftl/base ftl/pending"
	if open, err := s.Queue.Undecided(context.Background()); err != nil || len(open) != 1 || o.Status != session.Pending {
		id = " " + o.ID
	}
	if s.Repo.Linked() {
		refs = "worktree/ftl/base worktree/ftl/pending"
	}
	if o.Tests.Unset() && o.Agent != agent.ExecName {
		a.ui.status("tests", "none: git config --global ftl.tester NAME has a model write them beside the agent")
	}
	if o.Blocked {
		a.ui.line("  git ftl lint%s            git ftl waive%s FINDING…", id, id)
	}
	a.ui.line("  git ftl diff%s            or: git diff %s", id, refs)
	a.ui.line("  git ftl apply [-p]%s      git ftl continue%s \"…\"      git ftl reject%s", id, id, id)
}

// shorten keeps one long name from filling the screen.
func shorten(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

func (u *ui) line(format string, args ...any) {
	if !u.quiet {
		fmt.Fprintf(u.err, format+"\n", args...)
	}
}

// quoteArgs writes a command as a shell would read it.
func quoteArgs(argv []string) string {
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		plain := arg != "" && !strings.ContainsFunc(arg, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+", r))
		})
		if plain {
			quoted[i] = arg
		} else {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
