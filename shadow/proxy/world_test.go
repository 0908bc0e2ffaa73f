package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
)

// world is a proxy between a sandbox's side and real servers on loopback, which
// have the names and public addresses that the proxy resolves.
type world struct {
	t         testing.TB
	p         *Proxy
	inside    *Authority // the sandbox trusts it
	outside   *Authority // the servers' own
	listeners map[int]net.Listener

	mu        sync.Mutex
	names     map[string][]netip.Addr
	servers   map[string]string // address dialled -> listener
	dialled   []netip.AddrPort
	resolved  map[string]int
	decisions []Decision
}

const (
	realKey   = "sk-real-8f3aQz71LmXw02BvKd55"
	shadowKey = "sk-ftl_shadow_model_0123456789abcdef0123456789abcdef"
	otherReal = "tok-other-Yh29sPqL0aZx73Wc"
	otherShad = "ftl_shadow_other_fedcba9876543210fedcba9876543210"
)

func newWorld(t testing.TB, policy Policy, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, names: map[string][]netip.Addr{}, servers: map[string]string{}, resolved: map[string]int{}, listeners: map[int]net.Listener{}}
	w.inside, w.outside = newTestAuthority(t, "inside"), newTestAuthority(t, "outside")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.outside.CertPEM())
	cfg := Config{Authority: w.inside, Policy: policy, Roots: roots, Resolve: w.resolve, Dial: w.dial, Record: func(d Decision) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.decisions = append(w.decisions, d)
	}}
	for _, f := range change {
		f(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.p = p
	for _, port := range []int{80, 443, proxyPort} {
		w.listen(port)
	}
	return w
}

func newTestAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	a, err := NewAuthority(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// listen serves a port of the sandbox.
func (w *world) listen(port int) {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.listeners[port] = l
	done := make(chan error, 1)
	go func() { done <- w.p.Serve(context.Background(), portListener{l, port}) }()
	w.t.Cleanup(func() {
		w.p.Close()
		if err := <-done; err != nil {
			w.t.Errorf("Serve: %v", err)
		}
	})
}

// portListener's connections say that another port was dialled.
type portListener struct {
	net.Listener
	port int
}

func (l portListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return portConn{c.(*net.TCPConn), l.port}, nil
}

type portConn struct {
	*net.TCPConn
	port int
}

func (c portConn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.port} }

func (w *world) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resolved[host]++
	if all := w.names[host]; all != nil {
		return append([]netip.Addr(nil), all...), nil
	}
	return nil, fmt.Errorf("no such host %s", host)
}

func (w *world) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, addr)
	to := w.servers[addr.String()]
	w.mu.Unlock()
	if to == "" {
		return nil, fmt.Errorf("nothing listens at %s", addr)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", to)
}

// name gives a host addresses.
func (w *world) name(host string, addresses ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[host] = nil
	for _, a := range addresses {
		w.names[host] = append(w.names[host], netip.MustParseAddr(a))
	}
}

// host starts a TLS server with a public address of its own, on port 443.
func (w *world) host(name string, h http.HandlerFunc) *httptest.Server {
	w.t.Helper()
	server := httptest.NewUnstartedServer(h)
	cert, err := w.outside.mint(name, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{*cert}}
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	w.t.Cleanup(server.Close)
	w.place(name, 443, server.Listener.Addr().String())
	return server
}

// plainHost starts an HTTP server on port 80.
func (w *world) plainHost(name string, h http.HandlerFunc) {
	server := httptest.NewServer(h)
	w.t.Cleanup(server.Close)
	w.place(name, 80, server.Listener.Addr().String())
}

func (w *world) place(name string, port int, listener string) {
	w.mu.Lock()
	if w.names[name] == nil {
		w.names[name] = []netip.Addr{netip.AddrFrom4([4]byte{93, 184, 216, byte(len(w.names) + 1)})}
	}
	addr := w.names[name][0]
	w.servers[netip.AddrPortFrom(addr, uint16(port)).String()] = listener
	w.mu.Unlock()
}

// client dials as a program in the sandbox: any name is the proxy.
func (w *world) client(protocols ...string) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.inside.CertPEM())
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(addr)
			return w.open(ctx, port)
		},
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: len(protocols) == 0, DisableCompression: true, MaxIdleConnsPerHost: 200,
	}
	w.t.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (w *world) open(ctx context.Context, port string) (net.Conn, error) {
	for n, l := range w.listeners {
		if fmt.Sprint(n) == port {
			return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
		}
	}
	return nil, fmt.Errorf("port %s is not open in the sandbox", port)
}

// tcp is a raw connection to a port inside.
func (w *world) tcp(port int) net.Conn {
	w.t.Helper()
	c, err := w.open(context.Background(), fmt.Sprint(port))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// tls is a TLS connection for a name, with HTTP/1.1.
func (w *world) tls(name string) *tls.Conn {
	w.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.inside.CertPEM())
	return tls.Client(w.tcp(443), &tls.Config{RootCAs: roots, ServerName: name})
}

// reply is an answer read to its end.
type reply struct {
	Status  int
	Body    string
	Header  http.Header
	Trailer http.Header
}

func do(t testing.TB, c *http.Client, r *http.Request) reply {
	t.Helper()
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, string(body), res.Header, res.Trailer}
}

func request(t testing.TB, method, url, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// last is the newest decision, once there are that many.
func (w *world) last(count int) Decision {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		w.mu.Lock()
		if len(w.decisions) >= count {
			d := w.decisions[len(w.decisions)-1]
			w.mu.Unlock()
			return d
		}
		w.mu.Unlock()
	}
	w.t.Fatalf("no %d decisions: %+v", count, w.decisions)
	return Decision{}
}

// caFile is the sandbox's CA for clients of other languages.
func (w *world) caFile() string {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, w.inside.CertPEM(), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

func modelCredential(change ...func(*shadow.Binding)) shadow.Credential {
	b := shadow.Binding{Hosts: []string{"api.model.test"}, Places: []string{"auth", "header:x-api-key"}}
	for _, f := range change {
		f(&b)
	}
	return shadow.Credential{Name: "MODEL_KEY", Shadow: shadowKey, Real: shadow.NewSecret(realKey), Binding: b}
}

// noReal fails if a text holds any form of a real value.
func noReal(t testing.TB, text string) {
	t.Helper()
	for _, value := range []string{realKey, otherReal} {
		for i, form := range shadow.Encodings(value) {
			if form != nil && bytes.Contains([]byte(text), form) {
				t.Errorf("encoding %d of a real value came back", i)
			}
		}
	}
}
