// Package workspace makes the agent's folder equal to a base and says how it
// differs later. A root-only manifest holds what stat said of each file right
// after a reset, so that cost follows the change: a file whose stat is the same
// was not touched, and ctime cannot be forged without the clock.
//
// The content of the workspace is hostile. Every access starts from a folder's
// descriptor and follows no link, nothing but a regular file is opened, sizes are
// compared before bytes, and depth, entries and bytes have bounds. The caller
// must have ended every process of the agent before Reset and Scan.
package workspace

import (
	"errors"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

var (
	// ErrStale says that the workspace is at another base, or damaged: a reset
	// must bring every file.
	ErrStale = errors.New("the workspace is not at this base")
	// ErrTooBig says that the change, or the number of files, is over a bound.
	ErrTooBig = errors.New("the workspace is too big")
)

// Bounds on what the agent may leave behind.
const (
	maxEntries = 1_000_000
	maxPath    = 4095      // bytes; git and the kernel know no longer ones
	maxFile    = 512 << 20 // bytes of one changed file
	maxTotal   = 1 << 30   // bytes of all changed files
)

// Modes of git.
const (
	modeFile    = 0o100644
	modeExec    = 0o100755
	modeLink    = 0o120000
	modeGitlink = 0o160000
)

// Space names the folders of one sandbox and the agent's user.
type Space struct {
	Root    string   // the agent's workspace
	Tree    string   // files of the base
	Objects string   // git objects of the base, as the agent sees the path
	State   string   // root-only folder for the manifest
	Home    string   // of the agent
	Skel    string   // its files start a new home
	Temp    []string // folders that a reset empties; absent ones are skipped
	UID     int      // of the agent, also its gid
}

// Sandbox returns the places of a real sandbox.
func Sandbox() Space {
	return Space{
		Root: wire.Workspace, Tree: wire.Tree, Objects: wire.Objects, State: wire.State, Home: wire.Home, Skel: "/etc/skel",
		Temp: []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"},
		UID:  wire.UID,
	}
}
