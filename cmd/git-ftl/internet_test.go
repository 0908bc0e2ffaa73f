package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// internet is a company's network: TLS servers by name, reached by nothing but its
// proxy. A test and a script can have one.
type internet struct {
	t interface {
		Fatalf(format string, args ...any)
	}
	ca     *authority // signs the servers
	office *authority // of a proxy that looks into TLS; nil for none

	mu      sync.Mutex
	servers map[string]string // listener by name
	seen    []string          // "CONNECT api.example:443"
	ended   []func()
}

func newInternet(t interface {
	Fatalf(format string, args ...any)
}) *internet {
	n := &internet{t: t, servers: map[string]string{}}
	n.ca = n.authority("servers of a test")
	return n
}

func (n *internet) must(err error) {
	if err != nil {
		n.t.Fatalf("network of a test: %v", err)
	}
}

func (n *internet) close() {
	for _, end := range n.ended {
		end()
	}
}

// serve starts a server for names, of which "*.example" is any below; a name can
// have a port behind it.
func (n *internet) serve(handler http.HandlerFunc, names ...string) {
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{GetCertificate: n.ca.certificate}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = append(n.ended, server.Close)
	for _, name := range names {
		n.servers[name] = server.Listener.Addr().String()
	}
}

func (n *internet) find(hostPort string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, port, _ := net.SplitHostPort(hostPort)
	_, below, _ := strings.Cut(name, ".")
	if port != "443" {
		return n.servers[hostPort]
	}
	if to := n.servers[name]; to != "" {
		return to
	}
	return n.servers["*."+below]
}

// proxy starts the one way out. A login is demanded where one is given; over TLS
// it has a certificate of the office.
func (n *internet) proxy(login string, overTLS bool) string {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")
		to := n.find(r.Host)
		switch {
		case login != "" && given != base64.StdEncoding.EncodeToString([]byte(login)):
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method != http.MethodConnect || to == "":
			w.WriteHeader(http.StatusForbidden)
		default:
			n.tunnel(w, r.Host, to)
		}
	}))
	scheme := "http://"
	if overTLS {
		scheme = "https://"
		// Not StartTLS: to a client that names no host it shows a certificate of its own.
		server.Listener = tls.NewListener(server.Listener, &tls.Config{GetCertificate: n.office.certificate})
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	n.ended = append(n.ended, server.Close)
	if login != "" {
		scheme += login + "@"
	}
	return scheme + server.Listener.Addr().String()
}

func (n *internet) tunnel(w http.ResponseWriter, host, to string) {
	n.mu.Lock()
	n.seen = append(n.seen, "CONNECT "+host)
	n.mu.Unlock()
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	// Only now: what a client sends behind an answer might be read by the server still.
	if _, err := io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	if n.office != nil {
		n.inspect(from, host, to)
		return
	}
	up, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer up.Close()
	go func() { _, _ = io.Copy(up, from) }()
	_, _ = io.Copy(from, up)
}

// inspect ends TLS with a certificate of the office, and reads what goes through.
func (n *internet) inspect(from net.Conn, host, to string) {
	name, _, _ := net.SplitHostPort(host)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: n.ca.pool(), ServerName: name},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", to)
		},
	}
	defer transport.CloseIdleConnections()
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: name})
	forward.Transport, forward.ErrorLog = transport, log.New(io.Discard, "", 0)
	one := &oneConn{Conn: tls.Server(from, &tls.Config{GetCertificate: n.office.certificate}), closed: make(chan struct{})}
	server := &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.seen = append(n.seen, r.Method+" "+r.Host+r.URL.Path)
		n.mu.Unlock()
		forward.ServeHTTP(w, r)
	})}
	_ = server.Serve(one)
}

// oneConn is a listener of one connection, and that connection.
type oneConn struct {
	net.Conn
	taken  sync.Once
	end    sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (c *oneConn) Accept() (net.Conn, error) {
	first := false
	c.taken.Do(func() { first = true })
	if first {
		return c, nil
	}
	<-c.closed
	return nil, net.ErrClosed
}

// Addr implements net.Listener.
func (c *oneConn) Addr() net.Addr { return c.LocalAddr() }

// Close implements net.Conn and net.Listener.
func (c *oneConn) Close() error {
	c.end.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (n *internet) authority(name string) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	n.must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	n.must(err)
	cert, err := x509.ParseCertificate(der)
	n.must(err)
	return &authority{cert, key}
}

func (a *authority) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if hello.ServerName != "" {
		leaf.DNSNames = []string{hello.ServerName}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign %s: %w", hello.ServerName, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, nil
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// write makes a file for SSL_CERT_FILE.
func (a *authority) write(file string) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o644)
}
