package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/git-ftl/git-ftl/hooks"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type hooksCmd struct {
	Install   hooksInstallCmd   `cmd:"" help:"Install git hooks that look at what you commit and push."`
	Uninstall hooksUninstallCmd `cmd:"" help:"Take the hooks out; what was there before is back, byte for byte."`
	Status    hooksStatusCmd    `cmd:"" help:"Say which hooks run, and what is in their way."`
}

// hookFlags are those of the verbs that change hooks.
type hookFlags struct {
	Hook   []string `placeholder:"NAME" enum:"pre-commit,pre-merge-commit,pre-applypatch,pre-push,reference-transaction" help:"Only this hook: ${enum}; repeatable."`
	DryRun bool     `short:"n" name:"dry-run" help:"Only say what would be done."`
	JSON   bool     `name:"json" help:"Print one JSON object."`
}

// names are the hooks that are meant, all where none is named.
func (f hookFlags) names(all []string) []string {
	if len(f.Hook) > 0 {
		return f.Hook
	}
	return all
}

type hooksInstallCmd struct {
	hookFlags
	Strict bool `help:"Install reference-transaction too, which sees cherry-pick, rebase, revert, update-ref and --no-verify, and starts git-ftl for every change of a ref."`
}

// Help implements kong.HelpProvider.
func (c *hooksInstallCmd) Help() string {
	return "The hooks are those of the repository, for all its work trees. A hook that is there already stays, as NAME.ftl-orig, " +
		"and runs first. Where core.hooksPath leads out of the git dir, or to husky's folder, nothing is written, and the lines to " +
		"add by hand are shown."
}

// Run implements the verb.
func (c *hooksInstallCmd) Run(a *app) error {
	names := c.names(hooks.Default())
	if c.Strict && !slices.Contains(names, hooks.RefTransaction) {
		names = append(names, hooks.RefTransaction)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find git-ftl itself: %w", err)
	}
	ctx, cancel := a.context()
	defer cancel()
	repo, err := git.OpenAny(ctx, a.dir, a.env)
	if err != nil {
		return err
	}
	done, err := hooks.Install{Names: names, Program: self, DryRun: c.DryRun}.Do(ctx, repo)
	var changed *hooks.EditedError
	switch {
	case errors.As(err, &changed):
		return &exitError{code: exitFailed, err: err, details: changed.What, hints: changed.Hints()}
	case err != nil:
		return err
	}
	if err := c.show(a, done); err != nil || c.JSON {
		return err
	}
	s, err := hooks.Look(ctx, repo)
	if err == nil && s.Manager != "" {
		a.ui.note(s.Manager + " can put its own hooks over these; git ftl hooks status says so")
	}
	return err
}

type hooksUninstallCmd struct{ hookFlags }

// Run implements the verb.
func (c *hooksUninstallCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	repo, err := git.OpenAny(ctx, a.dir, a.env)
	if err != nil {
		return err
	}
	done, err := hooks.Uninstall(ctx, repo, c.names(hooks.Names()), c.DryRun)
	if err != nil {
		return err
	}
	if err := c.show(a, done); err != nil {
		return err
	}
	left := &exitError{code: exitFailed, err: errors.New("hooks were left that are not as git-ftl wrote them")}
	for _, h := range done {
		if h.Did == "left" {
			left.hints = append(left.hints, fmt.Sprintf("rm %s, then git ftl hooks uninstall, which puts back what was there before", quoteArgs([]string{h.File})))
		}
	}
	if len(left.hints) > 0 {
		return left
	}
	return nil
}

// show lists what was done.
func (f hookFlags) show(a *app, done []hooks.Change) error {
	if f.JSON {
		return a.json(struct {
			Hooks  []hooks.Change `json:"hooks"`
			DryRun bool           `json:"dry_run"`
		}{append([]hooks.Change{}, done...), f.DryRun})
	}
	if len(done) == 0 {
		fmt.Fprintln(a.stdout, "no hooks of git-ftl are here")
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, h := range done {
		did := map[string]string{"kept": "installed already"}[h.Did]
		switch {
		case did != "":
		case f.DryRun && h.Did != "left":
			did = "would be " + h.Did
		default:
			did = h.Did
		}
		why := h.Why
		if h.With != "" {
			why = "after " + h.With
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", did, h.Name, clean(h.File), clean(why))
	}
	return w.Flush()
}

type hooksStatusCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help implements kong.HelpProvider.
func (c *hooksStatusCmd) Help() string {
	return "installed: runs. chained: runs after the hook that was there before. called: a script or a hooks manager runs it. " +
		"foreign: the hook is another's. edited: it was git-ftl's and is not as git-ftl wrote it. shadowed: it is there, and " +
		"core.hooksPath keeps it from running. missing: there is none."
}

// Run implements the verb.
func (c *hooksStatusCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	repo, err := git.FindAny(ctx, a.dir, a.env)
	if err != nil {
		return err
	}
	s, err := hooks.Look(ctx, repo)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(s)
	}
	from := ""
	if s.Setting != nil {
		from = fmt.Sprintf("  (core.hooksPath, %s, %s)", s.Setting.Scope, s.Setting.Origin)
	}
	fmt.Fprintf(a.stdout, "folder  %s%s\n", clean(s.Dir), clean(from))
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, h := range s.Hooks {
		detail := h.Why
		if word := map[string]string{"chained": "after ", "called": "by ", "foreign": "of "}[h.State]; word != "" && h.With != "" {
			detail = strings.TrimSpace(word + h.With + " " + h.Why)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", h.State, h.Name, clean(detail))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, hint := range s.Hints() {
		a.ui.line("hint: %s", clean(hint))
	}
	return nil
}
