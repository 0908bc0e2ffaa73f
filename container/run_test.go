package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

func TestRunStreamsAndExit(t *testing.T) {
	s, _ := sandboxOf(t, map[string]http.HandlerFunc{"POST /run": func(w http.ResponseWriter, req *http.Request) {
		run, in, frame := running(w, req)
		data, _ := io.ReadAll(in)
		_ = frame(wire.Stdout, fmt.Sprintf("%s %s %s %s %v", run.Argv, run.Env, run.Dir, data, run.Stdin))
		_ = frame(wire.Stderr, "oops")
		exit(w, "3", `{"oom":1,"pids":2,"disk":true}`)
	}})
	var out, errs strings.Builder
	got, err := s.Run(t.Context(), Cmd{
		Argv: []string{"a", "b"}, Env: []string{"K=V"}, Dir: "sub", Stdin: strings.NewReader("input"), Stdout: &out, Stderr: &errs,
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Exit{Code: 3, OOM: 1, Pids: 2, Disk: true}, got); d != "" {
		t.Error(d)
	}
	if out.String() != "[a b] [K=V] sub input true" || errs.String() != "oops" {
		t.Errorf("stdout %q, stderr %q", &out, &errs)
	}
}

// A guest that ends without an exit code, or tells nonsense, is dead: the sandbox
// is stopped, since the agent may live on, and the exit is never 0.
func TestGuestDeathIsNeverSuccess(t *testing.T) {
	for name, run := range map[string]http.HandlerFunc{
		"no trailer":   func(w http.ResponseWriter, req *http.Request) { running(w, req) },
		"no number":    func(w http.ResponseWriter, req *http.Request) { running(w, req); exit(w, "zero", "") },
		"negative":     func(w http.ResponseWriter, req *http.Request) { running(w, req); exit(w, "-1", "") },
		"note is junk": func(w http.ResponseWriter, req *http.Request) { running(w, req); exit(w, "0", "{") },
		"aborted":      func(w http.ResponseWriter, req *http.Request) { running(w, req); panic(http.ErrAbortHandler) },
		"frame too big": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte{1, 0xff, 0, 0, 0})
			exit(w, "0", "")
		},
		"cut frame": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte{1, 0, 0, 0, 9, 1})
			exit(w, "0", "")
		},
		"unknown stream": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{7, 0, 0, 0, 0}); exit(w, "0", "") },
	} {
		t.Run(name, func(t *testing.T) {
			s, e := sandboxOf(t, map[string]http.HandlerFunc{"POST /run": run})
			got, err := s.Run(t.Context(), Cmd{Argv: []string{"x"}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(Exit{Code: 137, Died: true}, got); d != "" {
				t.Error(d)
			}
			if e.stops != 1 {
				t.Errorf("the sandbox was stopped %d times", e.stops)
			}
		})
	}
}

func TestDiffAfterGuestDeath(t *testing.T) {
	var e *scripted
	calls := 0
	s, e := sandboxOf(t, map[string]http.HandlerFunc{
		"POST /run": func(w http.ResponseWriter, req *http.Request) { running(w, req); e.die() },
		"GET /diff": func(w http.ResponseWriter, _ *http.Request) {
			if calls++; calls == 1 {
				_, _ = io.WriteString(w, "half")
				_ = http.NewResponseController(w).Flush()
				e.die()
				return
			}
			w.Header().Set(wire.DroppedHeader, `[{"path":"a","bytes":7,"why":"litter"}]`)
			_, _ = io.WriteString(w, "whole")
		},
	})
	if got, err := s.Run(t.Context(), Cmd{Argv: []string{"x"}}); err != nil || !got.Died {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := s.Diff(t.Context(), io.Discard, 0); !errors.Is(err, ErrDied) {
		t.Fatalf("a cut diff gives %v", err)
	}
	var out bytes.Buffer
	dropped, err := s.Diff(t.Context(), &out, 0)
	if err != nil || out.String() != "whole" {
		t.Fatalf("%q, %v", &out, err)
	}
	if d := cmp.Diff([]Dropped{{Path: "a", Bytes: 7, Why: "litter"}}, dropped); d != "" {
		t.Error(d)
	}
	if e.stops != 2 {
		t.Errorf("the sandbox was stopped %d times", e.stops)
	}
}

func TestDiffThatBreaksOff(t *testing.T) {
	s, e := sandboxOf(t, map[string]http.HandlerFunc{"GET /diff": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		w.Header().Set(http.TrailerPrefix+wire.ErrorTrailer, "read file")
	}})
	_, err := s.Diff(t.Context(), io.Discard, 0)
	if err == nil || err.Error() != "get diff: it broke off: read file" {
		t.Error(err)
	}
	if e.stops != 0 {
		t.Error("a guest that lives was killed")
	}
}

func TestDiffBound(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"told":     func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "big", http.StatusRequestEntityTooLarge) },
		"not told": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 101)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := sandboxOf(t, map[string]http.HandlerFunc{"GET /diff": handler})
			if _, err := s.Diff(t.Context(), io.Discard, 100); !errors.Is(err, ErrTooBig) {
				t.Error(err)
			}
		})
	}
}

