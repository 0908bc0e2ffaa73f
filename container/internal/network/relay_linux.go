package network

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/container/internal/tunnel"
)

// relay copies both ways until both have ended, or one side is reset, which
// resets the other. It closes both.
func relay(near *net.TCPConn, far *tunnel.Conn) {
	var both sync.WaitGroup
	both.Go(func() { outward(near, far) })
	both.Go(func() { inward(near, far) })
	both.Wait()
	_ = near.Close()
	_ = far.Close()
}

// outward copies what the agent sends. That the host takes no more ends only this
// way: what it sent before is still to be read.
func outward(near *net.TCPConn, far *tunnel.Conn) {
	from := &source{Reader: near}
	_, err := far.ReadFrom(from)
	switch {
	case err == nil:
		_ = far.CloseWrite()
	case from.err != nil && !errors.Is(from.err, os.ErrDeadlineExceeded):
		abort(near, far)
	}
}

// source tells errors of reading from those of writing.
type source struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// inward copies what the host sends. When the host has closed, what the agent
// still sends has nobody to read it.
func inward(near *net.TCPConn, far *tunnel.Conn) {
	if _, err := io.Copy(near, far); err != nil {
		abort(near, far)
		return
	}
	_ = near.CloseWrite()
	far.Closed()
	_ = near.SetReadDeadline(time.Unix(1, 0))
}

func abort(near *net.TCPConn, far *tunnel.Conn) {
	_ = far.SetLinger(0)
	_ = far.Close()
	reset(near)
}
