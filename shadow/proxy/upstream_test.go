package proxy

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

// TestUpstreamProxy: what the user's own proxy is for goes through it.
func TestUpstreamProxy(t *testing.T) {
	var connects []string
	var model string
	corporate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connects = append(connects, r.Method+" "+r.Host)
		under, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = under.Close() }()
		up, err := net.Dial("tcp", model)
		if err != nil {
			return
		}
		_, _ = io.WriteString(under, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, under) }()
		_, _ = io.Copy(under, up)
	}))
	defer corporate.Close()
	proxyURL, err := url.Parse(corporate.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, Policy{Mode: Open, Credentials: []shadow.Credential{modelCredential()}}, func(c *Config) {
		c.Upstream = func(u *url.URL) (*url.URL, error) {
			if strings.HasSuffix(u.Hostname(), "direct.test") {
				return nil, nil
			}
			return proxyURL, nil
		}
	})
	model = w.host("api.model.test", demand).Listener.Addr().String()
	w.host("direct.test", echoHead)
	c := w.client()
	if got := do(t, c, request(t, "GET", "https://api.model.test/v1", "", "X-Api-Key", shadowKey)); got.Status != 200 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := do(t, c, request(t, "GET", "https://direct.test/", "")); got.Status != 200 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if diff := cmp.Diff([]string{"CONNECT api.model.test:443"}, connects); diff != "" {
		t.Error(diff)
	}
	viaProxy := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(mustURL(t, "http://"+w.listeners[proxyPort].Addr().String()))}}
	if got := do(t, viaProxy, request(t, "GET", "http://169.254.169.254/latest", "")); got.Status != 403 {
		t.Errorf("the metadata service through the user's proxy: %d", got.Status)
	}
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
