package container

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// Times of a run.
const (
	defaultGrace = 10 * time.Second
	signalTime   = 10 * time.Second // for a signal to be taken
	endTime      = 20 * time.Second // for a killed run to end
)

// Cmd is one command for the agent's user.
type Cmd struct {
	Argv           []string
	Env            []string // the whole environment as NAME=VALUE
	Dir            string   // below the workspace, with slashes; "" for the workspace
	Stdin          io.Reader
	Stdout, Stderr io.Writer        // a slow one slows the command; nil discards
	TTY            *TTY             // run on a terminal, whose output is Stdout
	Grace          time.Duration    // between SIGTERM and SIGKILL when the context ends; 0 for 10 s
	Signals        <-chan os.Signal // to be passed on
	Disk           int64            // bytes that the sandbox may grow by; 0 for the spec's
}

// TTY is a terminal's size and its changes.
type TTY struct {
	Rows, Cols uint16
	Resize     <-chan TTY
}

// Exit says how a command ended.
type Exit struct {
	Code int  // 128+N for signal N
	OOM  int  // processes killed for memory
	Pids int  // forks refused at the process limit
	Disk bool // stopped at the disk bound
	Died bool // the guest died, and the sandbox was restarted; Code is 137
}

// Run runs a command to its end. When ctx ends it gets SIGTERM, after Grace
// every process of the agent is killed, and Run returns how it ended with the
// context's error; output flows until then. An output that cannot be written ends
// it in the same way. A Read of Stdin may still be waiting when Run returns.
func (s *Sandbox) Run(ctx context.Context, c Cmd) (Exit, error) {
	g, err := s.guest(ctx)
	if err != nil {
		return Exit{}, err
	}
	// Another guest than the one that was connected may have taken its place.
	if _, err := s.join(ctx, g); errors.Is(err, ErrDied) {
		return s.afterDeath(ctx)
	} else if err != nil {
		return Exit{}, err
	}
	if c.Disk == 0 {
		c.Disk = s.spec.Disk
	}
	exit, err := newRun(g, c).wait(ctx)
	if errors.Is(err, ErrDied) {
		return s.afterDeath(ctx)
	}
	return exit, err
}

