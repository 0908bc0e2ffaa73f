package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/shadow/proxy"
	"github.com/git-ftl/git-ftl/snapshot"
)

// Bounds of tests.
const (
	testTime   = 2 * time.Minute  // of a file of tests, or the agent's bound where that is shorter
	ownTime    = 10 * time.Minute // of the project's command, the same
	setupTime  = 5 * time.Minute
	testGrace  = 500 * time.Millisecond
	testIdle   = time.Minute // a sandbox of tests serves once
	testOutput = 4 << 20     // bytes that are read of a run
	testFlood  = 256 << 20   // bytes that a run may print
)

// timedOut is the exit code of a run that was stopped, as that of timeout(1).
const timedOut = 124

// errFlood says that a run prints without end.
var errFlood = errors.New("stopped at 256 MiB of output")

// testbox is a new sandbox with a tree in it, which serves tests alone: it has no
// network, and nothing of the user's or the agent's but that tree.
type testbox struct {
	*run   // of its own: what it has of the task is image, snapshot and secrets, for the setup command
	engine *engine
	fault  string // of the setup command, "" where there is none
	late   int    // files of tests that were stopped at their bound
}

// openTestbox makes a sandbox of a tree. The caller closes it.
func (r *run) openTestbox(ctx context.Context, at snapshot.Snapshot) (_ *testbox, err error) {
	own := &run{Session: r.Session, out: Outcome{ID: r.out.ID}, snap: at, image: r.image, secret: r.secret, log: r.log, soft: ctx, part: "-tests"}
	if at.Commit != r.snap.Commit { // both sides may be on their way out at once
		own.part += "-result"
	}
	b := &testbox{run: own}
	if b.engine, err = r.connect(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	spec, err := r.spec(r.image)
	if err != nil {
		return nil, err
	}
	spec.Name, spec.Fresh, spec.Idle = testGroupOf(r.Repo.Key()), true, testIdle
	if b.box, err = b.engine.pool.Acquire(ctx, spec); err != nil {
		return nil, err
	}
	export, err := r.Store.Export(ctx, at, b.box.Name())
	if err != nil {
		return nil, err
	}
	base := baseOf(export, at.Branch)
	base.Clean = true
	if _, err := b.box.Reset(ctx, base); err != nil {
		return nil, err
	}
	return b, b.prepare(ctx)
}

func (b *testbox) close() {
	b.leaveNetwork()
	if b.box != nil {
		_ = b.box.Release()
	}
	_ = b.engine.Close()
}

// prepare runs the setup command, which may have to fetch what tests need: with the
// network that the agent has and the shadows of its secrets, and both are gone
// before anything else runs. Its failure is no end of the tests.
func (b *testbox) prepare(ctx context.Context) error {
	if b.Config.Setup == "" {
		return nil
	}
	online := b.Config.Network != string(proxy.None)
	if online {
		for _, step := range []func(context.Context) error{b.writeTools, b.aptMirrors, b.join} {
			if err := step(ctx); err != nil {
				return err
			}
		}
	}
	exit, err := b.command(ctx, b.hidden(b.Config.Setup), b.env(""), setupTime)
	if online {
		b.leaveNetwork()
		if err := errors.Join(b.box.Disconnect(ctx), b.removeTools(ctx)); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("setup: %w", err)
	case exit.stopped != "":
		b.fault = "setup was " + exit.stopped
	case exit.code != 0:
		b.fault = fmt.Sprintf("setup failed with exit code %d", exit.code)
	}
	return nil
}

// removeTools takes out what writeTools put in.
func (b *testbox) removeTools(ctx context.Context) error {
	var paths []string
	for _, f := range b.secret.tools.Files {
		paths = append(paths, path.Join(container.Home, f.Path))
	}
	if len(paths) == 0 {
		return nil
	}
	return b.pipe(ctx, nil, `rm -f -- "$@"`, paths...)
}

// ran is how a command of a testbox ended.
type ran struct {
	out     []byte
	code    int
	late    bool   // it was stopped at its bound
	stopped string // why it was stopped, "" where it was not
}

// command runs a script at the top of the workspace. An error is one of the sandbox
// or the context, never of the script.
func (b *testbox) command(ctx context.Context, script string, env []string, bound time.Duration) (ran, error) {
	limit, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	out := &ends{most: testOutput, bound: testFlood}
	exit, err := b.box.Run(limit, container.Cmd{
		Argv: []string{"sh", "-c", script}, Env: env, Stdout: out, Stderr: out, Grace: testGrace,
	})
	r := ran{code: exit.Code}
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case limit.Err() != nil && err != nil:
		r.late, r.stopped = true, fmt.Sprintf("stopped after %s", bound)
	case errors.Is(err, errFlood):
		r.stopped = errFlood.Error()
	case err != nil:
		return r, err
	case exit.Died:
		r.stopped = "ended with its sandbox" + hint(exit)
	case exit.Disk:
		r.stopped = "stopped at the disk bound"
	}
	r.out = out.bytes()
	if r.stopped != "" {
		r.code = max(r.code, timedOut)
		r.out = fmt.Appendf(r.out, "\n[%s]\n", r.stopped)
	}
	return r, nil
}

