package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/hashicorp/yamux"

	"github.com/git-ftl/git-ftl/shadow"
)

// TestOverYamux: connections that are streams of a multiplexer, whose deadlines
// and closing are not those of TCP.
func TestOverYamux(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "ws.test"}}, Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", demand)
	w.host("ws.test", func(rw http.ResponseWriter, _ *http.Request) {
		under, buffered, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = under.Close() }()
		_, _ = io.WriteString(under, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		_, _ = io.Copy(under, buffered)
	})
	hostEnd, guestEnd := net.Pipe()
	host, err := yamux.Server(hostEnd, yamuxConfig())
	if err != nil {
		t.Fatal(err)
	}
	guest, err := yamux.Client(guestEnd, yamuxConfig())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.p.Serve(context.Background(), muxListener{host}) }()
	connect := func(name string) net.Conn {
		c, err := guest.Open()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n", name, name)
		res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%v, %v", res, err)
		}
		return tlsOver(w, c, name)
	}
	c := connect("api.model.test")
	for range 3 {
		fmt.Fprintf(c, "POST /v1 HTTP/1.1\r\nHost: api.model.test\r\nX-Api-Key: %s\r\nContent-Length: 2\r\n\r\nab", shadowKey)
		if status := readStatus(t, c); status != 200 {
			t.Errorf("got %d", status)
		}
	}
	c = connect("ws.test")
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: ws.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
	r := bufio.NewReader(c)
	if res, err := http.ReadResponse(r, nil); err != nil || res.StatusCode != 101 {
		t.Fatalf("%v, %v", res, err)
	}
	for range 3 {
		got := make([]byte, 4)
		_, _ = io.WriteString(c, "ping")
		if _, err := io.ReadFull(r, got); err != nil || string(got) != "ping" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	_ = guest.Close() // the guest dies: all ends, and that is no error
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func yamuxConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive, c.LogOutput = false, io.Discard
	return c
}

// muxListener's connections say that the proxy port was dialled.
type muxListener struct{ *yamux.Session }

func (l muxListener) Accept() (net.Conn, error) {
	c, err := l.Session.Accept()
	if err != nil {
		return nil, err
	}
	return pipeConn{c, proxyPort}, nil
}
