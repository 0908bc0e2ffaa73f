package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// edit opens git's editor on a text and returns what the user makes of it. The
// file stays in the state folder where that fails, so that nothing is lost.
func (a *app) edit(ctx context.Context, r *git.Repo, name, text string) (string, error) {
	if err := r.WriteState(name, []byte(text)); err != nil {
		return "", err
	}
	path := r.Path(filepath.FromSlash(name))
	if err := a.runEditor(ctx, r, path); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	return string(data), err
}

// runEditor opens git's editor on a file, as git itself would.
func (a *app) runEditor(ctx context.Context, r *git.Repo, path string) error {
	editor, err := r.Line(ctx, "var", "GIT_EDITOR")
	if err != nil {
		return &exitError{code: exitUsage, err: errors.New("no editor can be found"), hints: []string{"git config --global core.editor EDITOR, or set GIT_EDITOR"}}
	}
	// The way of git, whose editor may be a command with arguments.
	cmd := exec.CommandContext(ctx, "git", "-c", `alias.ftl-edit=!f() { `+editor+` "$@"; }; f`, "ftl-edit", path)
	cmd.Dir, cmd.Env = a.dir, a.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	if !isTerminal(a.stdout) {
		cmd.Stdout = a.stderr // stdout is for results
	}
	if err := cmd.Run(); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("the editor failed: %w", err), hints: []string{"what you wrote is in " + path}}
	}
	return nil
}
