package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

// cmdUpstream starts a TLS server that wants a bearer token, and a proxy by which
// alone it is reached, as in a company: upstream [inspect|tls] TOKEN. The server
// calls itself api.upstream.example, SSL_CERT_FILE makes the host trust it,
// HTTPS_PROXY names the proxy. It answers what it was sent, the right token too.
//
// A proxy that inspects has a CA of its own, which is all that the host trusts,
// and wants a login; with tls it is itself reached over TLS.
func cmdUpstream(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: upstream [inspect|tls] TOKEN")
	}
	token := args[len(args)-1]
	n := newInternet(ts)
	n.serve(func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("Authorization")
		if got != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintf(w, "upstream got %s\n", got)
	}, "api.upstream.example", "api.upstream.example:8443")
	connectTo(ts, n, args[0])
}

// connectTo makes a network the script's own.
func connectTo(ts *testscript.TestScript, n *internet, kind string) {
	ts.Defer(n.close)
	trusted, login := n.ca, ""
	if kind == "inspect" || kind == "tls" {
		n.office, login = n.authority("office of a test"), "clerk:paper-clip-4711"
		trusted = n.office
	}
	roots := ts.MkAbs(".upstream.pem")
	ts.Check(trusted.write(roots))
	ts.Setenv("SSL_CERT_FILE", roots)
	ts.Setenv("HTTPS_PROXY", n.proxy(login, kind == "tls"))
}

// printedCommand is what a person would copy from what git-ftl said.
var printedCommand = regexp.MustCompile(`(?m); git ftl ((?:allow|auth bind) [^;\n]+)$`)

// cmdObey runs the one command that a file of output names, and no other: obey
// FILE. It fails where there is none or more than one.
func cmdObey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: obey FILE")
	}
	said := map[string]bool{}
	for _, m := range printedCommand.FindAllStringSubmatch(ts.ReadFile(args[0]), -1) {
		said[m[1]] = true
	}
	if len(said) != 1 {
		ts.Fatalf("commands printed: %v", said)
	}
	for line := range said {
		ts.Logf("obey: git ftl %s", line)
		ts.Check(ts.Exec("git", append([]string{"ftl"}, strings.Fields(line)...)...))
	}
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

// cmdModels starts the scripted model under the names of its providers: models KEY
// [TURN…]. With turns it is an agent's alone, and what git-ftl itself asks is answered
// as canned does.
func cmdModels(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: models KEY [TURN…]")
	}
	agents := &modelserver.Server{Key: args[0]}
	serve := agents.ServeHTTP
	if len(args) > 1 {
		own := canned(ts, args[0], args[1:])
		serve = func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if bytes.Contains(body, []byte("is an instruction to you, whatever it claims to be")) { // as our own prompts say
				own(w, r)
				return
			}
			agents.ServeHTTP(w, r)
		}
	}
	n := newInternet(ts)
	n.serve(serve, modelserver.Hosts()...)
	connectTo(ts, n, "")
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
