package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Exit codes, a contract that the man page lists.
const (
	exitFailed      = 1
	exitFindings    = 3
	exitConflict    = 4
	exitNoEngine    = 5
	exitAgent       = 6
	exitUntrusted   = 7
	exitUsage       = 80
	exitInterrupted = 130
	exitPipe        = 141 // as a shell says of a program that SIGPIPE ended
)

// exitError is an error with an exit code, what belongs to it (a line each), and
// the ways out as commands.
type exitError struct {
	code    int
	err     error
	details []string
	hints   []string
	quiet   bool // everything was already said
}

// Error is the one line of the error itself.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *exitError) Unwrap() error { return e.err }

// explain finds code, details and hints for an error of the packages.
func explain(err error, env []string) *exitError {
	var known *exitError
	if errors.As(err, &known) {
		return known
	}
	e := &exitError{code: exitFailed, err: err}
	if !e.explainType() && !e.explainRefusal() {
		e.explainCause(env)
	}
	return e
}

// tell is explain for transcripts and other processes.
func (a *app) tell(err error) session.Failure { return explain(err, a.env).failure() }

// failure is the error as a person is told of it: every line can be shown.
func (e *exitError) failure() session.Failure {
	first, rest, _ := strings.Cut(e.Error(), "\n") // errors that were joined
	f := session.Failure{Code: e.code, Error: clean(first)}
	for line := range strings.Lines(rest) {
		f.Details = append(f.Details, clean(strings.TrimSuffix(line, "\n")))
	}
	for _, d := range e.details {
		f.Details = append(f.Details, clean(d))
	}
	for _, h := range e.hints {
		f.Hints = append(f.Hints, clean(h))
	}
	return f
}

// told is an error that another process has explained.
func told(f session.Failure) error {
	return &exitError{code: f.Code, err: errors.New(f.Error), details: f.Details, hints: f.Hints}
}

// explainType takes what an error's type carries; false where it carries nothing.
func (e *exitError) explainType() bool {
	var (
		agent     *session.AgentError
		conflict  *patch.ConflictError
		edited    *patch.EditedError
		committed *patch.CommittedError
		ambiguous *patch.AmbiguousError
		cut       *patch.InterruptedError
		moved     *session.MovedError
		inUse     *session.InUseError
		blocked   *session.BlockedError
		ways      interface{ Hints() []string }
	)
	switch err := e.err; {
	case errors.As(err, &moved):
		e.explainConflict(moved.Conflict)
		e.err = errors.New(moved.Error())
		e.hints = []string{fmt.Sprintf(`git ftl continue --from-result %s "…" goes on without your newer edits`, moved.ID)}
	case errors.As(err, &conflict):
		e.explainConflict(conflict)
	case errors.As(err, &edited):
		e.explainEdited(edited, "")
	case errors.As(err, &committed):
		e.hints = []string{"git revert " + committed.Commit.String()[:12], "git ftl undo ID takes an older apply back"}
	case errors.As(err, &ambiguous):
		e.code, e.details = exitUsage, ambiguous.IDs
		e.err, e.hints = fmt.Errorf("%q begins several IDs", ambiguous.Prefix), []string{"give more letters of one"}
	case errors.As(err, &cut):
		e.code, e.details = exitConflict, cut.Paths
		e.err = fmt.Errorf("an %s of %s was cut off, and files were edited since", cut.What, cut.ID)
		e.hints = waysBack(cut)
	case errors.As(err, &blocked):
		e.explainBlocked(blocked)
	case errors.As(err, &inUse):
		e.details, e.hints = inUse.What, []string{"git ftl apply or git ftl reject decides; git ftl uninstall --force drops it all"}
		if inUse.Running {
			e.hints = []string{"wait for it, or end it: git ftl status"}
		}
	case errors.As(err, &ways):
		e.hints = ways.Hints()
	case errors.As(err, &agent):
		e.code, e.hints = exitAgent, agent.Hints
	default:
		return false
	}
	return true
}

// explainCause finds code and hints by the cause.
func (e *exitError) explainCause(env []string) {
	if wentAway(e.err) {
		e.code, e.quiet = exitPipe, true // "git ftl list | head"
		return
	}
	if errors.Is(e.err, session.ErrInterrupted) || errors.Is(e.err, context.Canceled) {
		e.code, e.err = exitInterrupted, session.ErrInterrupted
		return
	}
	if e.hints = orElse(vaultHints(e.err), modelHints(e.err)); e.hints != nil {
		return
	}
	for _, row := range []struct {
		cause error
		code  int
		hints []string
	}{
		{container.ErrNoEngine, exitNoEngine, engineHints(env, e.err)},
		{container.ErrNoImage, exitFailed, []string{"docker pull it, or name another by --image or git config ftl.image"}},
		{container.ErrGone, exitFailed, []string{"git ftl sandbox ls lists them; git ftl exec makes one"}},
		{container.ErrBusy, exitFailed, []string{"a task or a shell uses it: git ftl status"}},
		{container.ErrHeld, exitFailed, []string{"git ftl sandbox shell --name NAME looks at it, git ftl sandbox rm --force NAME drops it"}},
		{session.ErrRunning, exitFailed, []string{"git ftl wait waits for it, git ftl stop ends it"}},
		{session.ErrNotRunning, exitFailed, []string{"git ftl status lists the running ones"}},
		{patch.ErrChanged, exitFailed, []string{"git ftl diff shows it as it is now"}},
		{patch.ErrPaths, exitFailed, []string{"git ftl diff --left shows what is left"}},
		{patch.ErrUnmerged, exitFailed, []string{"git mergetool, then git add settles them; git status lists them"}},
		{patch.ErrHeadMoved, exitFailed, []string{"git ftl apply --commit tries again"}},
		{patch.ErrEmptyMessage, exitFailed, []string{"nothing was written; -m MSG gives one"}},
		{patch.ErrOccupied, exitFailed, []string{"name a folder that is not there yet"}},
		{patch.ErrUnknown, exitFailed, []string{"git ftl list shows every task"}},
		{patch.ErrForeign, exitFailed, []string{"git cherry-pick takes it as any other commit, once you have read it"}},
		{session.ErrNothingToRun, exitFailed, []string{"git config ftl.test CMD names the command that runs the project's own", "git config --global ftl.tester anthropic/NAME, openai/NAME or openai/NAME@URL lets a model write some"}},
		{session.ErrNoModel, exitUsage, []string{"git ftl auth set ANTHROPIC_API_KEY (or OPENAI_API_KEY) is enough", "git config --global ftl.reviewer anthropic/NAME, openai/NAME or openai/NAME@URL chooses one"}},
		{session.ErrNotTaken, exitFailed, []string{"git ftl snapshots lists those that were"}},
		{snapshot.ErrUnknown, exitFailed, []string{"git ftl snapshots --all lists them"}},
		{git.ErrNotRepository, exitFailed, []string{"git init, or cd to a repository with a work tree"}},
		{git.ErrTooOld, exitFailed, []string{"install a newer git and try again"}},
		{snapshot.ErrNotFetched, exitFailed, []string{"try again once the remote can be reached"}},
		{syscall.ENOSPC, exitFailed, []string{"free some space and try again"}},
		{snapshot.ErrNoSpace, exitFailed, []string{"free some space; git ftl sandbox rm removes exports with their sandboxes"}},
	} {
		if errors.Is(e.err, row.cause) {
			e.code, e.hints = row.code, row.hints
			return
		}
	}
}
