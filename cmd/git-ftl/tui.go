package main

// The rules of the terminal, all of them:
//
//   - Results go to stdout; everything else, the agent's output included, to
//     stderr. With --json stdout carries one object and nothing else.
//   - An error is one line "git-ftl: error: …" in lower case, its details
//     indented by two below it, then "git-ftl: hint: …" with the next command.
//   - A stage is one line: its name, what came of it, the time it took. A result
//     is one line of its ID, then its files.
//   - What came from a sandbox, a model or the repository is shown with control
//     characters, bidirectional and invisible ones escaped, wherever it goes.
//   - Colour only on a terminal, never with NO_COLOR or TERM=dumb.

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
)

// ui writes for people.
type ui struct {
	out, err io.Writer
	env      []string
	colour   bool
	quiet    bool // nothing on stderr but errors
	verbose  bool // every stage gets its line

	ends bool // the end of a task is told by an event alone
	many bool // lines of several tasks mix: each names its own

	early   bool   // a result that tests or a review follow is printed before them
	printed string // whose result it was

	mu sync.Mutex // of err, within a task: events come from several places
}

func newUI(a *app) *ui {
	return &ui{out: a.stdout, err: a.stderr, env: a.env, colour: a.colours(a.stderr)}
}

// colours reports whether a stream takes colours.
func (a *app) colours(stream io.Writer) bool {
	return isTerminal(stream) && lookup(a.env, "NO_COLOR") == "" && lookup(a.env, "TERM") != "dumb"
}

func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

func lookup(env []string, name string) string {
	i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	if i < 0 {
		return ""
	}
	return env[i][len(name)+1:]
}

// fail prints an error and returns its exit code.
func (u *ui) fail(err error) int {
	e := explain(err, u.env)
	if e.quiet {
		return e.code
	}
	f := e.failure()
	fmt.Fprintf(u.err, "git-ftl: %s %s\n", u.paint(red, "error:"), f.Error)
	for _, d := range f.Details {
		fmt.Fprintf(u.err, "  %s\n", d)
	}
	for _, h := range f.Hints {
		fmt.Fprintf(u.err, "git-ftl: %s %s\n", u.paint(bold, "hint:"), h)
	}
	return e.code
}

// Codes of colours.
const (
	red  = "31"
	bold = "1"
	dim  = "2"
)

