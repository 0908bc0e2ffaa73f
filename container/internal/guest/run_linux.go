package guest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/container/internal/proc"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// run starts a process and streams until it ends. The trailers come last: a
// guest that dies sends none.
func (s *server) run(w http.ResponseWriter, r *http.Request) {
	c := http.NewResponseController(w)
	// Without it the server drops standard input once the response begins.
	if err := c.EnableFullDuplex(); err != nil {
		refuse(w, err)
		return
	}
	req, err := readRun(r.Body)
	if err != nil {
		http.Error(w, "read run: "+err.Error(), http.StatusBadRequest)
		return
	}
	for i, kv := range req.Env {
		if name, ok := strings.CutSuffix(kv, "="+wire.User); ok && (name == "USER" || name == "LOGNAME") {
			req.Env[i] = name + "=" + s.user // which the host cannot know
		}
	}
	if err := s.gate.enter(r.Context()); err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Trailer", wire.ExitTrailer+", "+wire.NoteTrailer)
	w.Header().Set("Connection", "close") // the read deadline below spoils it
	emit := func(stream byte, frame []byte) error {
		if err := wire.WriteFrame(w, stream, frame); err != nil {
			return err
		}
		return c.Flush()
	}
	code, note := s.process(r.Context(), proc.Command{
		Run: req, Input: r.Body, Emit: emit,
		Hangup: func() { _ = c.SetReadDeadline(time.Unix(1, 0)) },
	}, func() { _ = c.Flush() })
	if err := s.gate.leave(); err != nil {
		_ = emit(wire.Stderr, []byte("git-ftl: "+err.Error()+"\n"))
	}
	data, err := json.Marshal(note)
	if err == nil {
		w.Header().Set(wire.NoteTrailer, string(data))
	}
	w.Header().Set(wire.ExitTrailer, strconv.Itoa(code))
}

// process runs a command to its end; the head of the response goes out once
// signals can reach it. A command that cannot start is said on standard error,
// as a shell does.
func (s *server) process(ctx context.Context, c proc.Command, started func()) (int, wire.RunNote) {
	p, err := s.start(c)
	if err == nil {
		defer s.forget(c.ID)
		started()
		return p.Wait(ctx)
	}
	code := 126
	var refused *proc.StartError
	if errors.As(err, &refused) {
		code = refused.Code
	}
	_ = c.Emit(wire.Stderr, []byte("git-ftl: "+err.Error()+"\n"))
	return code, wire.RunNote{}
}

// start keeps the lock, so that a signal never misses a process that runs.
func (s *server) start(c proc.Command) (*proc.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[c.ID] != nil || c.ID == "" {
		return nil, fmt.Errorf("run %q exists", c.ID)
	}
	p, err := s.runner.Start(c)
	if err == nil {
		s.runs[c.ID] = p
	}
	return p, err
}

func (s *server) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, id)
}

func readRun(r io.Reader) (wire.Run, error) {
	var run wire.Run
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return run, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxRun {
		return run, fmt.Errorf("%d bytes are over the bound", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return run, err
	}
	return run, json.Unmarshal(data, &run)
}
