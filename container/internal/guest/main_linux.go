package guest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/network"
	"github.com/git-ftl/git-ftl/container/internal/proc"
	"github.com/git-ftl/git-ftl/container/internal/wire"
	"github.com/git-ftl/git-ftl/container/internal/workspace"
)

const (
	usage    = "usage: guest init IDLE_SECONDS | serve | version"
	lockTime = 10 * time.Second // for an earlier guest, whose host is gone, to kill all and end
	exitBusy = 75
)

var errBusy = errors.New("busy: another guest holds the workspace")

// Main runs the guest with its arguments, the program's name left out, and
// returns the exit code. It clears the environment of the process: the image
// set it.
func Main(args []string) int {
	os.Clearenv()
	if len(args) == 0 {
		args = []string{""}
	}
	err := run(args[0], args[1:])
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "guest:", err)
	if errors.Is(err, errBusy) {
		return exitBusy
	}
	return 1
}

func run(mode string, args []string) error {
	switch {
	case mode == "init" && len(args) == 1:
		seconds, err := strconv.Atoi(args[0])
		if err != nil || seconds <= 0 {
			return errors.New(usage)
		}
		return proc.Init(time.Duration(seconds) * time.Second)
	case mode == "serve" && len(args) == 0:
		return serve()
	case mode == "version" && len(args) == 0:
		version, err := ownVersion()
		fmt.Println(version)
		return err
	}
	return errors.New(usage)
}

// serve answers on the standard streams until the host closes them, then ends
// every process of the agent.
func serve() error {
	if err := proc.Harden(); err != nil {
		return err
	}
	space := workspace.Sandbox()
	killer, err := proc.NewKiller(space.UID)
	if err != nil {
		return err
	}
	defer killer.Close()
	if err := space.Prepare(); err != nil {
		return err
	}
	unlock, err := lock(space.State)
	if err != nil {
		return err
	}
	defer unlock()
	user, err := workspace.EnsureUser("/etc", space.Home, space.UID)
	if err != nil {
		return fmt.Errorf("name the agent's user: %w", err)
	}
	version, err := ownVersion()
	if err != nil {
		return err
	}
	s := &server{space: space, user: user, killer: killer, runner: proc.NewRunner(space.Root, space.UID), version: version}
	s.network = network.New()
	s.gate.kill, s.gate.up, s.gate.down = killer.Kill, s.network.Up, s.network.Down
	err = s.serve(standard{})
	return errors.Join(err, killer.Kill(context.Background()))
}

// lock waits a moment for the one lock of the workspace.
func lock(state string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(state, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock workspace: %w", err)
	}
	for deadline := time.Now().Add(lockTime); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR || time.Now().After(deadline) {
			f.Close()
			return nil, errBusy
		}
	}
}

// ownVersion is the content hash of the running program.
func ownVersion() (string, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return "", fmt.Errorf("read own program: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read own program: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// standard is the connection to the host.
type standard struct{}

func (standard) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (standard) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (standard) Close() error                { return errors.Join(os.Stdin.Close(), os.Stdout.Close()) }

// mounted tells whether both folders of the base are mounts.
func mounted() bool {
	info, err := os.ReadFile("/proc/self/mountinfo")
	return err == nil && isMount(info, wire.Tree) && isMount(info, wire.Objects)
}
