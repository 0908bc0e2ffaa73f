package tunnel

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ends gives both ends of a real stream.
func ends(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	near, err = net.Dial("tcp", l.Addr().String())
	must(t, err)
	far, err = l.Accept()
	must(t, err)
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pair gives both ends of a connection to port 443.
func pair(t *testing.T) (near, far *Conn) {
	t.Helper()
	a, b := ends(t)
	near, err := Dial(a, 443)
	must(t, err)
	far = New(b)
	far.Port, err = far.Begin()
	must(t, err)
	return near, far
}

func TestPort(t *testing.T) {
	_, far := pair(t)
	if got := far.LocalAddr().(*net.TCPAddr).Port; got != 443 {
		t.Errorf("port %d", got)
	}
}

func TestBegin(t *testing.T) {
	for _, row := range []struct {
		name, sent string
		port       int
		good       bool
	}{
		{"port", "80\n", 80, true},
		{"largest", "65535\n", 65535, true},
		{"too large", "65536\n", 0, false},
		{"sign", "+80\n", 0, false},
		{"empty", "\n", 0, false},
		{"long", "0000000000000\n", 0, false},
		{"ends", "80", 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a, b := ends(t)
			_, err := io.WriteString(a, row.sent)
			must(t, err)
			must(t, a.Close())
			port, err := New(b).Begin()
			if port != row.port || (err == nil) != row.good {
				t.Errorf("%d, %v", port, err)
			}
		})
	}
}

// TestHalfClose: the end of one direction leaves the other as it is.
func TestHalfClose(t *testing.T) {
	near, far := pair(t)
	sent := bytes.Repeat([]byte("0123456789"), 50_000)
	go func() {
		_, _ = near.Write(sent)
		_ = near.CloseWrite()
	}()
	got, err := io.ReadAll(far)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := far.ReadFrom(strings.NewReader("answer")); err != nil {
		t.Error(err)
	}
	must(t, far.Close())
	if got, err := io.ReadAll(near); string(got) != "answer" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
}

func TestReset(t *testing.T) {
	for name, end := range map[string]func(near *Conn, stream net.Conn){
		"asked for":      func(near *Conn, _ net.Conn) { _ = near.SetLinger(0); _ = near.Close() },
		"stream is gone": func(_ *Conn, stream net.Conn) { _ = stream.Close() },
		"amid a chunk":   func(_ *Conn, stream net.Conn) { _, _ = stream.Write([]byte{0, 9, 1}); _ = stream.Close() },
		"amid a length":  func(_ *Conn, stream net.Conn) { _, _ = stream.Write([]byte{0}); _ = stream.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			_, err := near.Write([]byte("abc"))
			must(t, err)
			end(near, near.stream)
			if got, err := io.ReadAll(far); !errors.Is(err, syscall.ECONNRESET) || !bytes.HasPrefix(got, []byte("abc")) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestDeadline: a deadline that passes amid a chunk loses nothing.
func TestDeadline(t *testing.T) {
	near, far := pair(t)
	buf := make([]byte, 10)
	for _, part := range []string{"\x00", "\x03", "a", "bc"} {
		must(t, far.SetReadDeadline(time.Now().Add(5*time.Millisecond)))
		if n, err := far.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q, %v", buf[:n], err)
		}
		_, err := io.WriteString(near.stream, part)
		must(t, err)
		if part == "a" {
			must(t, far.SetReadDeadline(time.Time{}))
			if n, err := far.Read(buf); string(buf[:n]) != "a" || err != nil {
				t.Errorf("%q, %v", buf[:n], err)
			}
		}
	}
	must(t, far.SetReadDeadline(time.Time{}))
	if n, err := far.Read(buf); string(buf[:n]) != "bc" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
}

// TestCloseWakes: Close ends a Read and a Write that wait, and says when all is
// over.
func TestCloseWakes(t *testing.T) {
	near, far := pair(t)
	over := make(chan struct{})
	near.Done = func() { close(over) }
	read, written := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := near.Read(make([]byte, 1))
		read <- err
	}()
	go func() {
		_, err := near.Write(make([]byte, 64<<20)) // more than the kernel holds
		written <- err
	}()
	_, err := io.ReadFull(far, make([]byte, 1<<20))
	must(t, err)
	must(t, near.Close())
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if err := <-written; err == nil {
		t.Error("a write into nothing succeeded")
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if err := near.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second close: %v", err)
	}
	must(t, far.Close())
	<-over
}
