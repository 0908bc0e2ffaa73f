package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// targetFlags say what an apply writes beside the files.
type targetFlags struct {
	Index   bool     `help:"Stage the change as well, beside what is staged."`
	Commit  bool     `help:"Commit the change on HEAD as well; staged and unstaged edits stay what they are."`
	Message []string `short:"m" sep:"none" placeholder:"MSG" help:"With --commit: the message; each further one is a paragraph."`
	File    string   `short:"F" placeholder:"FILE" help:"With --commit: read the message from a file, - is standard input."`
	Edit    bool     `short:"e" help:"Edit the patch of what is left, and apply that. With --commit: edit the message."`
	Hooks   bool     `help:"With --commit: run the commit hooks, as git commit does."`
	Merge   bool     `help:"Write conflicts as markers, and their stages to the index."`
}

// check refuses flags that do not go together.
func (c *applyCmd) check() error {
	f := &c.targetFlags
	worded := len(f.Message) > 0 || f.File != ""
	why := ""
	switch {
	case f.Merge && (f.Commit || f.Index):
		why = "--merge goes with neither --index nor --commit: settle the conflicts first"
	case !f.Commit && (worded || f.Hooks):
		why = "-m, -F and --hooks go with --commit"
	case !f.Commit && f.Edit && c.Patch:
		why = "choose hunks by -p or edit the patch by -e, not both"
	case len(f.Message) > 0 && f.File != "":
		why = "-m and -F exclude each other"
	default:
		return nil
	}
	return &exitError{code: exitUsage, err: errors.New(why), hints: []string{"git ftl apply -h"}}
}

// targets adds what is to be written beside the files. The editor opens once it
// is known that the apply can succeed.
func (v *applying) targets(ctx context.Context) (patch.ApplyOptions, error) {
	o, c := v.o, v.c
	o.Index, o.Merge = c.Index, c.Merge
	if !c.Commit {
		return o, nil
	}
	message, err := v.message(c, v.r)
	if err != nil {
		return o, err
	}
	o.Commit = &patch.CommitOptions{Message: message, Hooks: c.Hooks}
	if !c.Edit || c.DryRun {
		return o, nil
	}
	dry := o
	dry.DryRun = true
	if _, err := v.s.Apply(ctx, v.r, dry, c.Waive); err != nil {
		return o, err
	}
	o.Commit.Message, err = v.editMessage(ctx, v.s, message)
	return o, err
}

// message is what the user gives, or the result's subject.
func (a *app) message(c *applyCmd, r patch.Result) (string, error) {
	text := clean(r.Subject)
	switch {
	case len(c.Message) > 0:
		text = strings.Join(c.Message, "\n\n")
	case c.File != "":
		data, err := a.input(c.File)
		if err == nil && len(data) > maxTask {
			err = errors.New("it is over 16 MiB")
		}
		if err != nil {
			return "", fmt.Errorf("read message: %w", err)
		}
		text = string(data)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", patch.ErrEmptyMessage
	}
	return text + "\n", nil
}

const editHelp = `
Please enter the commit message for this change. Lines starting with the
comment character will be ignored, and an empty message aborts the apply.
`

// editMessage opens git's editor on a message and returns it without comments.
func (a *app) editMessage(ctx context.Context, s *session.Session, message string) (string, error) {
	help, err := s.Repo.Output(ctx, git.Call{Args: []string{"stripspace", "-c"}, Stdin: strings.NewReader(strings.TrimSpace(editHelp))})
	if err != nil {
		return "", err
	}
	const draft = "COMMIT_EDITMSG"
	text, err := a.compose(ctx, s.Repo, draft, message+"\n"+string(help))
	if err != nil {
		return "", err
	}
	if err := os.Remove(s.Repo.Path(draft)); err != nil {
		return "", err
	}
	out, err := s.Repo.Output(ctx, git.Call{Args: []string{"stripspace", "-s"}, Stdin: strings.NewReader(text)})
	if err == nil && len(out) == 0 {
		err = patch.ErrEmptyMessage
	}
	return string(out), err
}

// touched says what became of index and HEAD; neither is what to say where
// neither was asked for.
func touched(p patch.Applied, o patch.ApplyOptions, neither string) string {
	switch {
	case o.DryRun:
		return neither
	case !p.Head.IsZero():
		return "committed as " + p.Head.String()[:12]
	case o.Commit != nil:
		return "HEAD has it already, so nothing was committed"
	case o.Index:
		return "staged, HEAD unchanged"
	case len(p.Conflicts) > 0:
		return "conflicts staged, HEAD unchanged"
	}
	return neither
}

// showHooks passes on what hooks of the user's printed.
func (a *app) showHooks(said string) {
	for _, line := range outputLines(said) {
		a.ui.line("  %s", clean(line))
	}
}
