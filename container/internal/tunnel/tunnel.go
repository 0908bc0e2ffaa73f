// Package tunnel carries a connection that was made inside the sandbox over a
// stream to the host. Both sides use it, and neither trusts the other: a peer can
// make a reader hold no more than one small buffer, and breaks only its own
// connection.
//
// A stream begins with one line, the decimal port that was dialled. Then, in each
// direction, come chunks of a 2-byte big-endian length and as many bytes. A length
// of 0 ends the direction. A stream that ends without it was reset.
package tunnel

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// MaxConns bounds the connections that are open at once.
	MaxConns = 256
	// Probe is the port of a connection that only asks whether the way is open.
	// The host answers with the bytes of its question and ends.
	Probe = 0

	maxChunk = 32<<10 - 2 - 12 // bytes; with its length and yamux's head what an engine moves at once
	readSize = 4 << 10

	flushTime = time.Minute
)

// Conn is one carried connection. One Read, one Write and any Close may be under
// way at the same time.
type Conn struct {
	Port int    // that was dialled inside, for LocalAddr
	Done func() // called once after Close, when the peer has closed too; may be nil

	stream net.Conn
	read   sync.Mutex
	in     *bufio.Reader
	left   int  // bytes of the present chunk
	ended  bool // the peer's direction

	write  sync.Mutex
	out    []byte
	done   bool // our direction has ended, or is broken
	once   sync.Once
	abrupt atomic.Bool // Close resets
	closed atomic.Bool
}

var _ net.Conn = (*Conn)(nil)

// New wraps a stream that the peer opened; Begin comes next.
func New(stream net.Conn) *Conn {
	return &Conn{stream: stream, in: bufio.NewReaderSize(stream, readSize)}
}

// Dial begins a connection over a new stream, for a port that was dialled.
func Dial(stream net.Conn, port int) (*Conn, error) {
	c := New(stream)
	c.Port = port
	if _, err := fmt.Fprintf(stream, "%d\n", port); err != nil {
		return nil, fmt.Errorf("begin connection: %w", err)
	}
	return c, nil
}

// Begin reads the port that the peer dialled.
func (c *Conn) Begin() (int, error) {
	c.read.Lock()
	defer c.read.Unlock()
	line, err := c.line(len("65535\n"))
	if err != nil {
		return 0, fmt.Errorf("begin connection: %w", err)
	}
	port, err := strconv.ParseUint(line, 10, 16)
	if err != nil {
		return 0, errors.New("begin connection: no port comes first")
	}
	return int(port), nil
}

// line reads up to a newline, of at most max bytes with it.
func (c *Conn) line(max int) (string, error) {
	var line strings.Builder
	for range max {
		b, err := c.in.ReadByte()
		if err != nil {
			return "", err
		}
		if b == '\n' {
			return line.String(), nil
		}
		line.WriteByte(b)
	}
	return "", errors.New("the first line is too long")
}

// Read implements io.Reader: io.EOF where the peer ended its direction, an error
// that is syscall.ECONNRESET where it reset the connection.
func (c *Conn) Read(p []byte) (int, error) {
	c.read.Lock()
	defer c.read.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if err := c.next(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, c.broken(err)
}

// next goes to the next chunk where the present one is used up. A deadline may
// pass between any two bytes, and loses none.
func (c *Conn) next() error {
	switch {
	case c.closed.Load():
		return net.ErrClosed
	case c.ended:
		return io.EOF
	case c.left > 0:
		return nil
	}
	head, err := c.in.Peek(2)
	if err != nil {
		return c.broken(err)
	}
	c.left = int(binary.BigEndian.Uint16(head))
	_, _ = c.in.Discard(2)
	if c.left == 0 {
		c.ended = true
		return io.EOF
	}
	return nil
}

// broken is a reset where a stream just ends.
func (c *Conn) broken(err error) error {
	switch {
	case err == nil:
		return nil
	case c.closed.Load():
		return net.ErrClosed
	case err == io.EOF:
		return &net.OpError{Op: "read", Net: "tunnel", Err: syscall.ECONNRESET}
	}
	return err
}

// Write implements io.Writer. After a failed one the connection is good for
// nothing but Close, which then resets it.
func (c *Conn) Write(p []byte) (int, error) {
	c.write.Lock()
	defer c.write.Unlock()
	total := 0
	for total < len(p) {
		n := min(len(p)-total, maxChunk)
		c.out = append(append(c.out[:0], 0, 0), p[total:total+n]...)
		if err := c.send(); err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// ReadFrom implements io.ReaderFrom without a copy of its own.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	c.write.Lock()
	defer c.write.Unlock()
	buf := make([]byte, 2+maxChunk)
	for total := int64(0); ; {
		n, err := r.Read(buf[2:])
		if n > 0 {
			c.out = buf[:2+n]
			if err := c.send(); err != nil {
				return total, err
			}
			total += int64(n)
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// send writes c.out, a chunk whose first two bytes are for its length; c.write is
// held.
func (c *Conn) send() error {
	if c.done {
		return net.ErrClosed
	}
	binary.BigEndian.PutUint16(c.out, uint16(len(c.out)-2))
	if _, err := c.stream.Write(c.out); err != nil {
		c.done = true
		c.abrupt.Store(true)
		return err
	}
	return nil
}

// CloseWrite ends our direction; the peer's goes on.
func (c *Conn) CloseWrite() error {
	c.write.Lock()
	defer c.write.Unlock()
	if c.done {
		return nil
	}
	c.out = append(c.out[:0], 0, 0)
	err := c.send()
	c.done, c.out = true, nil
	return err
}

// SetLinger makes Close reset the connection where sec is 0, as that of a
// net.TCPConn does.
func (c *Conn) SetLinger(sec int) error {
	c.abrupt.Store(sec == 0)
	return nil
}

// Close ends the connection in both directions and returns at once. The peer
// reads what was written, if it does within flushTime, and then the end.
func (c *Conn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		c.closed.Store(true)
		_ = c.stream.SetReadDeadline(time.Unix(1, 0))
		// A Write that still waits for the peer makes it a reset.
		graceful := !c.abrupt.Load() && c.write.TryLock()
		if graceful {
			c.write.Unlock()
		}
		if !graceful {
			_ = c.stream.Close()
		}
		go c.finish(graceful)
		err = nil
	})
	return err
}

// finish ends the stream, and throws away what still comes until the peer has
// closed too, since a stream holds memory until then.
func (c *Conn) finish(graceful bool) {
	if graceful {
		_ = c.stream.SetWriteDeadline(time.Now().Add(flushTime))
		_ = c.CloseWrite()
		_ = c.stream.Close()
	}
	// No Read begins any more; one that is under way ends.
	c.read.Lock()
	//lint:ignore SA2001 only to wait
	c.read.Unlock()
	_ = c.stream.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, c.stream)
	if c.Done != nil {
		c.Done()
	}
}

// Closed waits until the peer has closed the connection after it ended its
// direction.
func (c *Conn) Closed() {
	c.read.Lock()
	defer c.read.Unlock()
	_, _ = c.in.Peek(1)
}

// LocalAddr is the address that was dialled inside, a *net.TCPAddr.
func (c *Conn) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.Port}
}

// RemoteAddr is the sandbox's loopback address; the port says nothing.
func (c *Conn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error { return c.stream.SetDeadline(t) }

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.stream.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.stream.SetWriteDeadline(t) }
