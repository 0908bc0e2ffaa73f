package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// killTime bounds how long the guest may take to end the agent's processes.
const killTime = 15 * time.Second

// Sandbox is one claimed sandbox. Its methods may be called while a Run is under
// way; Release ends the claim.
type Sandbox struct {
	Replaced string // why Acquire or Reset made a new one in place of an older one, "" where they did not

	pool   *Pool
	name   string
	spec   Spec
	warm   bool
	unlock func()

	mu       sync.Mutex
	rec      record
	con      *conn
	oom      bool // memory ran out before the last restart
	released bool

	in     *inlet             // nil until it is asked for
	net    *Network           // nil until Connect
	ports  []int              // of Open
	joined *conn              // whose guest has the network
	told   wire.NetworkReport // by that guest
}

// Name gives the sandbox's name in its pool, also that of its export folder.
func (s *Sandbox) Name() string { return s.name }

// Image is the id of the image that the sandbox was made of.
func (s *Sandbox) Image() string { return s.rec.Fit.Image }

// Warm tells whether the sandbox served an earlier task.
func (s *Sandbox) Warm() bool { return s.warm }

// start runs the sandbox and a guest in it; s.mu is held.
func (s *Sandbox) start(ctx context.Context) error {
	// A sandbox that was about to sleep may stop between start and attach.
	var err error
	for range 2 {
		if err = s.attach(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

func (s *Sandbox) attach(ctx context.Context) error {
	if err := s.pool.Engine.Start(ctx, s.rec.ID); err != nil {
		return err
	}
	stream, err := s.pool.Engine.Attach(ctx, s.rec.ID, []string{s.spec.guestPath(), "serve"})
	if err != nil {
		return err
	}
	c, err := connect(ctx, stream)
	if err != nil {
		return err
	}
	if c.hello.Version != s.spec.Guest.Version {
		return errors.Join(fmt.Errorf("guest of version %s answers in place of %s",
			printable(c.hello.Version), s.spec.Guest.Version), c.Close())
	}
	s.con = c
	return nil
}

// guest gives the connection. Where the guest has died, what it left behind is
// killed with the sandbox, which is started with another.
func (s *Sandbox) guest(ctx context.Context) (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.released:
		return nil, fmt.Errorf("use sandbox %s: it was released", s.name)
	case s.con != nil && s.con.alive():
		return s.con, nil
	}
	s.hangUp()
	oom, err := s.pool.Engine.Stop(ctx, s.rec.ID)
	if err != nil {
		return nil, err
	}
	s.oom = oom
	if err := s.start(ctx); err != nil {
		return nil, fmt.Errorf("restart sandbox %s: %w", s.name, err)
	}
	return s.con, nil
}

// hangUp ends the guest; s.mu is held.
func (s *Sandbox) hangUp() {
	if s.con != nil {
		_ = s.con.Close()
		s.con = nil
	}
}

// renew makes a new sandbox in place of this one, under the same claim.
func (s *Sandbox) renew(ctx context.Context, why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangUp()
	rec, err := s.pool.make(ctx, s.spec, s.rec.Group, &s.rec)
	if err != nil {
		return err
	}
	s.rec, s.warm, s.Replaced = *rec, false, why
	return s.start(ctx)
}

// Dropped is one new path that a diff leaves out, in the guest's words: a file,
// or a folder with all below it.
type Dropped = wire.Dropped

// Diff writes the change since the last Reset to w, as the guest's patch: raw,
// hostile, and complete only where it ends with its end line. More than max
// bytes are ErrTooBig, 0 is no bound. ErrDied leaves the workspace as it is: a
// second Diff asks another guest.
func (s *Sandbox) Diff(ctx context.Context, w io.Writer, max int64) ([]Dropped, error) {
	c, err := s.guest(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := c.do(ctx, http.MethodGet, "/diff?max="+strconv.FormatInt(max, 10), nil)
	var refused *statusError
	if errors.As(err, &refused) && refused.Code == http.StatusRequestEntityTooLarge {
		return nil, fmt.Errorf("%w: %s", ErrTooBig, refused.Text)
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body := &source{Reader: resp.Body, left: max, bound: max > 0}
	_, err = io.Copy(w, body)
	switch {
	case body.err != nil && !errors.Is(body.err, ErrTooBig):
		return nil, c.died(ctx, "get diff", body.err)
	case err != nil:
		return nil, fmt.Errorf("get diff: %w", err)
	}
	if text := resp.Trailer.Get(wire.ErrorTrailer); text != "" {
		return nil, fmt.Errorf("get diff: it broke off: %s", printable(text))
	}
	return droppedOf(resp.Header)
}

// droppedOf reads the header that names what a diff left out.
func droppedOf(h http.Header) ([]Dropped, error) {
	text := h.Get(wire.DroppedHeader)
	if text == "" {
		return nil, nil
	}
	var dropped []Dropped
	if err := json.Unmarshal([]byte(text), &dropped); err != nil {
		return nil, fmt.Errorf("get diff: read what was dropped: %w", err)
	}
	return dropped, nil
}

// source tells errors of reading from those of writing, and bounds the bytes.
type source struct {
	io.Reader
	left  int64
	bound bool
	err   error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.left -= int64(n)
	if s.bound && s.left < 0 {
		err = ErrTooBig
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// Kill ends every process of the agent; where one survives, the sandbox is
// stopped and started.
func (s *Sandbox) Kill(ctx context.Context) error {
	c, err := s.guest(ctx)
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, killTime)
	defer cancel()
	if err := c.ask(limit, http.MethodPost, "/kill", nil, nil); err == nil || ctx.Err() != nil {
		return err
	}
	_ = c.Close()
	_, err = s.guest(ctx)
	return err
}

// Hold marks the sandbox as holding work of a task that is stored nowhere else:
// until Unhold no Acquire takes it, in whatever process.
func (s *Sandbox) Hold(task string) error {
	return s.note(func(r *record) { r.Hold = task })
}

// Holds gives the task whose work the sandbox is marked to hold, or "".
func (s *Sandbox) Holds() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.Hold
}

// Unhold takes the mark of Hold away.
func (s *Sandbox) Unhold() error {
	return s.note(func(r *record) { r.Hold = "" })
}

// note changes the record.
func (s *Sandbox) note(change func(*record)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.rec)
	return s.pool.write(s.name, &s.rec)
}

// Release ends what runs in the sandbox and gives the claim back; a second one
// does nothing. The sandbox stays warm, and stops by itself when it is idle.
func (s *Sandbox) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		return nil
	}
	s.released = true
	if s.in != nil {
		s.in.end()
	}
	s.hangUp()
	s.rec.LastUsed = s.pool.Now()
	err := s.pool.write(s.name, &s.rec)
	s.unlock()
	return err
}
