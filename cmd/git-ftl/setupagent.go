package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/shadow/vault"
)

// choose puts the agents that are asked for on the user's list, and undo takes those
// off again that are new. A person who has none yet is asked.
func (c *setupCmd) choose(ctx context.Context, a *app, s *session.Session) (undo func() error, err error) {
	undo = func() error { return nil }
	if len(c.Agent) == 0 && !c.Yes && isTerminal(a.stdin) && isTerminal(a.stderr) && s.Config.Agent == "" && len(s.Config.Agents)+len(s.Agents()) == 0 {
		if err := c.askAgent(ctx, a); err != nil {
			return undo, err
		}
	}
	for _, name := range c.Agent {
		if !slices.Contains(agent.Names(), name) {
			return undo, &exitError{
				code: exitUsage, err: fmt.Errorf("no agent is called %q", name),
				hints: []string{"one of " + strings.Join(agent.Names(), ", ")},
			}
		}
		before := undo
		added, err := s.AddAgent(name)
		if err != nil {
			return undo, err
		}
		undo = func() error { return errors.Join(added(), before()) }
	}
	return undo, nil
}

// askAgent asks which of the agents that are pinned is to do tasks.
func (c *setupCmd) askAgent(ctx context.Context, a *app) error {
	pinned := slices.DeleteFunc(agent.Names(), func(name string) bool { return agent.Version(name) == "" })
	fmt.Fprint(a.stderr, "an agent does your tasks, and comes into the sandbox's image:\n")
	for i, name := range pinned {
		fmt.Fprintf(a.stderr, "  %d  %-12s %s\n", i+1, name, agent.Version(name))
	}
	for answers := bufio.NewReader(a.stdin); ; {
		answer, err := a.answer(ctx, answers, fmt.Sprintf("which agent (1-%d or its name, empty for none)? ", len(pinned)))
		if err != nil || answer == "" {
			return err
		}
		n, err := strconv.Atoi(answer)
		if err != nil {
			n = slices.Index(pinned, answer) + 1
		}
		if n >= 1 && n <= len(pinned) {
			c.Agent = []string{pinned[n-1]}
			return nil
		}
		a.ui.note(fmt.Sprintf("it is a number from 1 to %d", len(pinned))) // and the question comes again
	}
}

// setupKeys says of each agent whether it has a key. The first one that has none
// gets what stdin brings, or what a person types.
func (a *app) setupKeys(ctx context.Context, c *setupCmd, s *session.Session) error {
	model := ""
	if len(s.Agents()) == 0 {
		fmt.Fprintf(a.stdout, "agent     none: git ftl setup -a claude-code\n")
	}
	for _, name := range s.Agents() {
		built, err := agent.Builtin(name, agent.Turn{})
		if err != nil {
			continue
		}
		if way := agent.Install(name); way != "" {
			fmt.Fprintf(a.stdout, "agent     %s is not put into the image: its version cannot be pinned by content; an image of yours brings it (%s)\n", name, way)
		}
		key, err := a.keyOf(ctx, built)
		none := key == "" && (err == nil || errors.Is(err, vault.ErrNone))
		if none && !c.Yes && slices.Contains(c.Agent, name) {
			key, err = a.askKey(ctx, built)
		}
		switch {
		case err != nil && !errors.Is(err, vault.ErrNone) && !errors.Is(err, errEmptyValue):
			fmt.Fprintf(a.stdout, "agent     %s; its key is not known: %s\n", name, clean(err.Error()))
		case key == "":
			fmt.Fprintf(a.stdout, "agent     %s, without a key: git ftl auth set %s\n", name, built.Secrets[0])
		default:
			fmt.Fprintf(a.stdout, "agent     %s, key %s: git ftl run -a %s \"task\"\n", name, key, name)
			model = cmp.Or(model, session.ModelOf(key))
		}
	}
	return a.setupTester(ctx, c, s.Config.Tester, model)
}

// setupTester lets a model write tests where none is chosen and an agent has a key
// that a model takes: a person is asked, and --yes is the answer of one who is not.
func (a *app) setupTester(ctx context.Context, c *setupCmd, chosen, model string) error {
	person := !c.Yes && isTerminal(a.stdin) && isTerminal(a.stderr)
	switch {
	case chosen != "":
		fmt.Fprintf(a.stdout, "tester    %s\n", clean(chosen))
		return nil
	case model == "":
		return nil
	case person:
		answer, err := a.answer(ctx, bufio.NewReader(a.stdin), "let "+model+" write tests for each task, beside the agent and at the cost of the same key (Y/n)? ")
		if err != nil {
			return err
		}
		if answer != "" && !strings.HasPrefix("yes", strings.ToLower(answer)) {
			fmt.Fprintf(a.stdout, "tester    none: git config --global ftl.tester NAME sets one\n")
			return nil
		}
	case !c.Yes:
		fmt.Fprintf(a.stdout, "tester    none: git config --global ftl.tester %s lets it write tests for each task\n", model)
		return nil
	}
	set := exec.CommandContext(ctx, "git", "config", "--global", "ftl.tester", model)
	set.Env = a.env
	if out, err := set.CombinedOutput(); err != nil {
		return fmt.Errorf("set ftl.tester: %w: %s", err, strings.TrimSpace(string(out)))
	}
	fmt.Fprintf(a.stdout, "tester    %s, in your git config: it writes tests for each task; --no-tests leaves them out\n", model)
	return nil
}

// keyOf is the name of the key in the vault that an agent takes, "" for none.
func (a *app) keyOf(ctx context.Context, built agent.Agent) (string, error) {
	v, err := a.openVault(ctx)
	if err != nil {
		return "", err
	}
	entries, err := v.List()
	if err != nil {
		return "", err
	}
	for _, name := range built.Secrets {
		if slices.ContainsFunc(entries, func(e vault.Entry) bool { return e.Name == name }) {
			return name, nil
		}
	}
	return "", nil
}

// askKey keeps the first kind of key that an agent takes.
func (a *app) askKey(ctx context.Context, built agent.Agent) (string, error) {
	name := built.Secrets[0]
	value, err := a.secretValue(ctx, name)
	if err != nil {
		return "", err
	}
	v, err := a.openOrMake(ctx)
	if err != nil {
		return "", err
	}
	return name, v.Set(ctx, name, "", value)
}
