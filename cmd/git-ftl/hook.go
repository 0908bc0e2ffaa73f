package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-ftl/git-ftl/hooks"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// hookCmd is what an installed hook, or a line in a script of others, runs.
type hookCmd struct {
	Name string   `arg:"" help:"Name of the hook."`
	Args []string `arg:"" optional:"" passthrough:"" help:"What git gave the hook."`
}

// Run implements the verb.
func (c *hookCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	repo, err := git.FindAny(ctx, a.dir, a.env)
	if err != nil {
		return err
	}
	call := hooks.Call{Name: c.Name, Args: c.Args, Stdin: a.stdin, Check: a.hookCheck(repo)}
	r, err := call.Run(ctx, repo)
	switch {
	case errors.Is(err, hooks.ErrUnknown):
		return &exitError{code: exitUsage, err: err, hints: []string{"git ftl hooks status lists them"}}
	case err != nil:
		return err
	}
	return c.report(a, r)
}

// report says what was looked at, since a hook that looked at nothing passes too.
func (c *hookCmd) report(a *app, r hooks.Report) error {
	for _, s := range r.Skipped {
		a.ui.note("not checked: " + s)
	}
	seen := fmt.Sprintf("%s, %s scanned", plural(r.Files, "file"), sizeText(r.Bytes))
	if r.Blocked {
		what := map[string]string{"pre-push": "push", hooks.RefTransaction: "change of a branch"}[c.Name]
		if what == "" {
			what = "commit"
		}
		return &exitError{
			code: exitFailed, err: fmt.Errorf("%s, %s: this %s is refused", seen, plural(r.Findings, "finding"), what),
			details: r.Lines, hints: c.waysOut(),
		}
	}
	switch {
	case r.Files == 0 && c.Name != hooks.RefTransaction:
		a.ui.note("nothing to scan: no file is new or changed")
	case r.Files > 0 && r.Findings > 0:
		a.ui.note(fmt.Sprintf("%s, %s that do not block", seen, plural(r.Findings, "finding")))
	case r.Files > 0:
		a.ui.note(seen + ", clean")
	}
	return nil
}

func (c *hookCmd) waysOut() []string {
	const accept = "git ftl waive --staged FINDING accepts one"
	switch c.Name {
	case "pre-push":
		return []string{"git ftl lint RANGE shows them", "git push --no-verify pushes without any hook"}
	case hooks.RefTransaction:
		return []string{"git ftl lint RANGE shows them", "git ftl hooks uninstall --hook " + hooks.RefTransaction + " takes this hook away"}
	}
	return []string{"git ftl lint --staged shows them, " + accept, "git commit --no-verify commits without any hook"}
}

// index is the index that git has named to a hook: that of "git commit FILE" is not
// the user's.
func (a *app) index(repo *git.Repo) string {
	name := lookup(a.env, "GIT_INDEX_FILE")
	switch {
	case name == "":
		return filepath.Join(repo.GitDir, "index")
	case filepath.IsAbs(name):
		return name
	}
	return filepath.Join(a.dir, name)
}
