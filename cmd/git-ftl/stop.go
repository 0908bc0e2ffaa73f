package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

type stopCmd struct {
	IDs  []string `arg:"" optional:"" name:"id" help:"Tasks."`
	All  bool     `help:"Every running task of the repository."`
	JSON bool     `name:"json" help:"Print a JSON array of what came of them."`
}

// Run implements the verb: it asks tasks to end, and waits until what their
// agents changed is stored. Asked again, what a task runs is killed.
func (c *stopCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		if len(c.IDs) == 0 && !c.All {
			return &exitError{code: exitUsage, err: errors.New("a task is missing"), hints: []string{"git ftl status lists the running ones; --all takes all"}}
		}
		tasks, err := a.running(s, c.IDs)
		if err != nil {
			return err
		}
		for _, o := range tasks {
			if err := s.Stop(o.ID); err != nil && !(c.All && errors.Is(err, session.ErrNotRunning)) {
				return err
			}
		}
		ends := a.await(ctx, s, tasks, !c.JSON)
		if c.JSON {
			if err := a.json(outcomes(ends)); err != nil {
				return err
			}
		}
		for _, e := range ends {
			if e.out.ID == "" {
				return e.err // that it ended as it was asked to is no failure here
			}
		}
		return nil
	})
}

// running finds tasks by parts of their IDs; where none is named, all that run or
// that tests or a reviewer still look at.
func (a *app) running(s *session.Session, prefixes []string) ([]session.Outcome, error) {
	var tasks []session.Outcome
	if len(prefixes) == 0 {
		ids, err := s.Running()
		if err != nil {
			return nil, err
		}
		all, err := s.Tasks()
		for _, o := range all {
			if slices.Contains(ids, o.ID) || s.Verifying(o) != "" {
				tasks = append(tasks, o)
			}
		}
		return tasks, err
	}
	for _, prefix := range prefixes {
		o, err := a.record(context.Background(), s, prefix)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, o)
	}
	return tasks, nil
}

type waitCmd struct {
	IDs   []string `arg:"" optional:"" name:"id" help:"Tasks; all that run in the repository otherwise."`
	JSON  bool     `name:"json" help:"Print a JSON array of what came of them."`
	Quiet bool     `short:"q" help:"Print nothing."`
}

// Help is the end of the verb's --help.
func (c *waitCmd) Help() string {
	return "Exits with the highest exit code of the tasks, as if each had been run in the foreground."
}

// Run implements the verb.
func (c *waitCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		tasks, err := a.running(s, c.IDs)
		if err != nil {
			return err
		}
		ends := a.await(ctx, s, tasks, !c.JSON && !c.Quiet)
		if ctx.Err() != nil {
			return session.ErrInterrupted
		}
		if c.JSON {
			if err := a.json(outcomes(ends)); err != nil {
				return err
			}
		}
		var worst *exitError
		for _, e := range ends {
			if e.err == nil {
				continue
			}
			if x := explain(e.err, a.env); worst == nil || x.code > worst.code {
				worst = x
			}
		}
		if worst == nil {
			return nil
		}
		return &exitError{code: worst.code, err: worst, quiet: true}
	})
}

// await waits for tasks to end, each told as it does.
func (a *app) await(ctx context.Context, s *session.Session, tasks []session.Outcome, tell bool) []ending {
	ends := make([]ending, len(tasks))
	over := make(chan int)
	for i, o := range tasks {
		go func() {
			ends[i].out, ends[i].err = s.Wait(ctx, o.ID)
			over <- i
		}()
	}
	for range tasks {
		i := <-over
		if o := ends[i].out; tell && o.ID != "" {
			fmt.Fprintf(a.stdout, "%-9s %s\n", o.ID, clean(ended(o)))
		}
	}
	return ends
}

// ended says in a line what came of a task.
func ended(o session.Outcome) string {
	what := "nothing changed"
	if o.Result != nil {
		what = fmt.Sprintf("%s, +%d -%d", plural(len(o.Files), "file"), o.Insertions(), o.Deletions())
	}
	if o.Error != "" {
		what += "; " + o.Error
	}
	return fmt.Sprintf("%-11s %s", o.Status, what)
}

func outcomes(ends []ending) []session.Outcome {
	outs := []session.Outcome{}
	for _, e := range ends {
		if e.out.ID != "" {
			outs = append(outs, e.out)
		}
	}
	return outs
}
