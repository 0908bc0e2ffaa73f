package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-ftl/git-ftl/container"
)

// cmdUpstream starts a TLS server that wants a bearer token, and a proxy by which
// alone it is reached, as in a company: upstream TOKEN. The server calls itself
// api.upstream.example, SSL_CERT_FILE makes the host trust it, HTTPS_PROXY names
// the proxy. It answers what it was sent, the right token too.
func cmdUpstream(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: upstream TOKEN")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "upstream of a test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"api.upstream.example"},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	roots := ts.MkAbs(".upstream.pem")
	ts.Check(os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	ts.Check(err)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("Authorization")
		if got != "Bearer "+args[0] {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, "upstream got %s\n", got)
	})}
	go func() { _ = server.Serve(l) }()
	ts.Defer(func() { _ = server.Close() })
	ts.Setenv("SSL_CERT_FILE", roots)
	p, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	proxy := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "api.upstream.example:443" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		to, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		from, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer from.Close()
		go func() { _, _ = io.Copy(to, from) }()
		_, _ = io.Copy(from, to)
	})}
	go func() { _ = proxy.Serve(p) }()
	ts.Defer(func() { _ = proxy.Close() })
	ts.Setenv("HTTPS_PROXY", "http://"+p.Addr().String())
}

// cmdMirror serves a folder of Debian packages as http://HOST/debian, by way of a
// proxy of the user's alone: mirror HOST DIR. HTTP_PROXY names the proxy, BASE
// becomes the default image, TAG a name for one that is built on it and removed at
// the end.
func cmdMirror(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mirror HOST DIR")
	}
	dir := ts.MkAbs(args[1])
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	ts.Check(err)
	var packages strings.Builder
	for _, deb := range debs {
		data, err := os.ReadFile(deb)
		ts.Check(err)
		fields := strings.Split(strings.TrimSuffix(filepath.Base(deb), ".deb"), "_")
		fmt.Fprintf(&packages, "Package: %s\nVersion: %s\nArchitecture: %s\nFilename: %s\nSize: %d\nSHA256: %x\n\n",
			fields[0], fields[1], fields[2], filepath.Base(deb), len(data), sha256.Sum256(data))
	}
	for _, arch := range []string{"amd64", "arm64"} {
		index := filepath.Join(dir, "dists", "stable", "main", "binary-"+arch, "Packages")
		ts.Check(os.MkdirAll(filepath.Dir(index), 0o755))
		ts.Check(os.WriteFile(index, []byte(packages.String()), 0o644))
	}
	files := http.StripPrefix("/debian", http.FileServer(http.Dir(dir)))
	p, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	proxy := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Scheme != "http" || r.Host != args[0] {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	})}
	go func() { _ = proxy.Serve(p) }()
	tag := "git-ftl-test/apt:" + strings.ToLower(rand.Text())
	ts.Defer(func() { _ = proxy.Close(); _ = exec.Command("docker", "rmi", "-f", tag).Run() })
	ts.Setenv("HTTP_PROXY", "http://"+p.Addr().String())
	ts.Setenv("BASE", container.BaseImage())
	ts.Setenv("TAG", tag)
}

// cmdEcho starts a server of the host that sends back what it gets: echo. It sets
// ECHO to its port.
func cmdEcho(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: echo")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv("ECHO", fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
}
