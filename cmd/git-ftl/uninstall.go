package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/container"
)

type uninstallCmd struct {
	DryRun bool `short:"n" name:"dry-run" help:"Only say what would be removed."`
	Force  bool `help:"Drop undecided results and held work too; without an engine, leave its sandboxes behind."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Help implements kong.HelpProvider.
func (c *uninstallCmd) Help() string {
	return "Removes refs/ftl, refs/notes/ftl and their reflogs, .git/git-ftl, the sandboxes and exports of this repository, " +
		"images that only it used, its git hooks, and ftl.* from its own git config, in all its work trees. What is left is as " +
		"if git-ftl had never been here, but for objects, which git gc frees. Your files, .ftlconfig and .ftlignore among them, and " +
		"your global settings stay."
}

// Run implements the verb.
func (c *uninstallCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		o := session.Uninstall{DryRun: c.DryRun, Force: c.Force}
		if !c.Force && !c.JSON && isTerminal(a.stdin) && isTerminal(a.stderr) {
			o.Confirm = a.confirmRemoval
		}
		done, err := s.Uninstall(ctx, o)
		switch {
		case errors.Is(err, session.ErrDeclined):
			return &exitError{code: exitFailed, err: err}
		case errors.Is(err, container.ErrNoEngine):
			return &exitError{
				code: exitNoEngine, err: fmt.Errorf("sandboxes of this repository cannot be removed: %w", err),
				hints: []string{"start the engine and try again", "git ftl uninstall --force leaves them behind and names them"},
			}
		case err != nil:
			return err
		case c.JSON:
			return a.json(done)
		}
		did := "removed"
		if c.DryRun {
			did = "would be removed"
		}
		a.showCollected(a.stdout, did, done.Removed)
		a.showCollected(a.stdout, "stays", done.Kept)
		return nil
	})
}

// confirmRemoval asks once.
func (a *app) confirmRemoval(r session.Removal) bool {
	a.showCollected(a.stderr, "to be removed", r.Removed)
	a.showCollected(a.stderr, "stays", r.Kept)
	fmt.Fprint(a.stderr, "remove all of it (y/N)? ")
	line, _ := bufio.NewReader(a.stdin).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(line), "y")
}
