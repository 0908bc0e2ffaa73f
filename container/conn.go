package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// Bounds of what a guest can make the host hold or wait for.
const (
	maxAnswer = 16 << 20    // bytes of a JSON answer
	maxHeader = 1 << 20     // bytes of a response's header
	maxText   = 8 << 10     // bytes of an error's text
	helloTime = time.Minute // with many starting at once
	// A paused sandbox takes no bytes, for as long as its user likes.
	writeTime = 30 * 24 * time.Hour
)

// conn is a connection to one guest process.
type conn struct {
	session *yamux.Session
	web     *http.Client
	stream  *tap
	hello   wire.Hello
	carries bool // the guest's streams are taken; the sandbox's lock guards it
}

// statusError is a refusal by the guest.
type statusError struct {
	Act  string
	Code int
	Text string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: the guest says: %s", e.Act, e.Text)
}

// connect speaks to a guest over stream and says hello.
func connect(ctx context.Context, stream io.ReadWriteCloser) (*conn, error) {
	config := yamux.DefaultConfig()
	config.EnableKeepAlive = false
	config.ConnectionWriteTimeout = writeTime
	config.StreamOpenTimeout = 0
	config.AcceptBacklog = wire.Backlog // also bounds the streams that the guest opens
	config.LogOutput = io.Discard
	t := &tap{ReadWriteCloser: stream}
	session, err := yamux.Client(wire.Joined(t), config)
	if err != nil {
		return nil, err
	}
	c := &conn{session: session, stream: t, web: &http.Client{Transport: &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return session.Open() },
		DisableCompression:     true,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeader,
	}}}
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	if err := c.ask(ctx, http.MethodGet, "/hello", nil, &c.hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close ends the connection, and with it the guest and what it runs.
func (c *conn) Close() error { return c.session.Close() }

// alive tells whether requests can be made.
func (c *conn) alive() bool { return !c.session.IsClosed() }

// ask sends in as JSON and reads the answer into out; either may be nil.
func (c *conn) ask(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		body = strings.NewReader(string(data))
	}
	resp, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return c.died(ctx, act(method, path), err)
	case len(data) > maxAnswer:
		return fmt.Errorf("%s: the answer is over %d bytes", act(method, path), maxAnswer)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s: read the answer: %w", act(method, path), err)
	}
	return nil
}

// do makes one request. Errors: *statusError, the context's, ErrDied.
func (c *conn) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://guest"+path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.web.Do(req)
	if err != nil {
		return nil, c.died(ctx, act(method, path), err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxText))
	return nil, &statusError{Act: act(method, path), Code: resp.StatusCode, Text: printable(strings.TrimSpace(string(text)))}
}

// died closes the connection and wraps ErrDied, unless the caller gave up.
func (c *conn) died(ctx context.Context, act string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", act, ctx.Err())
	}
	if why := c.stream.failure(); why != nil {
		err = why
	}
	_ = c.Close()
	return fmt.Errorf("%s: %w: %w", act, ErrDied, err)
}

// act names a request in errors.
func act(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	return strings.ToLower(method) + " " + strings.TrimPrefix(path, "/")
}

// tap remembers why a stream's reads ended, which yamux does not pass on.
type tap struct {
	io.ReadWriteCloser
	mu  sync.Mutex
	err error
}

// Read implements io.Reader.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.err = err
	}
	return n, err
}

func (t *tap) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
