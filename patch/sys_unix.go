//go:build unix

package patch

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// permBits are the bits of a mode that a file keeps and gets back.
const permBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// noFollow opens a file and neither follows a link nor waits for a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// renameInto moves a name of one folder into another, both of them held open,
// so that no component of a path is walked again.
func renameInto(from *os.Root, name string, to *os.Root, target string) error {
	a, err := from.Open(".")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := to.Open(".")
	if err != nil {
		return err
	}
	defer b.Close()
	err = unix.Renameat(int(a.Fd()), name, int(b.Fd()), target)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: target, Err: err}
	}
	return nil
}

// setLinkTime sets the time of a symlink itself, in nanoseconds since 1970.
func setLinkTime(path string, ns int64) error {
	ts := unix.NsecToTimespec(ns)
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

// sameDevice reports whether a file can be renamed from one folder to the
// other.
func sameDevice(a, b fs.FileInfo) bool {
	x, ok1 := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok1 && ok2 && x.Dev == y.Dev
}

func crossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }
