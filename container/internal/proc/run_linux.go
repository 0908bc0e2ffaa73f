package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

const (
	drainTime = 2 * time.Second // for output of a child that outlives the main process
	stopTime  = 3 * time.Second // between SIGTERM and SIGKILL when the disk is full
)

// Runner starts commands as one user.
type Runner struct {
	Root  string // the workspace
	UID   int    // of the processes, also their gid
	score string // of the guest
	fork  sync.Mutex
}

// Command is one run and where its bytes go.
type Command struct {
	wire.Run
	Input  io.Reader                             // ends with the run's standard input
	Hangup func()                                // makes a waiting Read of Input return
	Emit   func(stream byte, frame []byte) error // called by one goroutine at a time
}

// Process is a started command.
type Process struct {
	run   *Runner
	cmd   Command
	proc  *os.Process
	tty   *os.File // the terminal's master side, nil without one
	stdin *os.File
	outs  []output
	emit  sync.Mutex
	mu    sync.Mutex
	done  bool
	full  bool
	start wire.RunNote
	disk  diskGuard
}

type output struct {
	stream byte
	file   *os.File
}

// Wait streams until the main process has ended and its output is closed, or
// was open for 2 seconds more. When ctx ends or Emit fails, the process is
// killed. It returns the exit code, 128+N for signal N.
func (p *Process) Wait(ctx context.Context) (int, wire.RunNote) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var outs, in sync.WaitGroup
	if p.stdin != nil {
		in.Go(func() { p.feed(cancel) })
	}
	for _, o := range p.outs {
		outs.Go(func() {
			if err := p.drain(o); err != nil {
				cancel()
			}
		})
	}
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { p.watch(ctx, ended) })
	state, err := p.proc.Wait()
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
	close(ended)
	watch.Wait()
	for _, o := range p.outs {
		o.file.SetReadDeadline(time.Now().Add(drainTime))
	}
	outs.Wait()
	p.close()
	p.cmd.Hangup()
	in.Wait()
	note := limits()
	note.OOM, note.Pids, note.Disk = note.OOM-p.start.OOM, note.Pids-p.start.Pids, p.full
	return exitCode(state, err), note
}

func exitCode(state *os.ProcessState, err error) int {
	if err != nil {
		return 1
	}
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// feed copies standard input. A read error is a host that is gone.
func (p *Process) feed(gone func()) {
	buf := make([]byte, 32<<10)
	for {
		n, err := p.cmd.Input.Read(buf)
		if _, werr := p.stdin.Write(buf[:n]); werr != nil {
			return
		}
		if err == nil {
			continue
		}
		if err != io.EOF {
			gone()
		} else if p.tty != nil {
			p.stdin.Write([]byte{4}) // end of file, for a terminal
			return
		}
		p.stdin.Close()
		return
	}
}

// drain sends what the process writes. After the deadline it takes what the
// pipe holds by then, so that a slow host loses nothing.
func (p *Process) drain(o output) error {
	buf := make([]byte, wire.MaxFrame)
	for {
		n, err := o.file.Read(buf)
		if n > 0 {
			if err := p.send(o.stream, buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return p.rest(o, buf)
		}
		if err != nil {
			return nil
		}
	}
}

func (p *Process) rest(o output, buf []byte) error {
	left := 0
	if raw, err := o.file.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { left, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	o.file.SetReadDeadline(time.Now().Add(drainTime))
	for left > 0 {
		n, err := o.file.Read(buf[:min(left, len(buf))])
		if n > 0 {
			if err := p.send(o.stream, buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
		left -= n
	}
	return nil
}

func (p *Process) send(stream byte, frame []byte) error {
	p.emit.Lock()
	defer p.emit.Unlock()
	return p.cmd.Emit(stream, frame)
}

// watch ends the process when the host is gone or the disk is full.
func (p *Process) watch(ctx context.Context, ended <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var deadline <-chan time.Time
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			p.Signal(unix.SIGKILL)
			<-ended
			return
		case <-deadline:
			p.Signal(unix.SIGKILL)
		case <-tick.C:
			if !p.full && p.disk.full() {
				p.full = true
				p.Signal(unix.SIGTERM)
				deadline = time.After(stopTime)
			}
		}
	}
}

// Signal reaches every process of the command's session, the one that a
// terminal's shell started too. After the end it does nothing.
func (p *Process) Signal(sig unix.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return nil
	}
	pid := p.proc.Pid
	for _, other := range session(pid) {
		if group, err := unix.Getpgid(other); err == nil && group != pid {
			unix.Kill(other, sig)
		}
	}
	if err := unix.Kill(-pid, sig); err != nil && err != unix.ESRCH {
		return fmt.Errorf("signal %d: %w", pid, err)
	}
	return nil
}

func session(leader int) []int {
	var all []int
	_ = eachProcess(func(pid int) {
		if sid, err := unix.Getsid(pid); err == nil && sid == leader {
			all = append(all, pid)
		}
	})
	return all
}
