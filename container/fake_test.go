package container

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// scripted is an engine whose one sandbox answers as a test says, so that a guest
// can misbehave in ways that no real one does on request.
type scripted struct {
	handler http.Handler

	mu       sync.Mutex
	sessions []*yamux.Session
	stops    int
}

var _ Engine = (*scripted)(nil)

func (e *scripted) Resolve(_ context.Context, s Spec) (Spec, error) { return s, nil }
func (e *scripted) Create(context.Context, Spec) (string, error)    { return "id", nil }
func (e *scripted) Start(context.Context, string) error             { return nil }
func (e *scripted) Remove(context.Context, string) error            { return nil }
func (e *scripted) List(context.Context, map[string]string) ([]Info, error) {
	return []Info{{ID: "id", State: Running}}, nil
}

func (e *scripted) Stop(context.Context, string) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stops++
	return false, nil
}

func (e *scripted) Attach(context.Context, string, []string) (io.ReadWriteCloser, error) {
	host, guest := net.Pipe()
	config := yamux.DefaultConfig()
	config.LogOutput, config.EnableKeepAlive = io.Discard, false
	session, err := yamux.Server(guest, config)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions = append(e.sessions, session)
	go func() { _ = (&http.Server{Handler: e.handler}).Serve(session) }()
	return host, nil
}

// die ends the newest guest.
func (e *scripted) die() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.sessions[len(e.sessions)-1].Close()
}

// sandboxOf acquires a sandbox whose guest answers with the handlers, and says
// hello by itself.
func sandboxOf(t *testing.T, handlers map[string]http.HandlerFunc) (*Sandbox, *scripted) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(wire.Hello{Version: "v", Base: "base", Dirs: true})
	})
	for pattern, handler := range handlers {
		mux.HandleFunc(pattern, handler)
	}
	e := &scripted{handler: mux}
	p := &Pool{Engine: e, Dir: t.TempDir(), Owner: "nonce", Now: time.Now}
	s, err := p.Acquire(t.Context(), Spec{Name: "repo", Guest: Binary{Version: "v"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Release(); err != nil {
			t.Error(err)
		}
	})
	return s, e
}

// running reads a run's head and gives its input and a writer of frames.
func running(w http.ResponseWriter, req *http.Request) (wire.Run, io.Reader, func(stream byte, p string) error) {
	c := http.NewResponseController(w)
	_ = c.EnableFullDuplex()
	var size uint32
	_ = binary.Read(req.Body, binary.BigEndian, &size)
	head := make([]byte, size)
	_, _ = io.ReadFull(req.Body, head)
	var run wire.Run
	_ = json.Unmarshal(head, &run)
	w.WriteHeader(http.StatusOK)
	_ = c.Flush()
	return run, req.Body, func(stream byte, p string) error {
		return errors.Join(wire.WriteFrame(w, stream, []byte(p)), c.Flush())
	}
}

// exit sets the trailers of a run.
func exit(w http.ResponseWriter, code, note string) {
	w.Header().Set(http.TrailerPrefix+wire.ExitTrailer, code)
	if note != "" {
		w.Header().Set(http.TrailerPrefix+wire.NoteTrailer, note)
	}
}
