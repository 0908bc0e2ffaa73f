package proc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// terminal makes a pseudo-terminal of the agent's user.
func (p *Process) terminal() ([]*os.File, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	p.tty, p.stdin = master, master
	p.outs = []output{{wire.Stdout, master}}
	var number int
	err = control(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("unlock terminal: %w", err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	err = errors.Join(slave.Chown(p.run.UID, p.run.UID), slave.Chmod(0o620), p.Resize(p.cmd.Rows, p.cmd.Cols))
	return []*os.File{slave, slave, slave}, err
}

// Resize sets the size of the terminal, in characters.
func (p *Process) Resize(rows, cols uint16) error {
	if p.tty == nil || rows == 0 || cols == 0 {
		return nil
	}
	return control(p.tty, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
}

func control(f *os.File, call func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = call(int(fd)) })
	return errors.Join(err, inner)
}
