package main

import (
	"context"
	"os"
	"sync"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// ending is what came of one task.
type ending struct {
	out session.Outcome
	err error
}

// perform does the attempts of a job in this process.
func (a *app) perform(s *session.Session, j job) []ending {
	if j.Flags.Events {
		s.Report = &eventWriter{to: a}
	}
	if err := s.Recover(context.Background()); err != nil {
		return []ending{{err: err}}
	}
	attempts := j.attempts()
	ends := make([]ending, len(attempts))
	var beside *session.Attempts
	if len(ends) > 1 {
		beside = &session.Attempts{}
	}
	interrupts := make([]chan os.Signal, len(ends))
	for i := range ends {
		interrupts[i] = make(chan os.Signal, cap(a.signals)+1)
	}
	done := make(chan struct{})
	var relay, tasks sync.WaitGroup
	relay.Go(func() { spread(a.signals, interrupts, done) })
	for i, task := range attempts {
		task.Beside, task.Interrupt, task.Mend = beside, interrupts[i], mender(s, task)
		tasks.Go(func() { ends[i].out, ends[i].err = s.Run(context.Background(), task) })
	}
	tasks.Wait()
	close(done)
	relay.Wait()
	s.Tidy(context.Background())
	return ends
}

// spread passes each signal on to every task.
func spread(from <-chan os.Signal, to []chan os.Signal, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case sig := <-from:
			for _, c := range to {
				select {
				case c <- sig:
				default: // it has more than enough to read
				}
			}
		}
	}
}
