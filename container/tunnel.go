package container

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/container/internal/tunnel"
)

// questionTime bounds the question whether a socket is the way, which nobody but
// the guest asks.
const questionTime = 10 * time.Second

// inlet is the host's end of the tunnel. What comes out of it is hostile: the
// number of connections is bounded, and so is what each of them holds.
type inlet struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
	slots chan struct{} // one for each connection, until its stream is gone

	mu    sync.Mutex
	ports map[int]bool
	open  map[*tunnel.Conn]struct{}
	sock  net.Listener // nil where there is none
}

var _ net.Listener = (*inlet)(nil)

func newInlet() *inlet {
	in := &inlet{
		conns: make(chan net.Conn), done: make(chan struct{}), slots: make(chan struct{}, tunnel.MaxConns),
		ports: map[int]bool{}, open: map[*tunnel.Conn]struct{}{},
	}
	in.allow(80, 443, 3128)
	return in
}

// Accept implements net.Listener.
func (in *inlet) Accept() (net.Conn, error) {
	select {
	case c := <-in.conns:
		return c, nil
	case <-in.done:
		return nil, &net.OpError{Op: "accept", Net: "tunnel", Addr: in.Addr(), Err: net.ErrClosed}
	}
}

// Close implements net.Listener. Connections that were accepted go on.
func (in *inlet) Close() error {
	in.once.Do(func() { close(in.done) })
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.sock != nil {
		return in.sock.Close()
	}
	return nil
}

// Addr implements net.Listener.
func (in *inlet) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// end closes all, also what was accepted.
func (in *inlet) end() {
	_ = in.Close()
	in.shut(func(*tunnel.Conn) bool { return true })
}

// shut resets the connections that are chosen.
func (in *inlet) shut(chosen func(*tunnel.Conn) bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for c := range in.open {
		if chosen(c) {
			_ = c.SetLinger(0)
			_ = c.Close()
		}
	}
}

// allow lets connections to more ports in.
func (in *inlet) allow(ports ...int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, port := range ports {
		in.ports[port] = true
	}
}

// refuse lets no connection to the ports in, and resets those that there are.
func (in *inlet) refuse(ports ...int) {
	gone := map[int]bool{}
	in.mu.Lock()
	for _, port := range ports {
		gone[port] = true
		delete(in.ports, port)
	}
	in.mu.Unlock()
	in.shut(func(c *tunnel.Conn) bool { return gone[c.Port] })
}

// serve takes connections from accept until it fails. While too many are open
// none is taken, and the guest has to wait.
func (in *inlet) serve(accept func() (net.Conn, error)) {
	for {
		in.slots <- struct{}{}
		stream, err := accept()
		if err != nil {
			<-in.slots
			return
		}
		go in.take(stream)
	}
}

// take hands one connection to Accept, and resets those that it may not have.
func (in *inlet) take(stream net.Conn) {
	c := tunnel.New(stream)
	c.Done = func() { in.forget(c) }
	in.mu.Lock()
	in.open[c] = struct{}{}
	in.mu.Unlock()
	port, err := c.Begin()
	in.mu.Lock()
	c.Port = port
	allowed := err == nil && in.ports[port]
	in.mu.Unlock()
	switch {
	case allowed:
		select {
		case in.conns <- c:
			return
		case <-in.done:
		}
	case err == nil && port == tunnel.Probe:
		echo(c)
		return
	}
	_ = c.SetLinger(0)
	_ = c.Close()
}

func (in *inlet) forget(c *tunnel.Conn) {
	in.mu.Lock()
	delete(in.open, c)
	in.mu.Unlock()
	<-in.slots
}

// echo answers the guest's question whether this is the way.
func echo(c *tunnel.Conn) {
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(questionTime)); err != nil {
		return
	}
	question, err := io.ReadAll(io.LimitReader(c, 64))
	if err == nil {
		_, _ = c.Write(question)
	}
}

// listenSocket makes a socket of a new name in dir, which only we may enter, and
// removes those that a crash left there.
func (in *inlet) listenSocket(dir string) (name string, err error) {
	old, err := filepath.Glob(filepath.Join(dir, "*.sock"))
	if err != nil {
		return "", err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return "", err
		}
	}
	name = nonce(8) + ".sock"
	l, err := listenUnix(dir, name)
	if err != nil {
		return "", fmt.Errorf("listen for the sandbox: %w", err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.sock != nil {
		err = in.sock.Close()
	}
	in.sock = l
	go in.serve(func() (net.Conn, error) {
		for {
			c, err := l.Accept()
			if err == nil || errors.Is(err, net.ErrClosed) {
				return c, err
			}
			time.Sleep(10 * time.Millisecond) // no descriptors for the moment
		}
	})
	return name, err
}
