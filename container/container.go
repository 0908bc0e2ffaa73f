// Package container gives an agent a sandbox: it finds a warm one or makes one,
// makes its workspace equal to a base, runs commands in it, and brings back what
// changed as the raw bytes of a patch.
//
// A sandbox has no network, holds no secret, and sees of the host the one
// read-only export that its task starts from. It is ours only if a record in
// the state folder names its id and its label carries the installation's nonce;
// the lock that claims it is held for the whole task, so two tasks never share
// one. All that comes out of it, the guest's own words included, is hostile:
// sizes and times are bounded here, content is judged by the caller.
//
// The package knows nothing of git, patches or secrets. It never prints and
// never reads the environment.
package container

import (
	"context"
	"errors"
	"io"
	"time"
)

// Errors that callers branch on.
var (
	ErrNoEngine = errors.New("no container engine answers")
	ErrNoImage  = errors.New("image is not there")
	ErrBusy     = errors.New("sandbox is in use")
	ErrHeld     = errors.New("sandbox holds unsaved work")
	ErrGone     = errors.New("sandbox is gone")
	ErrDied     = errors.New("the guest died")                    // of the sandbox; the next request starts another
	ErrTooBig   = errors.New("the change is larger than allowed") // the workspace keeps it
)

// Engine is what every engine can do: make, start, stop and remove a sandbox,
// find those with given labels, and talk to a process inside it.
type Engine interface {
	// Resolve fills in what the engine decides: the image as its id, and no Export
	// where it cannot mount folders of this machine. The errors are ErrNoImage or
	// say why the image is refused.
	Resolve(ctx context.Context, s Spec) (Spec, error)
	// Create makes a stopped sandbox from a resolved spec, with the guest in it and
	// limits of the engine's own choice for those that are 0.
	// Where its own check shows that s.Export cannot be mounted, it is not.
	Create(ctx context.Context, s Spec) (id string, err error)
	// Start runs the guest's init as the first process; a running sandbox is left
	// as it is, a paused one goes on.
	Start(ctx context.Context, id string) error
	// Attach starts argv as root with an empty environment. The stream is its
	// standard input and output; closing it ends both. Errors of a Read carry what
	// the process wrote to standard error.
	Attach(ctx context.Context, id string, argv []string) (io.ReadWriteCloser, error)
	// Stop kills every process of the sandbox; its files stay. oom tells whether
	// the engine killed one for memory since the sandbox was started.
	Stop(ctx context.Context, id string) (oom bool, err error)
	// Remove deletes the sandbox with its files; one that is gone is no error.
	Remove(ctx context.Context, id string) error
	// List gives the sandboxes, running or not, that carry all the labels.
	List(ctx context.Context, labels map[string]string) ([]Info, error)
}

// Spec says what a sandbox is made of. A sandbox whose Image, Memory, CPUs,
// Pids, Runtime or Guest is not as wanted is replaced, not reused.
type Spec struct {
	Name    string            // of the sandbox; for Acquire the work tree's, to which a number is added
	Image   string            // reference or id
	Memory  int64             // bytes; 0 for half of what the engine has, at least 2 GiB
	CPUs    float64           // 0 for all but one, at least one
	Pids    int64             // processes and threads; 0 for 1024
	Disk    int64             // bytes that a run may grow the sandbox by; 0 for no bound
	Runtime string            // of the engine ("runsc"); "" for its default
	Labels  map[string]string // more labels, for people and tools
	Export  string            // host folder with tree/ and objects/; Acquire chooses it
	Guest   Binary            // the guest for the image's architecture
	Fresh   bool              // start over: take no sandbox that served before
	Idle    time.Duration     // until an unused sandbox stops; 0 for 15 minutes
}

// Info is one sandbox. List of an Engine fills ID, Name, State and Labels; List
// of a Pool all of it.
type Info struct {
	ID       string            // the engine's
	Name     string            // the engine's in an Engine's list, the record's in a Pool's
	State    State             //
	Labels   map[string]string //
	Busy     bool              // a task holds it
	Holds    string            // the task whose unsaved work it holds, or ""
	Image    string            // id of the image it is made of; of a Pool only
	Created  time.Time         //
	LastUsed time.Time         // end of its last task
}

// State of a sandbox.
type State string

// States. A stopped sandbox keeps its files and starts within a second.
const (
	Running State = "running"
	Paused  State = "paused"
	Stopped State = "stopped"
	Gone    State = "gone" // recorded, but the engine has it no more
)

// Labels of a sandbox. They only find it: what they say is easily copied.
const (
	labelOwner = "git-ftl.owner" // nonce of the installation
	labelDir   = "git-ftl.dir"   // state folder
	labelName  = "git-ftl.sandbox"
)

// Places of the guest inside a sandbox.
const (
	guestDir    = "/.ftl"
	guestPrefix = guestDir + "/guest-"
)

func (s Spec) guestPath() string { return guestPrefix + s.Guest.Version }
