package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	scoreFile = "/proc/self/oom_score_adj"
	oomScore  = "600" // agents die before the guest
)

// Harden prepares the guest itself, once and before any other use of this
// package: no signal of a broken pipe or terminal ends it, its children can gain
// no privileges, leave no core files and get the usual umask, and threads are at
// hand for when the process limit is reached.
func Harden() error {
	// Ignored signals would stay ignored in children; caught ones do not.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE, unix.SIGHUP)
	if err := defaultSignals(); err != nil {
		return err
	}
	unix.Umask(0o022)
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	// A program that links C code has no way to tell all threads.
	_, _, e := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	if e != 0 && !errors.Is(e, syscall.ENOTSUP) {
		return fmt.Errorf("forbid new privileges: %w", e)
	}
	warmThreads(24)
	return nil
}

// defaultSignals takes back what the engine's own start may have left ignored:
// two of the C library's signals, which Go does not touch and children would
// inherit. The one between them is Go's own.
func defaultSignals() error {
	var def struct{ handler, flags, restorer, mask uint64 } // the kernel's sigaction on 64 bits
	for _, sig := range []uintptr{32, 34} {
		_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&def)), 0, 8, 0, 0)
		if e != 0 {
			return fmt.Errorf("reset signal %d: %w", sig, e)
		}
	}
	return nil
}

// warmThreads has the runtime make threads that it keeps.
func warmThreads(n int) {
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	ready.Add(n)
	for range n {
		done.Go(func() {
			runtime.LockOSThread()
			ready.Done()
			<-gate
			runtime.UnlockOSThread()
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
}

// NewRunner returns a runner of commands that start below root.
func NewRunner(root string, uid int) *Runner {
	score, _ := os.ReadFile(scoreFile)
	return &Runner{Root: root, UID: uid, score: strings.TrimSpace(string(score))}
}

// withOOMScore raises the guest's own score while fork runs, since a child
// inherits it: set afterwards, a child's first children could escape it. Where
// the engine forbids to raise it all run with one score.
func (r *Runner) withOOMScore(fork func()) error {
	r.fork.Lock()
	defer r.fork.Unlock()
	raised := os.WriteFile(scoreFile, []byte(oomScore), 0) == nil
	fork()
	if !raised {
		return nil
	}
	return os.WriteFile(scoreFile, []byte(r.score), 0)
}
