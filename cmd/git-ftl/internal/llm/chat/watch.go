package chat

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Why a question was ended before its answer was.
var (
	errTimeout  = errors.New("timeout")
	errSilent   = errors.New("silence")
	errLong     = errors.New("long answer")
	errRedirect = errors.New("redirect")
)

// watch ends a question when its server sends nothing for too long, too much, or
// elsewhere.
type watch struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration
}

func newWatch(ctx context.Context, silence time.Duration) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{ctx: ctx, cancel: cancel, silence: silence}
	w.timer = time.AfterFunc(silence, func() { cancel(errSilent) })
	w.timer.Stop()
	return w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// send is a middleware of both SDKs, run for each try. Between tries the timer
// stands still.
func (w *watch) send(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	w.timer.Reset(w.silence)
	res, err := next(r)
	if err != nil {
		w.timer.Stop()
		return res, err
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		w.cancel(errRedirect)
	}
	if w.beyond(res.Header) {
		res.Header.Set("X-Should-Retry", "false") // both SDKs obey; waiting would end in a timeout
	}
	w.timer.Reset(w.silence)
	res.Body = &watched{ReadCloser: res.Body, watch: w, left: 16 * maxAnswer}
	return res, nil
}

// beyond reports whether a server asks to come back after the question's time.
func (w *watch) beyond(h http.Header) bool {
	after := h.Get("Retry-After")
	at, err := http.ParseTime(after)
	if seconds, bad := strconv.ParseFloat(after, 64); bad == nil {
		at, err = time.Now().Add(time.Duration(min(seconds, 1e9)*float64(time.Second))), nil
	}
	deadline, ok := w.ctx.Deadline()
	return err == nil && ok && at.After(deadline)
}

// watched is the body of a response. An answer has many times its bytes as events.
type watched struct {
	io.ReadCloser
	watch *watch
	left  int
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	switch {
	case b.left < 0:
		b.watch.cancel(errLong)
		return 0, errLong
	case err != nil:
		b.watch.timer.Stop()
	case n > 0:
		b.watch.timer.Reset(b.watch.silence)
	}
	return n, err
}

func (b *watched) Close() error {
	b.watch.timer.Stop()
	return b.ReadCloser.Close()
}
