package chat

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

// newKey is of the length of a real one and of no provider's form.
func newKey(t *testing.T) string {
	t.Helper()
	b := make([]byte, 24)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return "key-" + hex.EncodeToString(b)
}

// world is a model server over TLS, reached under every name.
type world struct {
	*modelserver.Canned
	http *http.Client
}

func newWorld(t *testing.T, turns ...modelserver.Turn) *world {
	t.Helper()
	w := &world{Canned: &modelserver.Canned{Key: newKey(t), Turns: turns}}
	srv := httptest.NewTLSServer(w.Canned)
	t.Cleanup(srv.Close)
	roots := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	w.http = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", srv.Listener.Addr().String())
		},
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12},
	}}
	t.Cleanup(w.http.CloseIdleConnections)
	return w
}

func (w *world) options() Options {
	return Options{
		HTTP: w.http, Timeout: time.Minute, Silence: time.Minute,
		Key: func(string, *url.URL) (shadow.Secret, bool) { return shadow.NewSecret(w.Key), true },
	}
}

func (w *world) open(t *testing.T, spec string, change func(*Options)) *Client {
	t.Helper()
	o := w.options()
	if change != nil {
		change(&o)
	}
	c, err := Open(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// specs are a model of each protocol at its provider's own server.
func specs() []string { return []string{"anthropic/claude-sonnet-5", "openai/gpt-5"} }

// soon is a header by which both SDKs try again at once.
func soon() http.Header { return http.Header{"Retry-After-Ms": {"1"}} }

func clientWithKey(key string) *Client {
	return &Client{name: "openai/x", keyName: "OPENAI_API_KEY", secret: shadow.NewSecret(key)}
}
