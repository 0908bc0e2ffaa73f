// Package session runs one task end to end: snapshot, sandbox, agent, patch,
// pending result. It reads as the story of that and leaves the work to the
// packages that own its nouns.
//
// It promises that every way a task can end leaves the agent's change on a ref,
// or in a sandbox that is held until the next command has stored it. It never
// touches the user's files, index, HEAD or config.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// errInterrupted is the cause of a context that a person ended.
var errInterrupted = errors.New("interrupted")

// Session is what tasks of one work tree share. Its fields are set by the
// caller and not changed later.
type Session struct {
	Repo   *git.Repo
	Config *config.Config
	Env    []string // the caller's environment: names the engine, nothing else
	Home   string   // the caller's home folder, for the engine's contexts
	Report Reporter
	Queue  *patch.Queue
	Store  *snapshot.Store
	Now    func() time.Time
}

// Reporter shows a task as it goes on. It is safe for concurrent use: the
// sandbox boots beside the snapshot.
type Reporter interface {
	Begin(o Outcome)                            // the snapshot is taken
	Stage(name, result string, d time.Duration) // a stage has ended
	Agent() (stdout, stderr io.Writer)          // where the agent's raw, hostile output goes
	Note(text string)                           // one line that the user should know
}

// Task is what to do and how.
type Task struct {
	Text      string // what the user asked for, any length
	Agent     agent.Agent
	Model     string
	Fresh     bool             // start over with a new sandbox
	Clean     bool             // let no ignored folder stay in the workspace
	Interrupt <-chan os.Signal // the first one asks the agent to stop, a second one kills it
}

// run is one task under way.
type run struct {
	*Session
	task   Task
	out    Outcome
	snap   snapshot.Snapshot
	engine *engine
	image  container.Image
	box    *container.Sandbox
	soft   context.Context // ends at the first interrupt
	stop   context.CancelCauseFunc
	done   chan struct{} // closed when the task is over
	ready  chan struct{} // closed when the agent may start: box is set

	held      bool // the sandbox is marked as the only place of the change
	collected bool // the change, if any, is stored
}

// Run does a task. The Outcome is whole whenever the task began, also beside an
// error: then its status says how far it came.
func (s *Session) Run(ctx context.Context, t Task) (Outcome, error) {
	if err := s.Recover(ctx); err != nil {
		return Outcome{}, err
	}
	r, release, err := s.begin(ctx, t)
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	if err := r.prepare(); err != nil {
		return r.fail(ctx, err)
	}
	if err := r.collect(ctx, r.work(ctx)); err != nil {
		return r.fail(ctx, err)
	}
	return r.out, s.finished(r.out)
}

// begin gives the task its name and its record, and watches for interrupts.
func (s *Session) begin(ctx context.Context, t Task) (*run, func(), error) {
	id, unlock, err := s.claimID(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := &run{Session: s, task: t, out: newOutcome(id), done: make(chan struct{}), ready: make(chan struct{})}
	r.out.Task, r.out.Agent, r.out.Model = t.Text, t.Agent.Name, t.Model
	r.out.WorkTree, r.out.Created = s.Repo.Key(), s.Now()
	if err := errors.Join(s.save(r.out), s.Repo.WriteState("running/"+id, nil)); err != nil {
		unlock()
		return nil, nil, err
	}
	r.soft, r.stop = context.WithCancelCause(ctx)
	go r.watch(ctx)
	return r, func() {
		close(r.done)
		r.stop(nil)
		if r.box != nil {
			_ = r.box.Release()
		}
		if r.engine != nil {
			_ = r.engine.Close()
		}
		unlock()
	}, nil
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

// again is how much later an interrupt has to come to be a second one: at Ctrl-C
// the terminal sends one and git, which started us, passes its own on.
const again = time.Second

// watch turns interrupts into an end of the soft context, and a second one into
// a kill of all that runs in the sandbox.
func (r *run) watch(ctx context.Context) {
	var first time.Time
	for {
		select {
		case <-r.done:
			return
		case _, ok := <-r.task.Interrupt:
			if !ok {
				return
			}
		}
		now := r.Now()
		if first.IsZero() {
			first = now
			r.stop(errInterrupted)
		}
		select {
		case <-r.ready:
			if now.Sub(first) >= again {
				_ = r.box.Kill(ctx)
			}
		default:
		}
	}
}

// fail ends a task that could not go on, and says why in its record. Where the
// sandbox still has a change that may be had later, the task stays among the
// running ones, for the next command to finish.
func (r *run) fail(ctx context.Context, why error) (Outcome, error) {
	r.out.Status, r.out.Error = Failed, strings.ReplaceAll(why.Error(), "\n", "; ")
	if r.interrupted() {
		r.out.Status = Interrupted
		if !r.held {
			why = errInterrupted
		}
	}
	r.out.Kept = errors.As(why, new(*refusedError))
	if r.held && !r.out.Kept {
		return r.out, errors.Join(why, r.save(r.out))
	}
	return r.out, errors.Join(why, r.end(ctx))
}

func (r *run) interrupted() bool { return errors.Is(context.Cause(r.soft), errInterrupted) }

// end writes the last record and takes the task out of the running ones. The
// record comes first: a task that has ended is never collected again, so that its
// sandbox may be given to another before the rest is done.
func (r *run) end(ctx context.Context) error {
	r.out.Ended = r.Now()
	if err := r.save(r.out); err != nil {
		return err
	}
	if r.out.Result != nil {
		if err := r.note(ctx); err != nil {
			r.Report.Note(fmt.Sprintf("the note of %s could not be written: %v", r.out.ID, err))
		}
	}
	if r.held && r.collected {
		if err := r.box.Unhold(); err != nil {
			return err
		}
	}
	for _, folder := range []string{"spool", "running"} {
		if err := os.Remove(r.Repo.Path(folder, r.out.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// stage ends a stage that began at start.
func (r *run) stage(name, result string, start time.Time) {
	d := r.Now().Sub(start)
	r.out.Stages = append(r.out.Stages, Stage{Name: name, Millis: float64(d.Microseconds()) / 1000})
	r.Report.Stage(name, result, d)
}
