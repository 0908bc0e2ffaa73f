package main

import (
	"context"
	"errors"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type logsCmd struct {
	ID     string `arg:"" optional:"" help:"Task; the newest one of this work tree otherwise."`
	Follow bool   `short:"f" help:"Go on until the task is over."`
	JSON   bool   `name:"json" help:"Print the events, one JSON object a line."`
}

// Run implements the verb: what a task did and said, of one that has ended too.
func (c *logsCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		o, err := a.newest(s, c.ID)
		if err != nil {
			return err
		}
		shown := newUI(&app{stdout: a.stdout, stderr: a.stdout, env: a.env})
		shown.ends = true
		var report session.Reporter = shown
		if c.JSON {
			report = &eventWriter{to: a}
		}
		w := &watcher{s: s, report: report, to: a.stdout}
		r := s.Transcript(o.ID, 1)
		defer r.Close()
		if c.Follow {
			_, err = w.tail(ctx, o.ID, r) // how the task ends is not how this command does
		} else {
			_, err = w.drain(r)
		}
		if errors.Is(err, context.Canceled) {
			return session.ErrInterrupted
		}
		return err
	})
}

// newest finds a task by a part of its ID, or the one that began last here.
func (a *app) newest(s *session.Session, prefix string) (session.Outcome, error) {
	if prefix != "" {
		return a.record(context.Background(), s, prefix)
	}
	all, err := s.Tasks()
	if err != nil {
		return session.Outcome{}, err
	}
	for _, o := range all {
		if o.WorkTree == s.Repo.Key() {
			return o, nil
		}
	}
	return session.Outcome{}, &exitError{code: exitFailed, err: errors.New("there has been no task here"), hints: []string{"git ftl list shows every task of the repository"}}
}
