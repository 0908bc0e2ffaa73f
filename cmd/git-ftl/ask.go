package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type askCmd struct {
	Args []string `arg:"" optional:"" name:"args" help:"QUESTION [ID]: what to ask, - for stdin; and about which result, the only undecided one of this work tree otherwise."`
	File string   `short:"F" placeholder:"FILE" help:"Read the question from a file; - is stdin."`
	JSON bool     `name:"json" help:"Print one JSON object."`
}

// Help is the end of the verb's --help.
func (c *askCmd) Help() string {
	return "The question is one argument; one that begins with a dash comes after the flags. The model of ftl.reviewer answers, else that of ftl.tester, else one whose key is in the vault. It sees the change, its task, findings and tests, and can do nothing but answer."
}

// answered is what ask --json prints.
type answered struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	chat.Reply
	LeftOut []string `json:"left_out"` // what the model was not shown
}

// Run implements the verb.
func (c *askCmd) Run(a *app) error {
	question, id, err := c.question(a)
	if err != nil {
		return err
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		r, err := a.choose(ctx, s, id)
		if err != nil {
			return err
		}
		show := func(text string) { fmt.Fprint(a.stdout, cleanLines(text)) }
		if c.JSON {
			show = nil
		}
		answer, err := s.Ask(ctx, r, question, show)
		if !c.JSON && answer.Text != "" && !strings.HasSuffix(answer.Text, "\n") {
			fmt.Fprintln(a.stdout)
		}
		if err != nil {
			return unasked(s, err)
		}
		if c.JSON {
			return a.json(answered{r.ID, question, answer.Text, answer.Reply, append([]string{}, answer.LeftOut...)})
		}
		for _, what := range answer.LeftOut {
			a.ui.note(what)
		}
		a.ui.line("%s", spent(answer.Reply))
		return nil
	})
}

// question parts the arguments into what to ask and about which result.
func (c *askCmd) question(a *app) (question, id string, err error) {
	args, file := c.Args, c.File
	if file == "" && len(args) > 0 {
		question, args = args[0], args[1:]
	}
	if question == "-" {
		file = question
	}
	if len(args) > 1 {
		return "", "", &exitError{code: exitUsage, err: fmt.Errorf("the question is one argument; %q is one too many", args[1]), hints: []string{`git ftl ask "question" [ID]`}}
	}
	if len(args) == 1 {
		id = args[0]
	}
	if file != "" {
		data, err := a.input(file)
		if err != nil {
			return "", "", fmt.Errorf("read the question: %w", err)
		}
		question = string(data)
	}
	if question = strings.TrimSpace(question); question == "" {
		return "", "", &exitError{code: exitUsage, err: errors.New("there is no question"), hints: []string{`git ftl ask "question" [ID], git ftl ask -F FILE, or - for stdin`}}
	}
	return question, id, nil
}

// unasked is why there is no answer, which can be that a setting does not count.
func unasked(s *session.Session, err error) error {
	for _, key := range []string{"reviewer", "tester"} {
		if errors.Is(err, session.ErrNoModel) && s.Config.Asked(key) {
			return untrustedError(key)
		}
	}
	return err
}

// spent says which model answered and what that took.
func spent(r chat.Reply) string {
	text := fmt.Sprintf("%s: %d tokens in, %d out", clean(r.Model), r.Usage.Input, r.Usage.Output)
	if r.Usage.Known {
		text += ", " + dollars(r.Usage.Cost)
	}
	return text
}

// modelHints are the ways out of an error of a model; nil where it is none.
func modelHints(err error) []string {
	var e *chat.Error
	switch ok := errors.As(err, &e); {
	case !ok:
		return nil
	case e.Kind == chat.NoKey:
		return []string{"git ftl auth set " + e.Key + " asks for it, or reads stdin", "git config ftl.reviewer openai/NAME@URL names a server of your own"}
	case e.Kind == chat.KeyRefused:
		return []string{"git ftl auth set " + e.Key + " keeps another key", "git ftl auth bind " + e.Key + " --host HOST lets it go to a server of your own"}
	case e.Kind == chat.NoModel:
		return []string{"git config ftl.reviewer names another"}
	}
	return []string{"nothing was changed; try again, or name another model: git config ftl.reviewer"}
}

// asker answers questions on the screen; nil where there is nobody to ask. The
// screen has the terminal, so that the vault is opened only where that needs nobody.
func (v *reviewing) asker(ctx context.Context) func(context.Context, string, func(string)) error {
	if !v.s.CanAsk(ctx) {
		return nil
	}
	quiet, r := *v.s, v.r
	quiet.Keeper = quiet.Peek
	return func(ctx context.Context, question string, say func(string)) error {
		answer, err := quiet.Ask(ctx, r, question, say)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			say("\n\n[" + strings.Join(append(answer.LeftOut, spent(answer.Reply)), "; ") + "]")
		}
		return err
	}
}
