package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// Causes of a context that a task's own course ended.
var (
	errAuth   = errors.New("the provider of the model did not take the key")
	errBudget = errors.New("the cost bound is reached")
	errIdle   = errors.New("nothing was heard of it")
)

// listener turns what an agent prints into events, and asks the agent to end where
// there is no sense in going on.
type listener struct {
	r      *run
	parser agent.Parser // nil: lines are lines
	stop   context.CancelCauseFunc
	flush  func()

	stdout, stderr io.Writer

	mu    sync.Mutex
	heard time.Time
	calls map[string]agent.Event // under way
	done  *agent.Event
	log   string // the last line that was no event
}

// maxEvent bounds a line of an agent's stream, in bytes: one holds all that a tool
// gave back.
const maxEvent = 16 << 20

func (r *run) listen(stop context.CancelCauseFunc) *listener {
	l := &listener{r: r, parser: r.task.Agent.Parser(), stop: stop, heard: r.Now(), calls: map[string]agent.Event{}}
	if l.parser == nil {
		stdout, stderr, end := r.output()
		l.stdout, l.stderr, l.flush = hearing{stdout, l}, hearing{stderr, l}, end
		return l
	}
	events := &eventLines{line: l.line, drop: func(n int) {
		r.note(fmt.Sprintf("a line of %d bytes of the agent was left out", n))
	}}
	logs := NewLines(func(text string) { l.logged(r.secret.scrub(text), "stderr") })
	l.stdout, l.stderr = events, logs
	l.flush = func() {
		events.flush()
		logs.Flush()
		l.endCalls()
	}
	return l
}

// hearing is a stream of plain lines.
type hearing struct {
	io.Writer
	l *listener
}

// Write implements io.Writer.
func (h hearing) Write(p []byte) (int, error) {
	h.l.mu.Lock()
	h.l.heard = h.l.r.Now()
	h.l.mu.Unlock()
	return h.Writer.Write(p)
}

// line takes a line of the stream.
func (l *listener) line(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.r.Now()
	for _, e := range l.parser.Line(line) {
		l.event(e)
	}
}

func (l *listener) event(e agent.Event) {
	switch e.Kind {
	case agent.Begin:
		l.r.out.Session = e.Session
	case agent.Text:
		l.r.tell(Event{Kind: EventText, Text: l.shown(e.Text)})
	case agent.Call:
		if len(l.calls) > maxRunning {
			clear(l.calls)
		}
		l.calls[e.ID] = e
		l.r.tell(l.tool(EventTool, e, ""))
	case agent.Result:
		l.result(e)
	case agent.Retry:
		l.r.tell(Event{Kind: EventRetry, Text: l.shown(e.Text)})
		if e.Fault == agent.FaultAuth {
			l.stop(errAuth)
		}
	case agent.Cost:
		l.spent(e.Usage)
	case agent.Done:
		l.spent(e.Usage)
		l.done = &e
	case agent.Other:
		l.log = l.shown(e.Text)
		l.r.tell(Event{Kind: EventLog, Stream: "stdout", Text: l.log})
	}
}

// spent notes what was used, and holds the agent to its bound.
func (l *listener) spent(u agent.Usage) {
	l.r.out.Usage = u
	if most := l.r.task.Agent.MaxCost; most > 0 && u.Cost > most {
		l.stop(errBudget)
	}
}

// maxRunning bounds the calls that are remembered.
const maxRunning = 1000

func (l *listener) result(e agent.Event) {
	call, ok := l.calls[e.ID]
	if !ok {
		return
	}
	delete(l.calls, e.ID)
	result := "ok"
	if e.Failed {
		result = "failed"
	}
	l.r.tell(l.tool(EventToolEnd, call, result))
}

func (l *listener) tool(kind string, call agent.Event, result string) Event {
	return Event{Kind: kind, Tool: l.shown(call.Tool), Text: l.shown(call.Arg), Result: result}
}

// endCalls tells of what was under way when the agent ended.
func (l *listener) endCalls() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.calls)) {
		l.r.tell(l.tool(EventToolEnd, l.calls[id], "stopped"))
	}
	clear(l.calls)
}

// logged passes on a line beside the stream.
func (l *listener) logged(text, stream string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = l.r.Now()
	if strings.TrimSpace(text) != "" {
		l.log = text
	}
	l.r.tell(Event{Kind: EventLog, Stream: stream, Text: text})
}

// shown is a text that can be shown, with its lines.
func (l *listener) shown(text string) string {
	lines := strings.Split(strings.ReplaceAll(l.r.secret.scrub(text), "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = escape.Text(line)
	}
	return strings.Join(lines, "\n")
}

// watch ends an agent of which nothing is heard for too long. One without a stream
// of events may well work in silence, so that only a bound that somebody set counts.
func (l *listener) watch(over <-chan struct{}) {
	bound := l.r.Config.Idle
	if bound == 0 || l.parser == nil && !l.r.Config.IsSet("idle") {
		return
	}
	tick := time.NewTicker(min(bound/4+time.Millisecond, 10*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		idle := l.r.Now().Sub(l.heard)
		l.mu.Unlock()
		if idle > bound {
			l.stop(errIdle)
			return
		}
	}
}

// eventLines parts a stream into lines and drops one that is too long. A line
// stays as it is.
type eventLines struct {
	line func([]byte)
	drop func(bytes int)

	buf     []byte
	dropped int
}

// Write implements io.Writer. It never fails.
func (w *eventLines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		if w.dropped > 0 || len(w.buf)+len(part) > maxEvent {
			w.dropped += len(w.buf) + len(part)
			w.buf = nil
		} else {
			w.buf = append(w.buf, part...)
		}
		if !ended {
			return n, nil
		}
		w.flush()
		p = rest
	}
}

// flush ends a line.
func (w *eventLines) flush() {
	switch {
	case w.dropped > 0:
		w.drop(w.dropped)
	case len(w.buf) > 0:
		w.line(w.buf)
	}
	w.buf, w.dropped = w.buf[:0], 0
}
