package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type continueCmd struct {
	taskFlags
	agentFlags
	textFlags
	FromResult bool     `help:"Go on from the result as it is, without what was edited since."`
	Args       []string `arg:"" optional:"" name:"args" help:"[ID] [TEXT]: the task to go on with, the only undecided one of this work tree otherwise; and what to do next, - for stdin."`
}

// Help is the end of the verb's --help.
func (c *continueCmd) Help() string {
	return "Where the task was a command of git ftl exec, another one may follow after --; the same one runs again otherwise, with the text on its standard input."
}

// Run implements the verb.
func (c *continueCmd) Run(a *app) error {
	if c.Attempts > 1 {
		return &exitError{code: exitUsage, err: errors.New("a follow-up has one attempt"), hints: []string{"git ftl run --attempts N starts several"}}
	}
	return a.do(&c.taskFlags, func(s *session.Session) (session.Task, error) {
		if err := s.Recover(context.Background()); err != nil {
			return session.Task{}, err
		}
		o, words, err := c.target(a, s)
		if err != nil {
			return session.Task{}, err
		}
		t, err := c.task(a, s, o, words)
		t.Of, t.FromResult = o.ID, c.FromResult
		return t, err
	})
}

// target parts the arguments into the task to go on with and the words.
func (c *continueCmd) target(a *app, s *session.Session) (o session.Outcome, words string, err error) {
	id, args := "", c.Args
	if len(args) > 0 && idShape.MatchString(args[0]) {
		// One word can be an ID or a text: it is an ID where there is such a task.
		_, err := a.record(context.Background(), s, args[0])
		if err == nil || len(args) > 1 {
			id, args = args[0], args[1:]
		}
	}
	if len(args) > 1 {
		return o, "", &exitError{code: exitUsage, err: fmt.Errorf("the text is one argument; %q is one too many", args[1]), hints: []string{`git ftl continue [ID] "what to do next"`}}
	}
	o, err = a.record(context.Background(), s, id)
	return o, strings.Join(args, ""), err
}

// task makes the follow-up: the same agent goes on, or the one that is named.
func (c *continueCmd) task(a *app, s *session.Session, o session.Outcome, words string) (t session.Task, err error) {
	command := o.Agent == agent.ExecName && c.Agent == ""
	switch {
	case command && len(a.paths) > 0:
		return session.Task{Text: quoteArgs(a.paths), Agent: agent.Exec(a.paths)}, nil
	case words == "" && len(a.paths) == 1:
		words = a.paths[0] // a text that begins with a dash
	case len(a.paths) > 0:
		return t, &exitError{code: exitUsage, err: errors.New("a command can follow only where the task was a command")}
	}
	t.Model = o.Model
	if c.Model != "" {
		t.Model = c.Model
	}
	if t.Text, err = c.text(a, s, words, inquiry{"continue", "What is the agent to do next? So far: " + session.Subject(o.Task)}); err != nil {
		return t, err
	}
	return followUp(s, t, o, c.Agent)
}

// followUp gives a follow-up its agent: that of the task, unless another is named. A
// command runs again, with the text on its standard input.
func followUp(s *session.Session, t session.Task, o session.Outcome, name string) (session.Task, error) {
	if name == "" {
		name = o.Agent
	}
	if name == agent.ExecName && len(o.Argv) > 0 {
		t.Agent = agent.Exec(o.Argv)
		t.Agent.Stdin = t.Text
		return t, nil
	}
	return resumed(s, t, o, name)
}

// mender makes the turns in which the agent of a task mends what fails.
func mender(s *session.Session, first session.Task) session.Mend {
	return func(o session.Outcome, text string) (session.Task, error) {
		return followUp(s, session.Task{Text: text, Model: first.Model}, o, "")
	}
}

// resumed gives a follow-up its agent: one that goes on with the conversation, and
// beside it, or without it, one that is told what was before.
func resumed(s *session.Session, t session.Task, o session.Outcome, name string) (session.Task, error) {
	prompt, err := s.Prompt(context.Background(), o, t.Text)
	if err != nil {
		return t, err
	}
	t.Agent, err = chooseAgent(s, name, agent.Turn{Task: prompt, Model: t.Model})
	if err != nil || t.Agent.Stream == "" || t.Agent.Name != o.Agent || o.Session == "" || !agent.Resumes(name) {
		return t, err
	}
	told := t.Agent
	t.Replay = &told
	t.Agent, err = chooseAgent(s, name, agent.Turn{Task: t.Text, Model: t.Model, Session: o.Session})
	return t, err
}
