package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

// choose finds a result, and asks a person at a terminal which of several. In the
// shell the one without an ID is the conversation's.
func (a *app) choose(ctx context.Context, s *session.Session, id string) (patch.Result, error) {
	r, err := s.Choose(ctx, id)
	if id == "" && a.current != "" {
		if own, none := s.Choose(ctx, a.current); none == nil {
			r, err = own, nil
		}
	}
	a.chosen = r.ID
	var several *session.SeveralError
	switch {
	case errors.As(err, &several) && isTerminal(a.stdin) && isTerminal(a.stderr):
		if r, err = a.ask(s, several.Results); err == nil {
			err = s.MarkShown(r.ID, r.Commit.String()) // as much of it as status shows
		}
		a.chosen = r.ID
		return r, err
	case errors.As(err, &several):
		e := &exitError{code: exitUsage, err: err, hints: []string{"name one of them"}}
		for _, r := range several.Results {
			e.details = append(e.details, a.describe(s, r))
		}
		return r, e
	case errors.Is(err, patch.ErrUnknown):
		o, known := a.taskOf(s, id)
		switch {
		case known && o.Status == session.Running:
			return r, &exitError{code: exitFailed, err: fmt.Errorf("task %s is running", o.ID), hints: []string{"git ftl wait " + o.ID, "git ftl stop " + o.ID}}
		case known:
			return r, &exitError{code: exitFailed, err: fmt.Errorf("task %s has no result: it changed nothing, or failed", o.ID), hints: []string{"git ftl show " + o.ID}}
		}
		return r, fmt.Errorf("%q: %w", id, patch.ErrUnknown)
	case errors.Is(err, session.ErrNonePending):
		hint := "git ftl list shows every task; apply, continue, diff and reject take an ID"
		if newest := newestResult(s); newest != "" {
			hint += ", the newest is " + newest
		}
		return r, &exitError{code: exitFailed, err: err, hints: []string{hint}}
	}
	return r, err
}

// newestResult is the ID of the newest result of this work tree, "" where it has
// none.
func newestResult(s *session.Session) string {
	all, err := s.Tasks()
	for _, o := range all {
		if err == nil && o.Result != nil && o.WorkTree == s.Repo.Key() {
			return o.ID
		}
	}
	return ""
}

// taskOf finds a task by a prefix that only it has.
func (a *app) taskOf(s *session.Session, prefix string) (found session.Outcome, known bool) {
	all, err := s.Tasks()
	for _, o := range all {
		if err == nil && strings.HasPrefix(o.ID, strings.ToLower(prefix)) {
			if known {
				return found, false
			}
			found, known = o, true
		}
	}
	return found, known
}

func (a *app) describe(s *session.Session, r patch.Result) string {
	o, err := s.Task(r.ID)
	if err != nil {
		return r.ID
	}
	return fmt.Sprintf("%s  %s, +%d -%d%s  %s", r.ID, plural(len(o.Files), "file"), o.Insertions(), o.Deletions(), cut(o.Status), session.Subject(o.Task))
}

// cut names the way a task ended that was not its agent's success.
func cut(status string) string {
	if status == "" || status == session.Pending {
		return ""
	}
	return ", " + status
}

func (a *app) ask(s *session.Session, results []patch.Result) (patch.Result, error) {
	for i, r := range results {
		fmt.Fprintf(a.stderr, "%3d  %s\n", i+1, clean(a.describe(s, r)))
	}
	fmt.Fprintf(a.stderr, "which one (1-%d, empty for none)? ", len(results))
	line, _ := bufio.NewReader(a.stdin).ReadString('\n')
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 1 || n > len(results) {
		return patch.Result{}, &exitError{code: exitUsage, err: errors.New("none was chosen")}
	}
	return results[n-1], nil
}

// record finds the record of a task; the only undecided result's without an ID.
func (a *app) record(ctx context.Context, s *session.Session, id string) (session.Outcome, error) {
	if id == "" {
		r, err := a.choose(ctx, s, "")
		if err != nil {
			return session.Outcome{}, err
		}
		id = r.ID
	}
	all, err := s.Tasks()
	if err != nil {
		return session.Outcome{}, err
	}
	var found []session.Outcome
	for _, o := range all {
		if o.ID == id {
			return o, nil
		}
		if strings.HasPrefix(o.ID, strings.ToLower(id)) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return session.Outcome{}, &exitError{code: exitFailed, err: fmt.Errorf("no task is called %q", id), hints: []string{"git ftl list shows every task"}}
	case 1:
		return found[0], nil
	}
	e := &exitError{code: exitUsage, err: fmt.Errorf("%q begins several tasks", id), hints: []string{"give more letters of one"}}
	for _, o := range found {
		e.details = append(e.details, o.ID+"  "+session.Subject(o.Task))
	}
	return session.Outcome{}, e
}
