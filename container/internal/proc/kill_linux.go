package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hostNamespace is the fixed inode of the machine's first PID namespace.
const hostNamespace = "pid:[4026531836]"

// ErrAlive says that a process of the agent outlived its kill.
var ErrAlive = errors.New("a process of the agent is still alive")

// Killer ends all processes of one user, and the System V objects that outlive
// them. It needs no fork, so that it works at the process limit.
type Killer struct {
	uid   int
	calls chan call
}

// call is something to do as the user, on the parked thread.
type call struct {
	do   func() unix.Errno
	done chan error
}

// NewKiller parks one thread that sends the signals. It refuses the machine's
// own PID namespace, where a user's processes are not the agent's.
func NewKiller(uid int) (*Killer, error) {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return nil, fmt.Errorf("find PID namespace: %w", err)
	}
	if ns == hostNamespace || uid == 0 {
		return nil, errors.New("refused to kill processes outside a sandbox")
	}
	k := &Killer{uid: uid, calls: make(chan call)}
	go k.park()
	return k, nil
}

// Close ends the parked thread.
func (k *Killer) Close() { close(k.calls) }

func (k *Killer) park() {
	runtime.LockOSThread()
	for c := range k.calls {
		c.done <- as(k.uid, c.do)
	}
}

func (k *Killer) call(do func() unix.Errno) error {
	c := call{do, make(chan error, 1)}
	k.calls <- c
	return <-c.done
}

// Kill returns once no process of the user is left, after at most 5 seconds
// with ErrAlive. One kill(-1) reaches all at once, where a scan of /proc loses
// against processes that fork and exit. Concurrent calls are fine.
func (k *Killer) Kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if err := k.call(killAll); err != nil {
			return fmt.Errorf("kill processes: %w", err)
		}
		left, err := living(k.uid)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return k.clearIPC()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("process %d: %w", left[0], ErrAlive)
		case <-time.After(pause):
		}
	}
}

// as takes the user's identity for one call, on this thread alone: as root a
// signal would reach every process of the sandbox. The thread goes back at once,
// since a user may signal a thread of its own real id. do makes raw calls only.
func as(uid int, do func() unix.Errno) error {
	id := uintptr(uid)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, id, id, 0); e != 0 {
		return os.NewSyscallError("setresuid", e)
	}
	failed := do()
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0); e != 0 {
		return os.NewSyscallError("setresuid", e)
	}
	if failed != 0 {
		return failed
	}
	return nil
}

func killAll() unix.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL), 0)
	if e == unix.ESRCH {
		return 0
	}
	return e
}

// living lists processes of a user that are no zombies.
func living(uid int) ([]int, error) {
	var left []int
	err := eachProcess(func(pid int) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err == nil && lives(status, uid) {
			left = append(left, pid)
		}
	})
	return left, err
}

// lives reads the lines of a status file. A leader that is a zombie may have
// threads that live.
func lives(status []byte, uid int) bool {
	var dead, single, owned bool
	for line := range bytes.Lines(status) {
		key, value, _ := strings.Cut(string(line), ":")
		fields := strings.Fields(value)
		switch {
		case len(fields) == 0:
		case key == "State":
			dead = fields[0] == "Z" || fields[0] == "X"
		case key == "Threads":
			single = fields[0] == "0" || fields[0] == "1"
		case key == "Uid":
			for _, f := range fields {
				owned = owned || f == strconv.Itoa(uid)
			}
		}
	}
	return owned && !(dead && single)
}

func eachProcess(visit func(pid int)) error {
	dir, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			visit(pid)
		}
	}
	return err
}
