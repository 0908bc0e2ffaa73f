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
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/transcript"
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
	Repo    *git.Repo
	Config  *config.Config
	Env     []string // the caller's environment: names the engine, and what settings take from it
	Home    string   // the caller's home folder, for the engine's contexts
	Report  Reporter
	Keeper  Keeper              // opens the user's vault; nil is none
	Peek    Keeper              // opens it where that needs nobody and no time; nil is none
	Tools   Tools               // reads which package registries the user's own tools have; nil is none
	UserDir string              // the user's folder for git-ftl; "" where there is no home
	Wheels  Wheels              // what is pinned of an agent that is a program of Python; nil is agent.WheelOf
	Tell    func(error) Failure // how an error is told to a person, for transcripts
	Queue   *patch.Queue
	Store   *snapshot.Store
	Now     func() time.Time

	Patience time.Duration // that one question to a model may take; 0 is what is usual
}

// Task is what to do and how.
type Task struct {
	Text       string // what the user asked for, any length
	Agent      agent.Agent
	Model      string
	Fresh      bool             // start over with a new sandbox
	Clean      bool             // let no ignored folder stay in the workspace
	Use        []string         // names of secrets that may be used where that needs the user's word
	Attach     []Attachment     // files that go along
	Of         string           // ID of the task that it follows up; "" for a new one
	Replay     *agent.Agent     `json:",omitempty"` // takes the place of an agent whose conversation is gone
	NoReview   bool             // let no model review the result
	NoTests    bool             // let no tests be written or run
	Fix        int              // how often failing tests go back to the agent
	Mend       Mend             `json:"-"` // makes the task of such a turn; nil where Fix is 0
	FromResult bool             // a follow-up leaves alone what was edited since
	Beside     *Attempts        `json:"-"` // what it shares with other attempts at the same; nil for one alone
	Interrupt  <-chan os.Signal `json:"-"` // the first one asks the agent to stop, a second one kills it

	mends bool // it is a turn of Mend: no new tests are written
	again bool // its tests run once more
	write bool // and new ones are written beside those that there are
}

// run is one task under way.
type run struct {
	*Session
	task             Task
	out              Outcome
	from             *followed // nil where it is the first turn
	snap             snapshot.Snapshot
	start, startTree plumbing.Hash // commit and its tree that the workspace starts from
	engine           *engine
	image            container.Image
	box              *container.Sandbox
	soft             context.Context // ends at the first interrupt
	stop             context.CancelCauseFunc
	log              *transcript.Writer // nil where it cannot be written
	done             chan struct{}      // closed when the task is over
	online           chan struct{}      // closed when the engine has answered, or has not
	taken            chan struct{}      // closed when the snapshot is there, or cannot be had
	ready            chan struct{}      // closed when the agent may start: box is set

	secret secrets
	egress *egress   // nil where the sandbox has no way out
	part   string    // of the task, in the name of its audit; "" for the agent's
	tests  *baseline // nil where there are none

	held      bool // the sandbox is marked as the only place of the change
	collected bool // the change, if any, is stored
}

// Run does a task, and as often as it says the turns that mend what fails of its
// tests. The Outcome is that of the last turn, and whole whenever the task began, also
// beside an error: then its status says how far it came.
func (s *Session) Run(ctx context.Context, t Task) (Outcome, error) {
	if t.Beside == nil {
		t.Beside = &Attempts{}
	}
	leave := sync.OnceFunc(t.Beside.join())
	defer leave()
	if err := s.Recover(ctx); err != nil {
		return Outcome{}, err
	}
	r, unlock, err := s.admit(ctx, t)
	if err != nil {
		return Outcome{}, err
	}
	defer unlock()
	defer leave()
	err = r.turn(ctx)
	return s.mend(ctx, r, err)
}

// turn does what was claimed and announced.
func (r *run) turn(ctx context.Context) error {
	release := r.begin(ctx)
	defer release()
	err := r.do(ctx)
	r.over(err)
	return err
}

func (r *run) do(ctx context.Context) error {
	if err := r.prepare(); err != nil {
		return r.fail(ctx, err)
	}
	r.beginTests(ctx)
	err := r.work(ctx)
	r.leaveNetwork()
	if err := r.collect(ctx, err); err != nil {
		return r.fail(ctx, err)
	}
	r.verify(ctx)
	return r.finished(r.out)
}

// over tells how the task ended, and closes its transcript. A transcript that
// could not be written is no fault of the task.
func (r *run) over(err error) {
	end := Event{Kind: EventEnd, Outcome: &r.out}
	if err != nil {
		told := r.Tell(err)
		end.Failure = &told
	}
	r.tell(end)
	if r.log == nil {
		return
	}
	if err := r.log.Close(); err != nil {
		r.Session.note(err.Error())
	}
}

