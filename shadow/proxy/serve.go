package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// server is one Serve.
type server struct {
	p     *Proxy
	ctx   context.Context
	tls   *tls.Config
	http  *http.Server
	ready *handoff

	mu    sync.Mutex
	conns map[*conn]bool // nil once it ends
	wait  sync.WaitGroup // of everything that serves a connection
}

// conn is a connection of the sandbox whose first bytes may have been looked at.
type conn struct {
	net.Conn
	r      *bufio.Reader
	way    way
	server *server
	once   sync.Once
	done   func()
}

// Read implements net.Conn. TLS gives a connection up after a timeout that does not
// call itself temporary, as those of multiplexers do not; a connection that changes
// its protocol has one.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if err != nil && isTimeout(err) {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}

// CloseWrite passes a half-close on, if what is below has one.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// Serve takes connections of one sandbox until the context or the proxy ends or
// the listener is closed, which are no errors. It closes the listener, and ends
// every connection before it returns. The port of a connection's LocalAddr, a
// *net.TCPAddr, is the one that was dialled inside: 443, 80, 3128 for proxy
// requests, or that of a raw service.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	s := &server{p: p, ctx: ctx, ready: newHandoff(l.Addr()), conns: map[*conn]bool{}}
	s.tls = s.tlsConfig()
	s.http = s.httpServer()
	s.wait.Go(func() { _ = s.http.Serve(s.ready) })
	err := s.accept(l)
	cancel()
	_ = l.Close()
	_ = s.ready.Close()
	_ = s.http.Close()
	s.endConns()
	s.wait.Wait()
	return err
}

func (s *server) accept(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("accept from the sandbox: %w", err)
		}
		taken, ok := s.admit(c)
		if !ok {
			_ = c.Close()
			continue
		}
		s.wait.Go(func() { s.take(taken) })
	}
}

// admit wraps a connection and counts it, if there is room.
func (s *server) admit(c net.Conn) (*conn, bool) {
	addr, ok := c.LocalAddr().(*net.TCPAddr)
	if !ok {
		return nil, false
	}
	taken := &conn{Conn: c, r: bufio.NewReader(c), way: way{port: addr.Port}, server: s}
	return taken, s.track(taken, maxConns)
}

// track remembers a connection until it is closed.
func (s *server) track(c *conn, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil || len(s.conns) >= limit {
		return false
	}
	s.conns[c] = true
	c.done = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
	}
	return true
}

// begin counts a request, unless all is at its end.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		return false
	}
	s.wait.Add(1)
	return true
}

func (s *server) endConns() {
	s.mu.Lock()
	all := s.conns
	s.conns = nil
	s.mu.Unlock()
	for c := range all {
		_ = c.Conn.Close()
	}
}

const (
	tlsHandshake = 0x16
	rawPatience  = 300 * time.Millisecond // for the first byte where the server may speak first
)

// take looks at the first byte of a connection and hands it on.
func (s *server) take(c *conn) {
	if s.isService(c.way) {
		s.service(c)
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(helloTimeout))
	first, err := c.r.Peek(1)
	_ = c.SetReadDeadline(time.Time{})
	if err != nil {
		_ = c.Close()
		return
	}
	s.hand(c, first[0])
}

// hand gives a connection to the HTTP server, over TLS or plain.
func (s *server) hand(c *conn, first byte) {
	if first != tlsHandshake {
		s.ready.put(c)
		return
	}
	if c.way.port == proxyPort && c.way.host == "" {
		_ = c.Close() // no client was told to speak TLS with a proxy
		return
	}
	s.ready.put(tls.Server(c, s.tls))
}

// tlsConfig mints a certificate for whatever host is asked for, so that a refusal
// can be read as text.
func (s *server) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			name := hello.ServerName
			if c, ok := hello.Conn.(*conn); ok && name == "" {
				name = c.way.host
			}
			if name == "" {
				name = "127.0.0.1"
			}
			host, ok := normalise(name)
			if !ok {
				return nil, errors.New("the name asked for is not a host")
			}
			return s.p.cfg.Authority.mint(host, s.p.cfg.Now())
		},
	}
}

type connKey struct{}

func (s *server) httpServer() *http.Server {
	return &http.Server{
		Handler:           s,
		TLSConfig:         s.tls,
		ReadHeaderTimeout: helloTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          log.New(io.Discard, "", 0), // it would hold what the sandbox sends
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if t, ok := c.(*tls.Conn); ok {
				c = t.NetConn()
			}
			return context.WithValue(ctx, connKey{}, c)
		},
	}
}

// handoff is a listener of connections that were accepted elsewhere.
type handoff struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	addr   net.Addr
}

func newHandoff(addr net.Addr) *handoff {
	return &handoff{conns: make(chan net.Conn), closed: make(chan struct{}), addr: addr}
}

func (h *handoff) put(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handoff) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr implements net.Listener.
func (h *handoff) Addr() net.Addr { return h.addr }
