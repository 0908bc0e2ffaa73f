//go:build unix

package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/git-ftl/git-ftl/container"
)

// endSignals are those that ask a command to end.
func endSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

// restrictUmask makes what git-ftl writes for itself (snapshots, results, state)
// readable by the user alone, and returns the user's own umask.
func restrictUmask() os.FileMode {
	return os.FileMode(syscall.Umask(0o077))
}

// asUser runs f, which writes nothing but what is the user's own, under their
// umask. Nothing else may write meanwhile.
func (a *app) asUser(f func() error) error {
	defer syscall.Umask(syscall.Umask(int(a.umask)))
	return f()
}

// keepPipes makes a write to a closed pipe an error, where it would end git-ftl
// in the middle of a task. Children get the system's default again, as a pager
// needs it.
func keepPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// brokenPipe reports whether nobody reads a pipe any more.
func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// watchSize sends the terminal's size whenever it changes, until stop.
func watchSize(f *os.File, to chan<- container.TTY) (stop func()) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for range changed {
			if cols, rows, err := term.GetSize(int(f.Fd())); err == nil {
				to <- container.TTY{Rows: uint16(rows), Cols: uint16(cols)}
			}
		}
	}()
	return func() {
		signal.Stop(changed)
		close(changed)
	}
}

// canSuspend says that a terminal has a key that suspends.
const canSuspend = true

// watchSuspend makes Ctrl-Z a signal like others, which does not stop git-ftl.
func watchSuspend(c chan<- os.Signal) { signal.Notify(c, syscall.SIGTSTP) }

// stopJob stops git-ftl with the git that started it, as Ctrl-Z does to other
// programs, until their shell lets them go on.
func stopJob() {
	if !hasJobs() {
		return
	}
	caught := make(chan os.Signal, 1) // git stops by its signal, git-ftl by one that it cannot lose
	signal.Notify(caught, syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	stopSelf()
	signal.Stop(caught)
}

// stopSelf stops git-ftl, where the terminal has stopped git already.
func stopSelf() {
	if hasJobs() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
}

// hasJobs reports whether a shell started us as a job of its own, so that it can
// let us go on.
func hasJobs() bool {
	session, err := unix.Getsid(0)
	return err == nil && session != syscall.Getpgrp()
}

// wakeParent lets git, which Ctrl-Z has stopped with us, see that we have ended.
func wakeParent() { _ = syscall.Kill(0, syscall.SIGCONT) }

// ownSession keeps the terminal's signals from a process.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