// The end of the context asks with SIGTERM, then kills; what is written
// meanwhile still arrives.
func TestRunEndsWithContext(t *testing.T) {
	signals, killed := make(chan string, 4), make(chan struct{})
	s, _ := sandboxOf(t, map[string]http.HandlerFunc{
		"POST /run": func(w http.ResponseWriter, req *http.Request) {
			_, _, frame := running(w, req)
			_ = frame(wire.Stdout, "ready\n")
			<-killed
			_ = frame(wire.Stdout, "last words\n")
			exit(w, "137", "")
		},
		"POST /signal": func(_ http.ResponseWriter, req *http.Request) { signals <- req.URL.Query().Get("signal") },
		"POST /kill":   func(http.ResponseWriter, *http.Request) { close(killed) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	out := &onWrite{do: cancel}
	start := time.Now()
	got, err := s.Run(ctx, Cmd{Argv: []string{"x"}, Stdout: out, Grace: 50 * time.Millisecond})
	if !errors.Is(err, context.Canceled) || got.Code != 137 || got.Died {
		t.Fatalf("%+v, %v", got, err)
	}
	if out.String() != "ready\nlast words\n" {
		t.Errorf("output %q", out)
	}
	if first := <-signals; first != "15" {
		t.Errorf("first signal %s", first)
	}
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("killed after %s, within the grace", took)
	}
}

// onWrite calls do at every write.
type onWrite struct {
	strings.Builder
	do func()
}

func (o *onWrite) Write(p []byte) (int, error) {
	o.do()
	return o.Builder.Write(p)
}

func TestRunEndsWhenOutputFails(t *testing.T) {
	told := make(chan struct{})
	s, _ := sandboxOf(t, map[string]http.HandlerFunc{
		"POST /run": func(w http.ResponseWriter, req *http.Request) {
			_, _, frame := running(w, req)
			_ = frame(wire.Stdout, "x")
			<-told
			exit(w, "143", "")
		},
		"POST /signal": func(http.ResponseWriter, *http.Request) { close(told) },
	})
	r, w := io.Pipe()
	_ = r.CloseWithError(errors.New("reader left"))
	got, err := s.Run(t.Context(), Cmd{Argv: []string{"x"}, Stdout: w})
	if err == nil || err.Error() != "write output: reader left" || got.Code != 143 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRunPassesSignalsAndSizes(t *testing.T) {
	asked := make(chan string, 4)
	s, _ := sandboxOf(t, map[string]http.HandlerFunc{
		"POST /run": func(w http.ResponseWriter, req *http.Request) {
			run, _, frame := running(w, req)
			_ = frame(wire.Stdout, fmt.Sprint(run.TTY, run.Rows, run.Cols))
			for range 2 {
				_ = frame(wire.Stdout, " "+<-asked)
			}
			exit(w, "0", "")
		},
		"POST /signal": func(_ http.ResponseWriter, req *http.Request) { asked <- "signal " + req.URL.Query().Get("signal") },
		"POST /resize": func(_ http.ResponseWriter, req *http.Request) {
			asked <- "rows " + req.URL.Query().Get("rows") + " cols " + req.URL.Query().Get("cols")
		},
	})
	signals, sizes := make(chan os.Signal, 2), make(chan TTY)
	signals <- syscall.Signal(28) // differs between systems: not passed on
	signals <- os.Interrupt
	writes := 0
	out := &onWrite{do: func() {
		if writes++; writes == 2 { // the signal has arrived
			sizes <- TTY{Rows: 30, Cols: 100}
		}
	}}
	got, err := s.Run(t.Context(), Cmd{
		Argv: []string{"x"}, Stdout: out, TTY: &TTY{Rows: 24, Cols: 80, Resize: sizes}, Signals: signals,
	})
	if err != nil || got.Code != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := "true 24 80 signal 2 rows 30 cols 100"; out.String() != want {
		t.Errorf("output %q", out)
	}
}

// 200 MB of output to a reader that stalls and then reads on: the bytes wait in
// the sandbox, not in memory here.
func TestSlowReaderKeepsMemoryFlat(t *testing.T) {
	const chunks = 3200
	chunk := strings.Repeat("x", wire.MaxFrame)
	s, _ := sandboxOf(t, map[string]http.HandlerFunc{"POST /run": func(w http.ResponseWriter, req *http.Request) {
		_, _, frame := running(w, req)
		for range chunks {
			if err := frame(wire.Stdout, chunk); err != nil {
				return
			}
		}
		exit(w, "0", "")
	}})
	out := &slow{stall: 300 * time.Millisecond}
	got, err := s.Run(t.Context(), Cmd{Argv: []string{"x"}, Stdout: out})
	if err != nil || got.Code != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if out.bytes != chunks*wire.MaxFrame {
		t.Errorf("%d bytes arrived", out.bytes)
	}
	if out.heap > 32<<20 {
		t.Errorf("the heap grew to %d MB", out.heap>>20)
	}
}

// slow stalls once, and notes the largest heap.
type slow struct {
	stall time.Duration
	bytes int
	heap  uint64
}

func (s *slow) Write(p []byte) (int, error) {
	if s.bytes == 1<<20 {
		<-time.After(s.stall)
	}
	if s.bytes&(1<<24-1) == 0 || s.bytes == 1<<20 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		s.heap = max(s.heap, m.HeapAlloc)
	}
	s.bytes += len(p)
	return len(p), nil
}

// What a hostile guest answers is bounded, and its text cannot act on a terminal.
func TestAnswersAreBounded(t *testing.T) {
	for name, row := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"endless answer": {func(w http.ResponseWriter, _ *http.Request) {
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "over 16777216 bytes"},
		"endless error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			for chunk := bytes.Repeat([]byte("e"), 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "the guest says: eee"},
		"huge header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 2<<20))
		}, "guest died"},
		"escape codes": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "a\x1b[2Jb\u202ec\xff", 500)
		}, "says: a\ufffd[2Jb\ufffdc\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := sandboxOf(t, map[string]http.HandlerFunc{"POST /reset": row.handler})
			_, err := s.Reset(t.Context(), Base{ID: "i", From: "base"})
			if err == nil || !strings.Contains(err.Error(), row.want) || len(err.Error()) > 10<<10 {
				t.Errorf("error %.200v", err)
			}
		})
	}
}