func (u *ui) paint(code, s string) string {
	if !u.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Event implements session.Reporter.
func (u *ui) Event(e session.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch e.Kind {
	case session.EventBegin:
		u.begin(*e.Outcome)
	case session.EventStage:
		u.stage(e)
	case session.EventOutput:
		if !u.quiet {
			fmt.Fprintf(u.err, "%s  %s\n", u.tag(e.ID), clean(e.Text))
		}
	case session.EventText, session.EventToolEnd, session.EventRetry, session.EventLog:
		u.agent(e)
	case session.EventNote:
		u.note(e.Text)
	case session.EventResult:
		if u.early {
			u.result(*e.Outcome)
			u.printed = e.ID
		}
	case session.EventEnd:
		if u.ends {
			u.status(e.ID, ended(*e.Outcome))
		}
	}
}

// agent is one thing that an agent did. A tool is told once it has ended.
func (u *ui) agent(e session.Event) {
	if u.quiet || e.Kind == session.EventLog && !u.verbose {
		return
	}
	text := e.Text
	switch e.Kind {
	case session.EventToolEnd:
		text = fmt.Sprintf("%-5s %s", e.Tool, e.Text)
		if e.Result != "ok" || e.Tool == "bash" {
			text += "  " + e.Result
		}
	case session.EventRetry:
		text = "asks again: " + text
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(u.err, "%s  %s\n", u.tag(e.ID), clean(line))
	}
}

// tag names the task of a line where several mix.
func (u *ui) tag(id string) string {
	if !u.many || id == "" {
		return ""
	}
	return u.paint(dim, id) + " "
}

func (u *ui) begin(o session.Outcome) {
	at := "a repository without commits"
	if o.Head != "" {
		at = o.Head[:7]
		if o.Branch != "" {
			at = o.Branch + " " + at
		}
	}
	if o.Dirty > 0 {
		at += fmt.Sprintf(" + %s", plural(o.Dirty, "dirty file"))
	}
	u.status(o.ID, at+leftOut(o)+pointers(o)+revealed(o))
	for _, l := range o.LeftOut {
		if strings.HasPrefix(l.Why, "larger than") || strings.HasPrefix(l.Why, "a submodule") {
			u.status("left out", l.Path+": "+l.Why)
		}
	}
	if len(o.Named) > 0 {
		u.status("inside", strings.Join(firstOf(o.Named), ", ")+": tracked, and looks like credentials")
	}
}

// leftOut names the first few files that the agent does not see.
func leftOut(o session.Outcome) string {
	if len(o.LeftOut) == 0 {
		return ""
	}
	names := make([]string, len(o.LeftOut))
	for i, l := range o.LeftOut {
		names[i] = l.Path
		switch {
		case l.Why == snapshot.WhyEnv && o.Shadowed:
			names[i] += " (shadow values inside)"
		case session.Holds(l):
			names[i] += " (" + l.Why + ")"
		}
	}
	return "; left out: " + strings.Join(firstOf(names), ", ")
}

// firstOf keeps the first few names and counts the others.
func firstOf(names []string) []string {
	const most = 4
	if more := len(names) - most; more > 0 {
		return append(names[:most:most], fmt.Sprintf("%d more", more))
	}
	return names
}

// revealed names the secrets that were printed once, which no shadow protects.
func revealed(o session.Outcome) string {
	if len(o.Revealed) == 0 {
		return ""
	}
	return "; revealed: " + strings.Join(firstOf(o.Revealed), ", ")
}

// pointers counts the files that the agent sees as LFS pointers.
func pointers(o session.Outcome) string {
	if o.LFSPointers == 0 {
		return ""
	}
	return "; " + plural(o.LFSPointers, "LFS pointer")
}

func (u *ui) stage(e session.Event) {
	name, result := e.Stage, e.Result
	if name == "boot" {
		name = "sandbox"
	}
	if result == "" {
		if !u.verbose {
			return
		}
		result = "done"
	}
	if u.many {
		result = e.ID + " " + result
	}
	after := took(time.Duration(e.Millis * float64(time.Millisecond)))
	if e.Cost > 0 {
		after += "  " + dollars(e.Cost)
	}
	u.statusTook(name, result, after)
}

// status prints a line of a name and what is to be said of it.
func (u *ui) status(name, text string) { u.statusTook(name, text, "") }

// statusTook adds the time that it took.
func (u *ui) statusTook(name, text, time string) {
	if u.quiet {
		return
	}
	text = clean(text)
	if time != "" {
		text = fmt.Sprintf("%-22s %s", text, u.paint(dim, time))
	}
	fmt.Fprintf(u.err, "%s %s\n", u.paint(bold, fmt.Sprintf("%-9s", clean(name))), text)
}

func (u *ui) note(text string) {
	if !u.quiet {
		fmt.Fprintf(u.err, "git-ftl: %s\n", clean(text))
	}
}

// clean makes text from anywhere safe to show.
func clean(s string) string { return escape.Text(s) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// took writes a duration as people read it: 0.03s, 1.2s, 1m48s.
func took(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// dollars writes a cost: cents, and more digits where it is less than one.
func dollars(cost float64) string {
	if cost < 0.01 {
		return fmt.Sprintf("$%.4f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// fileLine writes files as git status does: " M path  A path".
func fileLine(files []session.File) string {
	parts := make([]string, len(files))
	for i, f := range files {
		parts[i] = patch.Kind(f.Change).Letter() + " " + clean(f.Path)
	}
	return firstParts(parts)
}

func writtenLine(files []patch.Written) string {
	parts := make([]string, len(files))
	for i, f := range files {
		parts[i] = f.Change.Letter() + " " + clean(f.Path)
	}
	return firstParts(parts)
}

func firstParts(parts []string) string {
	const most = 12
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most:most], fmt.Sprintf("and %d more", more))
	}
	return " " + strings.Join(parts, "  ")
}
