package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// compose opens git's editor on a text and returns what the user makes of it.
// The file stays in the state folder where that fails, so that nothing is lost.
func (a *app) compose(ctx context.Context, r *git.Repo, name, text string) (string, error) {
	if err := r.WriteState(name, []byte(text)); err != nil {
		return "", err
	}
	path := r.Path(filepath.FromSlash(name))
	if err := a.runEditor(ctx, r, path); err != nil {
		return "", &exitError{code: exitFailed, err: err, hints: []string{"what you wrote is in " + path}}
	}
	data, err := os.ReadFile(path)
	return string(data), err
}

// runEditor lets the user edit a file in the editor that git would take, started
// by git's own shell. Signals are the editor's until it ends.
func (a *app) runEditor(ctx context.Context, r *git.Repo, file string) error {
	editor, err := r.Line(ctx, "var", "GIT_EDITOR")
	if err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("find an editor: %w", err), hints: []string{"set GIT_EDITOR, or git config --global core.editor EDITOR"}}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "git", "-c", "alias.ftl-editor=!"+editor, "ftl-editor", file)
	cmd.Dir, cmd.Env = a.dir, a.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stderr, a.stderr // stdout is for results
	if isTerminal(a.stdout) {
		cmd.Stdout = handed(a.stdout)
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("edit with %s: %w", editor, err)
	}
	return ctx.Err()
}