// afterDeath restarts the sandbox: the agent outlives its guest, and must be gone
// before Run returns.
func (s *Sandbox) afterDeath(ctx context.Context) (Exit, error) {
	exit := Exit{Code: 137, Died: true}
	if _, err := s.guest(context.WithoutCancel(ctx)); err != nil {
		return exit, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.oom {
		exit.OOM = 1
	}
	return exit, ctx.Err()
}

// run is one command under way.
type run struct {
	conn *conn
	cmd  Cmd
	id   string
	stop context.CancelCauseFunc // asks the command to end
}

func newRun(c *conn, cmd Cmd) *run {
	if cmd.Grace == 0 {
		cmd.Grace = defaultGrace
	}
	return &run{conn: c, cmd: cmd, id: nonce(8)}
}

// wait runs the command. Its request outlives ctx, so that the last output and
// the exit code still come.
func (r *run) wait(ctx context.Context) (Exit, error) {
	asked, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.stop = stop
	request, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	under, end := context.WithCancel(context.WithoutCancel(ctx))
	var control sync.WaitGroup
	control.Go(func() { r.forward(under) })
	control.Go(func() { r.finish(under, asked, abandon) })
	exit, err := r.stream(request)
	end()
	control.Wait()
	switch {
	case err != nil && request.Err() != nil: // killed, and did not end
		return exit, r.conn.died(context.WithoutCancel(ctx), "run", err)
	case err == nil && asked.Err() != nil:
		err = context.Cause(asked)
	}
	return exit, err
}

// forward passes signals and sizes on while the command is under way.
func (r *run) forward(under context.Context) {
	var resize <-chan TTY
	if r.cmd.TTY != nil {
		resize = r.cmd.TTY.Resize
	}
	for signals := r.cmd.Signals; ; {
		select {
		case <-under.Done():
			return
		case sig, ok := <-signals:
			if !ok {
				signals = nil
			} else if n := numberOf(sig); n != 0 {
				r.tell(under, "/signal", url.Values{"signal": {strconv.Itoa(n)}})
			}
		case size, ok := <-resize:
			if !ok {
				resize = nil
				continue
			}
			r.tell(under, "/resize", url.Values{"rows": {strconv.Itoa(int(size.Rows))}, "cols": {strconv.Itoa(int(size.Cols))}})
		}
	}
}

// finish waits until the command is asked to stop, and then makes it, in steps
// of growing force.
func (r *run) finish(under, asked context.Context, abandon func()) {
	select {
	case <-under.Done():
		return
	case <-asked.Done():
	}
	r.tell(under, "/signal", url.Values{"signal": {"15"}})
	if passes(under, r.cmd.Grace) {
		r.tell(under, "/kill", nil)
	}
	if passes(under, endTime) {
		abandon()
	}
}

// passes waits; false where ctx ends before.
func passes(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// tell makes a request about this run. Where it fails the run goes on, and the
// next, harder step comes in its time.
func (r *run) tell(ctx context.Context, path string, args url.Values) {
	ctx, cancel := context.WithTimeout(ctx, signalTime)
	defer cancel()
	if args != nil {
		args.Set("run", r.id)
		path += "?" + args.Encode()
	}
	_ = r.conn.ask(ctx, http.MethodPost, path, nil, nil)
}

// numberOf gives Linux's number of a signal that has the same one
// everywhere, 0 for others.
func numberOf(sig os.Signal) int {
	n, ok := sig.(syscall.Signal)
	if !ok {
		return 0
	}
	switch n {
	case 1, 2, 3, 9, 15: // HUP INT QUIT KILL TERM
		return int(n)
	}
	return 0
}

// stream makes the request, and copies frames until the command has ended.
func (r *run) stream(ctx context.Context) (Exit, error) {
	head, err := json.Marshal(r.request())
	if err != nil {
		return Exit{}, fmt.Errorf("encode command: %w", err)
	}
	body, w := io.Pipe()
	defer body.Close()
	go func() {
		err := binary.Write(w, binary.BigEndian, uint32(len(head)))
		if err == nil {
			_, err = w.Write(head)
		}
		if err == nil && r.cmd.Stdin != nil {
			_, err = io.Copy(w, r.cmd.Stdin)
		}
		w.CloseWithError(err)
	}()
	resp, err := r.conn.do(ctx, http.MethodPost, "/run", body)
	if err != nil {
		return Exit{}, err
	}
	defer resp.Body.Close()
	if err := r.frames(resp.Body); err != nil {
		return Exit{}, r.conn.died(ctx, "run", err)
	}
	exit, err := exitOf(resp.Trailer)
	if err != nil {
		return Exit{}, r.conn.died(ctx, "run", err)
	}
	return exit, nil
}

func (r *run) request() wire.Run {
	q := wire.Run{
		ID: r.id, Argv: r.cmd.Argv, Env: r.cmd.Env, Dir: r.cmd.Dir, Stdin: r.cmd.Stdin != nil, Disk: r.cmd.Disk,
	}
	if r.cmd.TTY != nil {
		q.TTY, q.Rows, q.Cols = true, r.cmd.TTY.Rows, r.cmd.TTY.Cols
	}
	return q
}

// frames copies output. After a failed write the rest is thrown away while the
// command is made to end.
func (r *run) frames(body io.Reader) error {
	in, buf := bufio.NewReaderSize(body, wire.MaxFrame), make([]byte, wire.MaxFrame)
	out := map[byte]io.Writer{wire.Stdout: r.cmd.Stdout, wire.Stderr: r.cmd.Stderr}
	for {
		stream, n, err := wire.ReadFrame(in, buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w, known := out[stream]
		if !known {
			return fmt.Errorf("a frame of stream %d", stream)
		}
		if w == nil || n == 0 {
			continue
		}
		if _, err := w.Write(buf[:n]); err != nil {
			r.stop(fmt.Errorf("write output: %w", err))
			out[stream] = nil
		}
	}
}

// exitOf reads the trailer. A guest that died leaves none.
func exitOf(trailer http.Header) (Exit, error) {
	code, err := strconv.Atoi(trailer.Get(wire.ExitTrailer))
	if err != nil || code < 0 || code > 255 {
		return Exit{}, errors.New("no exit code came")
	}
	var note wire.RunNote
	if text := trailer.Get(wire.NoteTrailer); text != "" {
		if err := json.Unmarshal([]byte(text), &note); err != nil {
			return Exit{}, fmt.Errorf("read note: %w", err)
		}
	}
	return Exit{Code: code, OOM: note.OOM, Pids: note.Pids, Disk: note.Disk}, nil
}
