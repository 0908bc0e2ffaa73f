//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// endGently lets git remove its locks when it is stopped, which a kill would not.
func endGently(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
}

// setApart gives a command a process group of its own.
func setApart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
