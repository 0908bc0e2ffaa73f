package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/network"
	"github.com/git-ftl/git-ftl/container/internal/proc"
	"github.com/git-ftl/git-ftl/container/internal/wire"
	"github.com/git-ftl/git-ftl/container/internal/workspace"
)

// Bounds of what a host can make the guest hold.
const (
	maxReset = 1 << 29 // bytes of a reset's JSON
	maxRun   = 1 << 24 // bytes of a run's JSON
)

// server answers one host.
type server struct {
	space   workspace.Space
	user    string // the agent's name in this image
	killer  *proc.Killer
	runner  *proc.Runner
	version string
	gate    gate
	network *network.Network
	host    *yamux.Session

	mu   sync.Mutex
	runs map[string]*proc.Process // nil while it starts
}

// serve returns when conn ends.
func (s *server) serve(conn io.ReadWriteCloser) error {
	config := yamux.DefaultConfig()
	// A paused sandbox or a sleeping host is no dead one: the end of the stream
	// is the only sign.
	config.EnableKeepAlive = false
	config.ConnectionWriteTimeout = 30 * 24 * time.Hour
	config.StreamOpenTimeout = 0
	config.StreamCloseTimeout = 0
	config.AcceptBacklog = wire.Backlog
	config.LogOutput = io.Discard
	session, err := yamux.Server(wire.Joined(conn), config)
	if err != nil {
		return fmt.Errorf("speak to host: %w", err)
	}
	defer session.Close()
	s.host = session
	web := http.Server{Handler: s.routes()}
	err = web.Serve(session)
	web.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, yamux.ErrSessionShutdown) {
		return nil
	}
	return fmt.Errorf("speak to host: %w", err)
}

func (s *server) routes() http.Handler {
	s.runs = map[string]*proc.Process{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", s.hello)
	mux.HandleFunc("POST /reset", s.reset)
	mux.HandleFunc("POST /run", s.run)
	mux.HandleFunc("POST /signal", s.signal)
	mux.HandleFunc("POST /resize", s.resize)
	mux.HandleFunc("POST /kill", s.kill)
	mux.HandleFunc("GET /diff", s.diff)
	mux.HandleFunc("PUT /base", s.base)
	mux.HandleFunc("POST /network", s.join)
	mux.HandleFunc("POST /ports", s.ports)
	return mux
}

func (s *server) hello(w http.ResponseWriter, _ *http.Request) {
	answer(w, wire.Hello{Version: s.version, Base: s.space.Base(), Dirs: mounted()})
}

func (s *server) reset(w http.ResponseWriter, r *http.Request) {
	var req wire.Reset
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxReset)).Decode(&req); err != nil {
		http.Error(w, "read reset: "+err.Error(), http.StatusBadRequest)
		return
	}
	leave, err := s.gate.alone(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	defer leave()
	report, err := s.space.Reset(req)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, report)
}

func (s *server) base(w http.ResponseWriter, r *http.Request) {
	leave, err := s.gate.alone(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	defer leave()
	if err := s.space.Update(r.Body); err != nil {
		refuse(w, err)
	}
}

func (s *server) kill(w http.ResponseWriter, r *http.Request) {
	if err := s.killer.Kill(r.Context()); err != nil {
		refuse(w, err)
	}
}

func (s *server) diff(w http.ResponseWriter, r *http.Request) {
	max, err := strconv.ParseInt(r.URL.Query().Get("max"), 10, 64)
	if max == 0 {
		max = math.MaxInt64
	}
	if err != nil || max < 0 {
		http.Error(w, "max is no number of bytes", http.StatusBadRequest)
		return
	}
	leave, err := s.gate.alone(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	defer leave()
	change, err := s.space.Scan()
	if err != nil {
		refuse(w, err)
		return
	}
	defer change.Close()
	dropped, err := json.Marshal(change.Dropped)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set(wire.DroppedHeader, ascii(string(dropped)))
	sendDiff(w, change, max)
}

// sendDiff holds the first megabyte back, so that an error of a small change
// gets a status of its own.
func sendDiff(w http.ResponseWriter, change *workspace.Change, max int64) {
	sent := &begun{Writer: w}
	out := bufio.NewWriterSize(sent, 1<<20)
	err := change.Write(out, max)
	switch {
	case err == nil:
		_ = out.Flush() // a host that is gone ends the session
	case !sent.yes:
		w.Header().Del(wire.DroppedHeader)
		refuse(w, err)
	default:
		w.Header().Set(http.TrailerPrefix+wire.ErrorTrailer, ascii(strconv.Quote(err.Error())))
	}
}

// begun tells whether a response has a status already.
type begun struct {
	io.Writer
	yes bool
}

// Write implements io.Writer.
func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.Writer.Write(p)
}

func (s *server) signal(w http.ResponseWriter, r *http.Request) {
	p, ok := s.find(w, r)
	if !ok {
		return
	}
	number, err := strconv.Atoi(r.URL.Query().Get("signal"))
	if err != nil || number <= 0 || number > 64 {
		http.Error(w, "signal is no number of one", http.StatusBadRequest)
		return
	}
	if err := p.Signal(unix.Signal(number)); err != nil {
		refuse(w, err)
	}
}

func (s *server) resize(w http.ResponseWriter, r *http.Request) {
	p, ok := s.find(w, r)
	if !ok {
		return
	}
	rows, err := strconv.ParseUint(r.URL.Query().Get("rows"), 10, 16)
	cols, err2 := strconv.ParseUint(r.URL.Query().Get("cols"), 10, 16)
	if errors.Join(err, err2) != nil {
		http.Error(w, "rows and cols are no numbers", http.StatusBadRequest)
		return
	}
	if err := p.Resize(uint16(rows), uint16(cols)); err != nil {
		refuse(w, err)
	}
}

func (s *server) find(w http.ResponseWriter, r *http.Request) (*proc.Process, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.runs[r.URL.Query().Get("run")]
	if p == nil {
		http.Error(w, "no such run", http.StatusNotFound)
	}
	return p, p != nil
}

func answer(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // a host that is gone ends the session
}

func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case errors.Is(err, workspace.ErrStale), errors.Is(err, errInUse):
		code = http.StatusConflict
	case errors.Is(err, workspace.ErrTooBig):
		code = http.StatusRequestEntityTooLarge
	}
	http.Error(w, err.Error(), code)
}

// ascii escapes what a header cannot carry; in JSON and quoted strings the
// escapes mean the same.
func ascii(s string) string {
	if strings.IndexFunc(s, beyond) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !beyond(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func beyond(r rune) bool { return r < ' ' || r >= 0x7f }

// isMount finds a folder in the text of a mountinfo file.
func isMount(info []byte, dir string) bool {
	for line := range strings.Lines(string(info)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == dir {
			return true
		}
	}
	return false
}
