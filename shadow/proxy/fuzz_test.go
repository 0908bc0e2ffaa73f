package proxy

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// FuzzSniff: no bytes on any port end the proxy, reach a server, or keep a
// connection beyond its end.
func FuzzSniff(f *testing.F) {
	f.Add([]byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"), uint16(443))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"), uint16(80))
	f.Add([]byte("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n\x16\x03\x01"), uint16(proxyPort))
	f.Add([]byte("GET http://127.0.0.1/ HTTP/1.1\r\n\r\n"), uint16(proxyPort))
	f.Add([]byte("\x00\x00\x00\x08\x04\xd2\x16\x2f"), uint16(5432))
	f.Fuzz(func(t *testing.T, send []byte, port uint16) {
		w := newWorld(t, Policy{})
		l := &oneConn{conns: make(chan net.Conn, 1), closed: make(chan struct{}), port: int(port)}
		inside, outside := net.Pipe()
		l.conns <- outside
		done := make(chan error, 1)
		go func() { done <- w.p.Serve(context.Background(), l) }()
		go func() { _, _ = inside.Write(send) }()
		_ = inside.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = io.ReadAll(inside)
		_ = inside.Close()
		w.p.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := w.addresses(); len(got) != 0 {
			t.Errorf("%q dialled %v", send, got)
		}
	})
}

type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	port   int
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return pipeConn{c, l.port}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{Port: l.port} }

type pipeConn struct {
	net.Conn
	port int
}

func (c pipeConn) LocalAddr() net.Addr { return &net.TCPAddr{Port: c.port} }
