package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/transcript"
)

// Times between two looks at what a task of another process does.
const (
	readPoll  = 40 * time.Millisecond
	alivePoll = 500 * time.Millisecond
)

// watcher shows tasks that other processes work on.
type watcher struct {
	s       *session.Session
	report  session.Reporter
	signals <-chan os.Signal // ask the tasks to stop
	suspend <-chan os.Signal // leaves them to themselves; may be nil
	pause   func()           // stops this process in place of leaving them; nil leaves
	to      io.Writer        // whose loss ends the watching; nil for none
}

// follow shows tasks until all are over, or, with left, until the user turns
// away.
func (w *watcher) follow(ids []string) (ends []ending, left bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ends = make([]ending, len(ids))
	over := make(chan struct{}, len(ids))
	for i, id := range ids {
		go func() {
			ends[i] = w.one(ctx, id)
			over <- struct{}{}
		}()
	}
	var last time.Time
	for n := 0; n < len(ids); {
		select {
		case <-over:
			n++
		case <-w.suspend:
			if w.pause != nil {
				w.pause()
				continue
			}
			cancel()
			for ; n < len(ids); n++ {
				<-over
			}
			return nil, true
		case <-w.signals:
			if time.Since(last) < session.Again {
				continue
			}
			last = time.Now()
			for _, id := range ids {
				_ = w.s.Stop(id) // one that has ended needs none
			}
		}
	}
	return ends, false
}

// one shows the newest turn of a task to its end.
func (w *watcher) one(ctx context.Context, id string) ending {
	o, err := w.s.Task(id)
	if err != nil {
		return ending{err: err}
	}
	r := w.s.Transcript(id, o.Turn)
	defer r.Close()
	end, err := w.tail(ctx, id, r)
	switch {
	case err != nil:
		return ending{err: err}
	case end == nil: // its process died: what it left is found now
		out, err := w.s.Wait(ctx, id)
		return ending{out, err}
	case end.Failure != nil:
		return ending{*end.Outcome, told(*end.Failure)}
	}
	return ending{out: *end.Outcome}
}

// tail passes on the events of a task until no process works on it, and returns
// the last one if it is the end of a turn.
func (w *watcher) tail(ctx context.Context, id string, r *transcript.Reader) (*session.Event, error) {
	var end *session.Event
	looked := time.Now()
	for dead := false; ; {
		last, err := w.drain(r)
		if err != nil {
			return nil, err
		}
		if last != nil {
			end, looked = last, time.Time{} // the process ends after its word
		}
		if dead {
			return end, nil
		}
		if time.Since(looked) > alivePoll {
			alive, err := w.s.Alive(id)
			if err != nil {
				return nil, err
			}
			dead, looked = !alive, time.Now() // and one more look at what it wrote meanwhile
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(readPoll):
		}
	}
}

// drain passes on what is there; end is the last event if it ends a turn.
func (w *watcher) drain(r *transcript.Reader) (end *session.Event, err error) {
	for {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return end, nil
		case errors.Is(err, transcript.ErrGap):
			w.report.Event(session.Event{Kind: session.EventNote, Text: "… " + err.Error()})
			continue
		case err != nil:
			return nil, err
		}
		var e session.Event
		if json.Unmarshal(line, &e) != nil {
			continue // half a line of a process that died
		}
		w.report.Event(e)
		if err := lost(w.to); err != nil {
			return nil, err
		}
		if end = nil; e.Kind == session.EventEnd {
			end = &e
		}
	}
}