// begin keeps a transcript and watches for interrupts, until release.
func (r *run) begin(ctx context.Context) (release func()) {
	var err error
	if r.log, err = transcript.Create(r.Repo.Path("transcripts", r.out.ID), r.out.Turn); err != nil {
		r.Session.note(fmt.Sprintf("the transcript of %s cannot be kept: %v", r.out.ID, err))
	}
	r.soft, r.stop = context.WithCancelCause(ctx)
	go r.watch(ctx)
	return func() {
		close(r.done)
		r.leaveNetwork()
		r.stop(nil)
		if r.box != nil {
			_ = r.box.Release()
		}
		if r.engine != nil {
			_ = r.engine.Close()
		}
	}
}

// Again is how much later an interrupt has to come to be a second one: at Ctrl-C
// the terminal sends one and git, which started us, passes its own on.
const Again = 500 * time.Millisecond

// watch turns interrupts and the marks of Stop into an end of the soft context,
// and a second one into a kill of all that runs in the sandbox.
func (r *run) watch(ctx context.Context) {
	tick := time.NewTicker(stopPoll)
	defer tick.Stop()
	interrupts := r.task.Interrupt
	var first time.Time
	for killed := false; !killed; {
		kill := false
		select {
		case <-r.done:
			return
		case _, ok := <-interrupts:
			if !ok {
				interrupts = nil
				continue
			}
			kill = !first.IsZero() && r.Now().Sub(first) >= Again
		case <-tick.C:
			asked := r.stopsAsked(r.out.ID)
			if asked == 0 {
				continue
			}
			kill = asked > 1
		}
		if first.IsZero() {
			first = r.Now()
			r.stop(errInterrupted)
		}
		killed = kill && r.kill(ctx)
	}
}

// kill ends all that runs in the sandboxes; false where there is none yet.
func (r *run) kill(ctx context.Context) bool {
	select {
	case <-r.ready:
		killed := r.box.Kill(ctx) == nil
		return r.task.Beside.kill(ctx, r.out.ID) || killed
	default:
		return r.task.Beside.kill(ctx, r.out.ID)
	}
}

// fail ends a task that could not go on, and says why in its record. Where the
// sandbox still has a change that may be had later, the task stays among the
// running ones, for the next command to finish.
func (r *run) fail(ctx context.Context, why error) error {
	r.out.Status, r.out.Error = Failed, strings.ReplaceAll(why.Error(), "\n", "; ")
	if r.interrupted() {
		r.out.Status = Interrupted
		if !r.held {
			why, r.out.Error = errInterrupted, "it was interrupted before the agent began"
		}
	}
	if r.from != nil && !r.held {
		return errors.Join(why, r.undoTurn(ctx))
	}
	r.out.Kept = errors.As(why, new(*refusedError))
	if r.held && !r.out.Kept {
		return errors.Join(why, r.save(ctx, r.out))
	}
	return errors.Join(why, r.end(ctx))
}

func (r *run) interrupted() bool { return errors.Is(context.Cause(r.soft), errInterrupted) }

// end writes the last record and takes the task out of the running ones. The
// record comes first: a task that has ended is never collected again, so that its
// sandbox may be given to another before the rest is done.
func (r *run) end(ctx context.Context) error {
	if r.out.Ended.IsZero() {
		r.out.Ended = r.Now()
	}
	if err := r.save(ctx, r.out); err != nil {
		return err
	}
	if r.out.Result != nil {
		if err := r.annotate(ctx, r.out); err != nil {
			r.note(fmt.Sprintf("the note of %s could not be written: %v", r.out.ID, err))
		}
	}
	if r.held && r.collected {
		if err := r.box.Unhold(); err != nil {
			return err
		}
	}
	return r.leave(ctx)
}

// leave takes a task out of the running ones.
func (r *run) leave(ctx context.Context) error {
	if r.out.Start != r.out.Snapshot && !r.out.Kept {
		if err := r.Repo.UpdateRefs(ctx, "", git.RefUpdate{Name: startRef(r.out.ID), Any: true}); err != nil {
			return err
		}
	}
	for _, folder := range []string{"spool", "stop", "running"} {
		if err := os.Remove(r.Repo.Path(folder, r.out.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// stage ends a stage that began at start.
func (r *run) stage(name, result string, start time.Time) {
	r.stageOf(Event{Stage: name, Result: result}, start)
}

func (r *run) stageOf(e Event, start time.Time) {
	e.Kind, e.Millis = EventStage, millis(r.Now().Sub(start))
	r.out.Stages = append(r.out.Stages, Stage{Name: e.Stage, Millis: e.Millis})
	r.tell(e)
}
