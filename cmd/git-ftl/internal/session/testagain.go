package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/patch"
)

// Testing says how tests are run once more.
type Testing struct {
	Write     bool             // have new ones written, beside those that there are
	Interrupt <-chan os.Signal // the first one ends them, a second one kills what they run
}

// Test runs the tests of a task on the tree that it started from and on its result,
// whatever of it was applied, and keeps the verdict in its record. Where there are
// none, the tester writes some. Only what keeps them from running is an error:
// ErrNothingToRun, ErrRunning, patch.ErrForeign, ErrInterrupted, container.ErrNoEngine.
func (s *Session) Test(ctx context.Context, result patch.Result, how Testing) (Outcome, error) {
	r, unlock, err := s.ended(ctx, result, how)
	if err == nil {
		defer unlock()
		err = r.retested(ctx)
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("test %s: %w", result.ID, err)
	}
	return r.out, nil
}

// retested runs the tests and keeps their verdict.
func (r *run) retested(ctx context.Context) error {
	r.soft, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	go r.watch(ctx)
	defer close(r.done)
	defer r.task.Beside.join()()
	tests, err := r.retest(r.soft)
	switch {
	case r.interrupted():
		return errInterrupted
	case err != nil:
		return err
	case r.tests.idle() && r.tests.why != "":
		return fmt.Errorf("%w: %s", ErrNothingToRun, r.tests.why)
	case r.tests.idle():
		return ErrNothingToRun
	}
	if err := r.keepTests(tests); err != nil {
		return err
	}
	r.amend(ctx, "verdict of the tests", tests.Of, tests.into)
	return nil
}

func (r *run) retest(ctx context.Context) (Tests, error) {
	if err := r.reload(ctx); err != nil {
		return Tests{}, err
	}
	r.beginTests(ctx)
	return r.testResult(ctx)
}

// ended makes a task that has ended one under way, for its tests, and holds its
// lock.
func (s *Session) ended(ctx context.Context, result patch.Result, how Testing) (*run, func(), error) {
	if result.State == patch.Foreign {
		return nil, nil, patch.ErrForeign
	}
	unlock, err := s.reclaim(ctx, result.ID)
	if err != nil {
		return nil, nil, err
	}
	out, err := s.Task(result.ID)
	if errors.Is(err, fs.ErrNotExist) {
		err = patch.ErrForeign
	}
	if err == nil {
		s, err = s.of(ctx, out)
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	t := Task{Text: out.Task, Beside: &Attempts{}, Interrupt: how.Interrupt, again: true, write: how.Write}
	return &run{Session: s, task: t, out: out, done: make(chan struct{}), ready: make(chan struct{})}, unlock, nil
}

// reload finds what the tests of a task that has ended need: secrets, snapshot,
// image.
func (r *run) reload(ctx context.Context) error {
	if err := errors.Join(r.knowSecrets(ctx), r.startedFrom(ctx)); err != nil {
		return err
	}
	// Tests are written for what the task started from, not for what it made.
	r.start, r.startTree = r.snap.Commit, r.snap.Tree
	if _, err := r.scanner(r.snap.LeftOut); err != nil {
		return err
	}
	if r.Config.Setup != "" {
		had := r.out
		if err := r.gather(ctx); err != nil {
			return err
		}
		r.out = had // which says what the agent had
	}
	var err error
	r.image, err = r.imageOf(ctx)
	return err
}

// imageOf is the image that a task had, or the one that the next task takes where
// that is gone.
func (r *run) imageOf(ctx context.Context) (container.Image, error) {
	e, err := r.Engine(ctx)
	if err != nil {
		return container.Image{}, err
	}
	defer e.Close()
	image, err := e.Image(ctx, r.out.Image)
	if r.out.Image == "" || errors.Is(err, container.ErrNoImage) {
		_, progress, flush := r.output()
		image, err = r.Image(ctx, e, progress)
		flush()
	}
	return r.withEnv(image), err
}
