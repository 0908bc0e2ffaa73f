package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// maxTask bounds the text of a task, in bytes.
const maxTask = 16 << 20

// textFlags say where the words of a task come from.
type textFlags struct {
	File string `short:"F" placeholder:"FILE" help:"Read the task from a file; - is stdin."`
	Edit bool   `short:"e" help:"Open git's editor on the task."`
}

// inquiry is what a verb asks the user for.
type inquiry struct {
	verb string // as typed
	text string // above the editor's lines
}

// missing is the error where the user gives no words.
func (q inquiry) missing(what string) error {
	return &exitError{code: exitUsage, err: errors.New("the task is " + what), hints: []string{
		fmt.Sprintf(`git ftl %s "what to do", git ftl %s -F FILE, or - for stdin`, q.verb, q.verb),
	}}
}

// taskHelp is below the task in the editor.
const taskHelp = `
# %s
# Lines that begin with # are dropped; an empty task ends the command.
`

// text gets the task from where the user put it: words, file, stdin or editor.
func (f *textFlags) text(a *app, s *session.Session, words string, q inquiry) (string, error) {
	text, err := f.given(a, words)
	if err != nil {
		return "", err
	}
	if f.Edit || words == "" && f.File == "" {
		if text, err = f.edited(a, s, text, q); err != nil {
			return "", err
		}
	}
	if len(text) > maxTask {
		return "", &exitError{code: exitUsage, err: errors.New("the task is over 16 MiB")}
	}
	if strings.TrimSpace(text) == "" {
		return "", q.missing("empty")
	}
	return text, nil
}

func (f *textFlags) given(a *app, words string) (string, error) {
	var data []byte
	var err error
	switch {
	case f.File != "" && words != "":
		return "", &exitError{code: exitUsage, err: errors.New("give the task in words or by -F, not both")}
	case f.File != "":
		data, err = a.input(f.File)
	case words == "-":
		data, err = a.input(words)
	default:
		return words, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the task: %w", err)
	}
	return string(data), nil
}

// edited opens the editor. Off a terminal only an editor that was chosen for
// this can be meant.
func (f *textFlags) edited(a *app, s *session.Session, text string, q inquiry) (string, error) {
	if !isTerminal(a.stdin) && !f.Edit && lookup(a.env, "GIT_EDITOR") == "" {
		return "", q.missing("missing")
	}
	const draft = "TASK_EDITMSG"
	text, err := a.compose(context.Background(), s.Repo, draft, strings.TrimRight(text, "\n")+"\n"+fmt.Sprintf(taskHelp, q.text))
	if err != nil {
		return "", err
	}
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			kept.WriteString(line)
		}
	}
	return strings.Trim(kept.String(), "\n"), os.Remove(s.Repo.Path(draft))
}

// attachments finds the files that go along.
func (f *taskFlags) attachments(a *app) ([]session.Attachment, error) {
	var all []session.Attachment
	names := map[string]bool{}
	for _, given := range f.Attach {
		path := a.path(given)
		info, err := os.Stat(path)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("attach %s: %w", given, err)}
		}
		name := filepath.Base(path)
		switch {
		case !info.Mode().IsRegular():
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("attach %s: it is no file", given)}
		case names[name]:
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("attach %s: another attachment has the name %s", given, name)}
		}
		names[name] = true
		all = append(all, session.Attachment{Name: name, Path: path})
	}
	return all, nil
}

// path is where a file that the user names lies.
func (a *app) path(given string) string {
	if filepath.IsAbs(given) {
		return given
	}
	return filepath.Join(a.dir, given)
}

// input reads a file that the user names, "-" for stdin, up to a byte over the
// bound of a task.
func (a *app) input(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.stdin, maxTask+1))
	}
	f, err := os.Open(a.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxTask+1))
}
