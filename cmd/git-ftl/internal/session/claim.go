package session

import (
	"context"
	"fmt"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/snapshot"
)

// admit gives the task its name and its record, and holds its lock.
func (s *Session) admit(ctx context.Context, t Task) (*run, func(), error) {
	there, err := s.Repo.Lock(ctx, uninstallLock) // until it is among the running ones
	if err != nil {
		return nil, nil, err
	}
	defer there()
	r, unlock, err := s.claim(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	if err := s.announce(ctx, r.out); err != nil {
		unlock()
		return nil, nil, err
	}
	return r, unlock, nil
}

// announce writes a task down as running. The mark comes first: a record that says
// "running" is one that Recover finds.
func (s *Session) announce(ctx context.Context, o Outcome) error {
	if err := s.rememberFolders(); err != nil {
		return err
	}
	if err := s.Repo.WriteState("running/"+o.ID, nil); err != nil {
		return err
	}
	return s.save(ctx, o)
}

// claim gives a task its name, or another turn, and holds the lock of it.
func (s *Session) claim(ctx context.Context, t Task) (*run, func(), error) {
	if t.Of == "" {
		id, unlock, err := s.claimID(ctx)
		return s.newRun(t, newOutcome(id)), unlock, err
	}
	unlock, err := s.reclaim(ctx, t.Of)
	if err != nil {
		return nil, nil, fmt.Errorf("continue %s: %w", t.Of, err)
	}
	r, err := s.followUp(ctx, t)
	if err != nil {
		unlock()
	}
	return r, unlock, err
}

// newRun is a task that has its name.
func (s *Session) newRun(t Task, o Outcome) *run {
	r := &run{Session: s, task: t, out: o, done: make(chan struct{}), online: make(chan struct{}), taken: make(chan struct{}), ready: make(chan struct{})}
	if o.Result == nil {
		r.out.Tests = r.untested(nothingNew)
	}
	r.out.Task, r.out.Mends, r.out.Agent, r.out.Model = t.Text, t.mends, t.Agent.Name, t.Model
	r.out.WorkTree, r.out.Created = s.Repo.Key(), s.Now()
	if t.Agent.Name == agent.ExecName {
		r.out.Argv = t.Agent.Argv
	}
	return r
}

// claimID finds a free name and holds its lock, by which others see that the
// task is alive.
func (s *Session) claimID(ctx context.Context) (string, func(), error) {
	refs, err := s.Repo.Refs(ctx, "refs/ftl/")
	if err != nil {
		return "", nil, err
	}
	for {
		id, err := snapshot.NewID(func(id string) bool {
			_, err := s.Repo.ReadState("tasks/" + id + ".json")
			_, result := refs[resultRef(id)]
			_, snap := refs["refs/ftl/snapshots/"+id]
			return err == nil || result || snap
		})
		if err != nil {
			return "", nil, err
		}
		unlock, held, err := s.Repo.TryLock("task-" + id)
		if err != nil || held {
			return id, unlock, err
		}
	}
}
