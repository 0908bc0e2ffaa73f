package container

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/hashicorp/yamux"

	"github.com/git-ftl/git-ftl/container/internal/tunnel"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// hostileNetwork connects a sandbox whose guest does as the test likes.
func hostileNetwork(t *testing.T) (*Sandbox, *yamux.Session) {
	t.Helper()
	s, e := sandboxOf(t, map[string]http.HandlerFunc{
		"POST /network": func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(wire.NetworkReport{Missing: []string{"\x1b[31mred"}})
		},
		"POST /ports": func(http.ResponseWriter, *http.Request) {},
	})
	report, err := s.Connect(t.Context(), Network{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Missing[0] != "\ufffd[31mred" || report.Carrier != "exec" {
		t.Errorf("report %q", report)
	}
	return s, e.sessions[0]
}

// opened opens a stream that begins with some bytes.
func opened(t *testing.T, guest *yamux.Session, first string) net.Conn {
	t.Helper()
	c, err := guest.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, first); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestInletRefuses: the guest's word for a port is not enough.
func TestInletRefuses(t *testing.T) {
	s, guest := hostileNetwork(t)
	for name, first := range map[string]string{
		"closed port": "5432\n", "port of names": "53\n", "no port": "GET / HTTP/1.1\n", "too long": "00000000443\n", "host's port": "65536\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := opened(t, guest, first)
			if data, err := io.ReadAll(c); len(data) > 0 {
				t.Errorf("%q, %v", data, err)
			}
			_ = c.Close()
		})
	}
	if err := s.Open(t.Context(), 5432); err != nil {
		t.Fatal(err)
	}
	c := opened(t, guest, "5432\n")
	got, err := s.Tunnel().Accept()
	if err != nil || got.LocalAddr().String() != "127.0.0.1:5432" {
		t.Fatalf("%v, %v", got, err)
	}
	if err := s.Close(t.Context(), 5432, 443); err != nil {
		t.Fatal(err)
	}
	if _, err := got.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a connection through a port that was closed: %v", err)
	}
	if data, err := io.ReadAll(c); len(data) > 0 {
		t.Errorf("%q, %v", data, err)
	}
	opened(t, guest, "443\n")
	if got, err := s.Tunnel().Accept(); err != nil || got.LocalAddr().String() != "127.0.0.1:443" {
		t.Errorf("a fixed port could be closed: %v, %v", got, err)
	}
}

// TestInletIsBounded: streams that the guest leaves open, before and after the
// host has closed them, are no more than there may be.
func TestInletIsBounded(t *testing.T) {
	s, guest := hostileNetwork(t)
	in := s.in
	held := func() int {
		in.mu.Lock()
		defer in.mu.Unlock()
		return len(in.open)
	}
	const most = tunnel.MaxConns - 1 // the socket, which nobody uses, waits with the other
	for range most {
		opened(t, guest, "443\n")
		c, err := s.Tunnel().Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close() // which the guest ignores
	}
	for range 2 * wire.Backlog {
		if c, err := guest.Open(); err == nil {
			_, _ = io.WriteString(c, "443\n") // or it was reset
		}
	}
	if held() != most || len(in.slots) != tunnel.MaxConns {
		t.Errorf("%d connections, %d slots", held(), len(in.slots))
	}
	if n := s.con.session.NumStreams(); n > tunnel.MaxConns+wire.Backlog+1 {
		t.Errorf("%d streams", n)
	}
	release(t, s)
	until(t, "the end of all", func() bool { return held() == 0 })
	if _, err := s.Tunnel().Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after the release: %v", err)
	}
}
