package proc

import (
	"errors"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Init is the sandbox's process 1: it reaps, and returns when nothing else has
// run for idle, or on SIGTERM after it killed all.
func Init(idle time.Duration) error {
	if os.Getpid() != 1 {
		return errors.New("init must be process 1")
	}
	child := make(chan os.Signal, 1)
	signal.Notify(child, unix.SIGCHLD)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM, unix.SIGINT)
	tick := time.NewTicker(min(idle, time.Second))
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-child:
		case <-tick.C:
		case <-stop:
			if err := unix.Kill(-1, unix.SIGKILL); err != unix.ESRCH {
				return err
			}
			return nil
		}
		reap()
		// Time stands still for a paused or suspended sandbox: only ticks that
		// were seen count.
		if alone, err := alone(); err != nil || !alone {
			last = time.Now()
		} else if time.Since(last) >= idle {
			return nil
		}
	}
}

func reap() {
	for {
		pid, err := retryWait()
		if err != nil || pid <= 0 {
			return
		}
	}
}

func retryWait() (int, error) {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != unix.EINTR {
			return pid, err
		}
	}
}

func alone() (bool, error) {
	others := 0
	err := eachProcess(func(pid int) {
		if pid != 1 {
			others++
		}
	})
	return others == 0, err
}
