package main

import (
	"os"
	"syscall"

	"github.com/git-ftl/git-ftl/container"
)

// endSignals are those that ask a command to end.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// restrictUmask has no meaning here: access follows the folder's list.
func restrictUmask() os.FileMode { return 0o022 }

// asUser runs f.
func (a *app) asUser(f func() error) error { return f() }

// keepPipes has nothing to do: a closed pipe is an error already.
func keepPipes() {}

// brokenPipe reports whether nobody reads a pipe any more.
func brokenPipe(error) bool { return false }

// watchSize has nothing to watch: a console tells no one of its size.
func watchSize(*os.File, chan<- container.TTY) (stop func()) { return func() {} }

// canSuspend says that a terminal has a key that suspends.
const canSuspend = false

// watchSuspend has nothing to watch.
func watchSuspend(chan<- os.Signal) {}

// stopJob and stopSelf have no jobs to stop.
func stopJob() {}

func stopSelf() {}

// wakeParent has no one to wake.
func wakeParent() {}

// ownSession keeps the console's signals from a process.
func ownSession() *syscall.SysProcAttr {
	const detached = 0x8 // DETACHED_PROCESS
	return &syscall.SysProcAttr{CreationFlags: detached | syscall.CREATE_NEW_PROCESS_GROUP}
}
