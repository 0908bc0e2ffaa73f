package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// asked is closed once a signal has asked the command to end.
type asked struct {
	once sync.Once
	done chan struct{}
}

func newAsked() *asked { return &asked{done: make(chan struct{})} }

func (k *asked) close() { k.once.Do(func() { close(k.done) }) }

// context ends at the first signal.
func (a *app) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-a.signals:
			a.asked.close()
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// signalLag is how much later a signal may reach us than a git that we run.
const signalLag = 500 * time.Millisecond

// cut reports whether a signal that asked the command to end is why it failed: the
// terminal sends its own to every git that we run, and what they leave undone fails
// in many ways.
func (a *app) cut(err error) bool {
	switch explain(err, a.env).code {
	case exitFailed, exitUsage: // the latter where settings could not be read
	default:
		return false
	}
	select {
	case <-a.asked.done:
		return true
	case <-a.signals:
		return true
	default:
	}
	if !broken(err) {
		return false
	}
	select {
	case <-a.asked.done:
		return true
	case <-a.signals:
		return true
	case <-time.After(signalLag):
		return false
	}
}

// broken reports whether a program of ours may have died in the middle.
func broken(err error) bool {
	var call *git.ExitError
	var exit *exec.ExitError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || brokenPipe(err) ||
		errors.As(err, &call) && call.Code < 0 || errors.As(err, &exit) && exit.ExitCode() < 0
}
