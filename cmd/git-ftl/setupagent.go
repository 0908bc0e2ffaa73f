package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/shadow/vault"
)

// choose puts the agents that are asked for on the user's list.
func (c *setupCmd) choose(s *session.Session) error {
	for _, name := range c.Agent {
		if !slices.Contains(agent.Names(), name) {
			return &exitError{
				code: exitUsage, err: fmt.Errorf("no agent is called %q", name),
				hints: []string{"one of " + strings.Join(agent.Names(), ", ")},
			}
		}
		if err := s.AddAgent(name); err != nil {
			return err
		}
	}
	return nil
}

// setupKeys says of each agent whether it has a key. The first one that has none
// gets what stdin brings, or what a person types.
func (a *app) setupKeys(ctx context.Context, c *setupCmd, s *session.Session) error {
	for _, name := range s.Agents() {
		built, err := agent.Builtin(name, agent.Turn{})
		if err != nil {
			continue
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
		}
	}
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
