package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/prompt"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

// shell is bare "git ftl" at a terminal: it takes tasks, follow-ups in the same
// conversation, and verbs about them. Each is a command of git-ftl like any other;
// what the shell has beside them is the conversation, in app.current.
type shell struct {
	*app
	s     *session.Session
	verbs *kong.Node
	lines lineReader
	agent string // for tasks from now on; "" for that of the settings
	warm  warmer
}

// lineReader asks for a text; io.EOF at the end of them.
type lineReader interface {
	read(label string) (string, error)
}

// hasPerson reports whether someone can type and see.
func (a *app) hasPerson() bool {
	return isTerminal(a.stdin) && isTerminal(a.stdout) && isTerminal(a.stderr)
}

// shell runs until the person leaves, which decides nothing and loses nothing.
func (a *app) shell(verbs *kong.Node) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := a.open(ctx)
	if err != nil {
		return a.ui.fail(err)
	}
	sh := &shell{app: a, s: s, verbs: verbs, warm: warmer{ctx: ctx}}
	if sh.lines, err = sh.reader(); err != nil {
		return a.ui.fail(err)
	}
	sh.run("status")
	sh.greet(ctx)
	defer sh.warm.wait() // after cancel
	defer cancel()
	for {
		text, err := sh.lines.read(sh.label())
		switch {
		case errors.Is(err, io.EOF):
			return 0
		case errors.Is(err, prompt.ErrLong):
			sh.ui.fail(&exitError{code: exitUsage, err: err, hints: []string{"/run -F FILE reads a task from a file"}})
			continue
		case err != nil:
			return a.ui.fail(err)
		}
		c := sh.parse(text)
		if c.leave {
			return 0
		}
		sh.do(ctx, c)
	}
}

// label is what stands before what is typed: the conversation, where one goes on.
func (sh *shell) label() string {
	if sh.current == "" {
		return "ftl> "
	}
	return "ftl " + sh.current + "> "
}

// greet says which conversation goes on.
func (sh *shell) greet(ctx context.Context) {
	if o, ok := sh.goesOn(ctx); ok {
		sh.current = o.ID
		sh.ui.note(fmt.Sprintf("what you type goes on with %s (%s); new TEXT begins another task", o.ID, session.Subject(o.Task)))
	} else {
		sh.ui.note("what you type is a task for the agent")
	}
	sh.ui.note("help lists the rest; Ctrl-D leaves, and everything stays")
}

// goesOn finds the conversation that was left: the newest undecided result of this
// work tree, else its last task. A rejected one and one that never began are over,
// and a command of git ftl exec is no conversation.
func (sh *shell) goesOn(ctx context.Context) (session.Outcome, bool) {
	open, err := sh.s.Queue.Undecided(ctx)
	if err != nil {
		return session.Outcome{}, false
	}
	undecided := map[string]bool{}
	for _, r := range open {
		undecided[r.ID] = true
	}
	all, err := sh.s.Tasks()
	if err != nil {
		return session.Outcome{}, false
	}
	var last session.Outcome
	for _, o := range all {
		if o.WorkTree != sh.s.Repo.Key() || o.Agent == agent.ExecName || o.Started.IsZero() {
			continue
		}
		if undecided[o.ID] {
			return o, true
		}
		if last.ID == "" {
			last = o
		}
	}
	return last, last.ID != "" && !sh.over(ctx, last.ID)
}

// over reports whether a conversation has ended with the word of the person.
func (sh *shell) over(ctx context.Context, id string) bool {
	r, err := sh.s.Queue.Find(ctx, id)
	return err == nil && r.State == patch.Rejected
}

// do carries out what was typed.
func (sh *shell) do(ctx context.Context, c typed) {
	switch {
	case c.help != "":
		sh.ui.line("%s", strings.TrimRight(c.help, "\n"))
	case c.setAgent:
		sh.chooseAgent(c.agent)
	case c.args != nil:
		code := sh.run(c.args...)
		if code == exitUsage && c.bare {
			sh.ui.note("a task that begins with this word: new " + clean(shorten(c.text)))
		}
	case c.text != "":
		sh.task(c)
	}
	if sh.current != "" && sh.over(ctx, sh.current) {
		sh.current = ""
	}
}

// task gives the agent a new task, or more to do in the conversation.
func (sh *shell) task(c typed) {
	verb := []string{"run"}
	if sh.current != "" && !c.fresh {
		verb = []string{"continue", sh.current}
	}
	if sh.agent != "" {
		verb = append(verb, "--agent", sh.agent)
	}
	sh.run(append(verb, "--", c.text)...)
}

// chooseAgent sets who does the tasks from now on, and says who does.
func (sh *shell) chooseAgent(name string) {
	if name != "" {
		sh.agent = name
	}
	s, err := sh.command().open(context.Background())
	if err == nil {
		var chosen agent.Agent
		if chosen, err = chooseAgent(s, sh.agent, agent.Turn{}); err == nil {
			sh.ui.note("tasks go to " + chosen.Name)
		}
	}
	if err != nil {
		sh.ui.fail(err)
	}
}

// command is the world of one command line, as a process of its own would find it.
func (sh *shell) command() *app {
	one := *sh.app
	one.brought, one.paths, one.began, one.chosen = nil, nil, nil, ""
	one.inShell = true
	return &one
}

// run carries out one command line, and keeps what it says of the conversation and
// how it opened the vault.
func (sh *shell) run(args ...string) int {
	if !slices.Contains(bareVerbs(), args[0]) {
		sh.warm.wait() // a task takes the sandbox that is being booted, not another
	}
	sh.forget()
	one := sh.command()
	code := one.main(args)
	sh.unlock = one.unlock
	switch {
	case len(one.began) == 1:
		sh.converse(one.began[0])
	case len(one.began) > 1:
		sh.current = "" // until one of them is taken
	case sh.current == "" && code == 0:
		sh.converse(one.chosen)
	}
	return code
}

// converse goes on with a task, where that can be done in words.
func (sh *shell) converse(id string) {
	if o, err := sh.s.Task(id); err == nil && o.Agent != agent.ExecName {
		sh.current = id
	}
}

// forget drops signals that came when nothing ran: Ctrl-C reaches us twice, from
// the terminal and from git.
func (sh *shell) forget() {
	for {
		select {
		case <-sh.signals:
		default:
			return
		}
	}
}

// warmer boots the next task's sandbox beside the typing.
type warmer struct {
	ctx  context.Context // of the shell
	last time.Time
	done chan struct{} // nil before the first time
}

// stale is after what time a sandbox may have gone to sleep; bootTime is what a
// task waits for at most.
const (
	stale    = 10 * time.Minute
	bootTime = time.Minute
)

// typing is called at the first key of each text.
func (sh *shell) typing() {
	if sh.now().Sub(sh.warm.last) < stale {
		return
	}
	sh.warm.last, sh.warm.done = sh.now(), make(chan struct{})
	one := sh.command()
	go func() { // until wait
		defer close(sh.warm.done)
		ctx, cancel := context.WithTimeout(sh.warm.ctx, bootTime)
		defer cancel()
		if s, err := one.open(ctx); err == nil {
			s.Report = nobody{}
			_ = s.Warm(ctx) // the task meets the same error, and tells it
		}
	}()
}

func (w *warmer) wait() {
	if w.done != nil {
		<-w.done
	}
}

// nobody is told of things that no one needs to know.
type nobody struct{}

// Event implements session.Reporter.
func (nobody) Event(session.Event) {}
