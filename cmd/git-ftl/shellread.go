package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/prompt"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/container"
)

// reader is the one that the terminal is good for.
func (sh *shell) reader() (lineReader, error) {
	tty, ok := sh.stdin.(*os.File)
	if term := lookup(sh.env, "TERM"); !ok || term == "dumb" || term == "" && canSuspend {
		return &plainLines{sh: sh, in: bufio.NewReader(sh.stdin)}, nil
	}
	if err := os.MkdirAll(sh.s.Repo.State, 0o700); err != nil {
		return nil, err
	}
	history, err := prompt.OpenHistory(sh.s.Repo.Path("shell-history"), remembered)
	if err != nil {
		sh.ui.note(fmt.Sprintf("what was typed before cannot be read: %v", err))
	}
	e := &editedLines{sh: sh, tty: tty}
	e.prompt = &prompt.Prompt{
		In: tty, Out: sh.stderr, Size: e.size, Style: sh.style, History: history, Complete: sh.complete, Typing: sh.typing,
	}
	if canSuspend {
		e.prompt.Suspend = e.suspend
	}
	sizes := make(chan container.TTY)
	watchSize(tty, sizes)
	go func() { // until the process ends
		for range sizes {
			e.prompt.Resized()
		}
	}()
	return e, nil
}

func (sh *shell) style(label string) string { return sh.ui.paint(bold, label) }

// remembered keeps out of the history what is said about secrets.
func remembered(text string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "git ftl ")
	return !strings.HasPrefix(strings.TrimLeft(text, " /"), "auth ")
}

// editedLines reads by the prompt.
type editedLines struct {
	sh     *shell
	tty    *os.File
	prompt *prompt.Prompt
	before *term.State
}

// typedText is what a prompt gave.
type typedText struct {
	text string
	err  error
}

func (e *editedLines) read(label string) (string, error) {
	fd := int(e.tty.Fd())
	var err error
	if e.before, err = term.MakeRaw(fd); err != nil {
		return "", err
	}
	got := make(chan typedText, 1)
	go func() { // ends with the process where a signal comes first
		text, err := e.prompt.Read(label)
		got <- typedText{text, err}
	}()
	for {
		select {
		case t := <-got:
			return t.text, errors.Join(t.err, term.Restore(fd, e.before))
		case sig := <-e.sh.signals:
			if sig != os.Interrupt { // that one is for what ran before
				return "", errors.Join(session.ErrInterrupted, term.Restore(fd, e.before))
			}
		}
	}
}

func (e *editedLines) size() (cols, rows int) {
	cols, rows, _ = term.GetSize(int(e.tty.Fd())) // 0 where it cannot be had
	return cols, rows
}

func (e *editedLines) suspend() {
	fd := int(e.tty.Fd())
	_ = term.Restore(fd, e.before)
	stopJob()
	_, _ = term.MakeRaw(fd)
}

// plainLines reads from a terminal that can do nothing but print.
type plainLines struct {
	sh *shell
	in *bufio.Reader
}

func (p *plainLines) read(label string) (string, error) {
	got := make(chan typedText, 1)
	fmt.Fprint(p.sh.stderr, label)
	p.sh.typing()
	go func() { // ends with the process where a signal comes first
		text, err := p.in.ReadString('\n')
		got <- typedText{strings.TrimSuffix(text, "\n"), err}
	}()
	for {
		select {
		case t := <-got:
			return t.text, t.err
		case sig := <-p.sh.signals:
			if sig != os.Interrupt {
				return "", session.ErrInterrupted
			}
			fmt.Fprint(p.sh.stderr, "\n"+label) // the terminal has dropped the line
		}
	}
}