// testEnv is the environment of tests.
func (b *testbox) testEnv() []string { return append(agentEnv(b.image, ""), "CI=true") }

// own runs the project's own test command.
func (b *testbox) own(ctx context.Context, command string) (testrun.Report, error) {
	r, err := b.command(ctx, command, b.testEnv(), b.within(ownTime))
	if err != nil {
		return testrun.Report{}, err
	}
	return testrun.ReadOwn(command, r.out, r.code), b.box.Kill(ctx)
}

// within is a bound, or the agent's where that is shorter.
func (b *testbox) within(bound time.Duration) time.Duration {
	if b.Config.Timeout > 0 {
		bound = min(bound, b.Config.Timeout)
	}
	return bound
}

// fewerTimes bounds how often the bound of files halves.
const fewerTimes = 3

// written runs a file of tests, and leaves the workspace as it was. What stands in the
// way of the file is of the tree: the file does not start there.
func (b *testbox) written(ctx context.Context, t testrun.Run) (testrun.Report, error) {
	there, r, err := b.placed(ctx, t.Files)
	if err == nil && r.code == 0 {
		// What hangs may hang in all of them: each that does leaves half the time to the next.
		r, err = b.command(ctx, t.Script, b.testEnv(), b.within(testTime)>>min(b.late, fewerTimes))
	}
	if err != nil {
		return testrun.Report{}, err
	}
	if r.late {
		b.late++
	}
	err = b.box.Kill(ctx) // what it left running
	for i, f := range t.Files[:there] {
		err = errors.Join(err, b.takeAway(ctx, i, f))
	}
	return t.Read(r.out, r.code), err
}

// placed puts files into the workspace, up to the one that cannot be put there, which
// is how it ran then.
func (b *testbox) placed(ctx context.Context, all []testrun.File) (there int, r ran, err error) {
	for i, f := range all {
		err := b.place(ctx, i, f)
		if said := new(scriptError); errors.As(err, &said) {
			return i + 1, ran{out: []byte("write " + f.Path + ": " + said.said + "\n"), code: 1}, nil
		}
		if err != nil {
			return i, r, fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return len(all), r, nil
}

// aside is where a file of the tree is while one of the same path takes its place.
const aside = container.Home + "/.ftl-aside/"

func (b *testbox) place(ctx context.Context, i int, f testrun.File) error {
	const script = `set -e; umask 077; mkdir -p -- "$2" "${1%/*}"; rm -rf -- "$1"
if [ -e "$3" ] || [ -L "$3" ]; then mv -- "$3" "$1"; fi; cat > "$3"`
	at := path.Join(container.Workspace, f.Path)
	return b.pipe(ctx, strings.NewReader(f.Content), script, aside+strconv.Itoa(i), path.Dir(at), at)
}

// takeAway is no fault where it cannot: a test may have closed its folder, which tells
// the next one that has to stand there.
func (b *testbox) takeAway(ctx context.Context, i int, f testrun.File) error {
	const script = `rm -rf -- "$2"; if [ -e "$1" ] || [ -L "$1" ]; then mv -- "$1" "$2"; fi`
	err := b.pipe(ctx, nil, script, aside+strconv.Itoa(i), path.Join(container.Workspace, f.Path))
	if errors.As(err, new(*scriptError)) {
		return nil
	}
	return err
}

// ends keeps the first and the last bytes of a stream. It is safe for concurrent
// use.
type ends struct {
	most  int // bytes of both
	bound int // bytes of all, 0 for none: more are errFlood

	mu         sync.Mutex
	head, tail []byte
	cut        bool
	seen       int
}

var _ io.Writer = (*ends)(nil)

// Write implements io.Writer.
func (e *ends) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(p)
	if e.seen += n; e.bound > 0 && e.seen > e.bound {
		return 0, errFlood
	}
	room := min(e.most/2-len(e.head), len(p))
	e.head, p = append(e.head, p[:room]...), p[room:]
	e.tail = append(e.tail, p...)
	if len(e.tail) > e.most { // twice what is kept: each byte is moved once
		e.cut = true
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-e.most/2:]...)
	}
	return n, nil
}

func (e *ends) bytes() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	tail := e.tail
	if len(tail) > e.most/2 {
		tail, e.cut = tail[len(tail)-e.most/2:], true
	}
	if !e.cut {
		return bytes.Join([][]byte{e.head, tail}, nil)
	}
	return bytes.Join([][]byte{e.head, tail}, []byte("\n[…]\n"))
}
