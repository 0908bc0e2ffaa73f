package git

import (
	"os/exec"
	"syscall"
)

// endGently does nothing: there is no way to ask.
func endGently(*exec.Cmd) {}

// setApart keeps the console's Ctrl-C from a command.
func setApart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
