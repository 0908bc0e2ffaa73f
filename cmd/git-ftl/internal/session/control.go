package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// stopPoll is how often a task looks whether it is to stop. A file is looked at
// and no signal sent: a process is never named by a number that another may have
// by now.
const stopPoll = 100 * time.Millisecond

// Stop asks a running task to end and to store its change; asked again, what it
// runs is killed. It does not wait. Errors: ErrNotRunning.
func (s *Session) Stop(id string) error {
	alive, err := s.Alive(id)
	if err != nil {
		return err
	}
	if !alive {
		return fmt.Errorf("stop %s: %w", id, ErrNotRunning)
	}
	return s.Repo.WriteState("stop/"+id, []byte(strconv.Itoa(s.stopsAsked(id)+1)))
}

func (s *Session) stopsAsked(id string) int {
	data, err := s.Repo.ReadState("stop/" + id)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// Alive reports whether a process works on a task.
func (s *Session) Alive(id string) (bool, error) {
	unlock, free, err := s.Repo.TryLock("task-" + id)
	if err != nil || !free {
		return err == nil, err
	}
	unlock()
	return false, nil
}

// Verifying says what still looks at the result of a task that has ended: "tests",
// "review", "" for nothing.
func (s *Session) Verifying(o Outcome) (what string) {
	switch {
	case o.Status == Running || o.Result == nil:
	case o.Tests.Detail == unfinished:
		what = "tests"
	case o.Review == nil && s.Config.Reviewer != "":
		what = "review"
	}
	if what == "" {
		return ""
	}
	if alive, err := s.Alive(o.ID); err != nil || !alive {
		return ""
	}
	return what
}

// Wait waits until a task is over and returns its record and, as Run does, the
// error that it ended with. A task whose process died is finished first. Errors:
// ErrInterrupted, *AgentError, context errors.
func (s *Session) Wait(ctx context.Context, id string) (Outcome, error) {
	for {
		unlock, err := s.Repo.Lock(ctx, "task-"+id)
		if err != nil {
			return Outcome{}, err
		}
		unlock()
		_, err = s.Repo.ReadState("running/" + id)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err == nil {
			err = s.recoverTask(ctx, id) // not at all where another is at it, or just looks
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("finish %s, which was cut off: %w", id, err)
		}
	}
	o, err := s.Task(id)
	if err != nil {
		return Outcome{}, err
	}
	return o, s.finished(o)
}

// Running lists the tasks that have not ended, by ID.
func (s *Session) Running() ([]string, error) { return s.ids("running") }
