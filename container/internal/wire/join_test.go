package wire

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/hashicorp/yamux"
)

// counted counts writes.
type counted struct {
	net.Conn
	writes [][]byte
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes = append(c.writes, bytes.Clone(p))
	return c.Conn.Write(p)
}

// TestJoined: a real session's frames arrive whole, a body never without its head
// and a head never held where no body comes.
func TestJoined(t *testing.T) {
	a, b := net.Pipe()
	out := &counted{Conn: a}
	config := yamux.DefaultConfig()
	config.EnableKeepAlive, config.LogOutput = false, io.Discard
	near, err := yamux.Client(Joined(out), config)
	if err != nil {
		t.Fatal(err)
	}
	far, err := yamux.Server(Joined(b), config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := near.Open()
	if err != nil {
		t.Fatal(err)
	}
	sent := bytes.Repeat([]byte("0123456789ab"), 60_000)
	go func() {
		_, _ = c.Write(sent[:12]) // as long as a head
		_, _ = c.Write(sent[12:])
		_ = c.Close()
	}()
	peer, err := far.Accept()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(peer)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := near.Close(); err != nil {
		t.Error(err)
	}
	for _, w := range out.writes {
		if size := int(w[8])<<24 | int(w[9])<<16 | int(w[10])<<8 | int(w[11]); w[1] == frameData && len(w) != frameHead+size {
			t.Errorf("a write of %d bytes for a body of %d", len(w), size)
		}
	}
}
