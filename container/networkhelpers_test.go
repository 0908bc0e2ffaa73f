package container

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// far is the host's end: a proxy that is none. It answers HTTP on 80, HTTPS on
// 443 for every name, and line commands on all other ports.
type far struct {
	ca     []byte // PEM
	web    chanListener
	secure chanListener
	told   chan error // how connections of "tell" ended
	go_    chan struct{}

	mu   sync.Mutex
	seen func(port int) // of each connection
}

// sees notes each connection from now on.
func (f *far) sees(note func(port int)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = note
}

func (f *far) note(port int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen != nil {
		f.seen(port)
	}
}

type chanListener chan net.Conn

func (l chanListener) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l chanListener) Close() error   { return nil }
func (l chanListener) Addr() net.Addr { return &net.TCPAddr{} }

// newFar serves what comes out of a sandbox's tunnel until that is closed.
func newFar(t *testing.T, l net.Listener) *far {
	t.Helper()
	ca, mint := authority(t)
	f := &far{ca: ca, web: make(chanListener), secure: make(chanListener), told: make(chan error, 300), go_: make(chan struct{})}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s %s tls=%v\n", r.Method, r.Host, r.TLS != nil)
	})
	go func() { _ = http.Serve(f.web, handler) }()
	go func() {
		web := http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
		_ = web.Serve(tls.NewListener(f.secure, &tls.Config{GetCertificate: mint}))
	}()
	go func() {
		defer close(f.web)
		defer close(f.secure)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			port := c.LocalAddr().(*net.TCPAddr).Port
			f.note(port)
			switch port {
			case 80:
				f.web <- c
			case 443:
				f.secure <- c
			default:
				go f.command(c)
			}
		}
	}()
	return f
}

// command obeys one line.
func (f *far) command(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	verb, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch verb {
	case "port":
		_, _ = fmt.Fprintln(c, c.LocalAddr().(*net.TCPAddr).Port)
	case "echo":
		_, _ = io.Copy(c, in)
	case "sink":
		n, err := io.Copy(io.Discard, in)
		_, _ = fmt.Fprintln(c, n, err)
	case "source":
		n, _ := strconv.ParseInt(arg, 10, 64)
		_, _ = io.Copy(c, io.LimitReader(zeros{}, n))
	case "wait": // reads nothing until it is let go
		<-f.go_
		n, err := io.Copy(io.Discard, in)
		_, _ = fmt.Fprintln(c, n, err)
	case "reset":
		_ = c.(interface{ SetLinger(int) error }).SetLinger(0)
	case "tell":
		_, _ = c.Write([]byte("."))
		_, err := io.Copy(io.Discard, in)
		f.told <- err
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// authority makes a CA and what mints leaves.
func authority(t *testing.T) ([]byte, func(*tls.ClientHelloInfo) (*tls.Certificate, error)) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	top := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "git-ftl  Sandbox " + nonce(4), Organization: []string{"Ftl"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, top, top, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if top, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	mint := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		der, err := x509.CreateCertificate(rand.Reader, leaf, top, key.Public(), key)
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), mint
}

// netprobe is the program inside, built once.
var netprobe = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ftl-netprobe-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "netprobe")
	cmd := exec.Command("go", "build", "-o", bin, "./testdata/netprobe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build netprobe: %w\n%s", err, out)
	}
	data, err := os.ReadFile(bin)
	return string(data), err
})

// connected gives a sandbox with a network and netprobe in /tmp. carrier is how
// it is connected.
func connected(t *testing.T, carrier string, spec Spec) (*Sandbox, *far) {
	t.Helper()
	return connectedOf(t, pool(t, engine(t)), carrier, spec)
}

func connectedOf(t *testing.T, p *Pool, carrier string, spec Spec) (*Sandbox, *far) {
	t.Helper()
	p.Engine.(*DockerEngine).mounts.Store(carrier == "socket")
	s := acquire(t, p, spec)
	probe, err := netprobe()
	if err != nil {
		t.Fatal(err)
	}
	r := newRepository(t)
	reset(t, s, r.base(s, map[string]string{"netprobe": probe}))
	f := newFar(t, s.Tunnel())
	report, err := s.Connect(t.Context(), Network{CA: f.ca})
	if err != nil {
		t.Fatal(err)
	}
	if report.Carrier != carrier {
		t.Fatalf("connected by %+v", report)
	}
	shell(t, s, "cp netprobe /tmp/p; chmod +x /tmp/p")
	return s, f
}

// carriers runs a test over both.
func carriers(t *testing.T, test func(t *testing.T, s *Sandbox, f *far)) {
	for _, carrier := range []string{"exec", "socket"} {
		t.Run(carrier, func(t *testing.T) {
			if carrier == "socket" && runtime.GOOS != "linux" {
				t.Skip("NOT TESTED: sockets are for Linux")
			}
			s, f := connected(t, carrier, Spec{})
			test(t, s, f)
		})
	}
}

// netShell runs a script with the variables of the network.
func netShell(t *testing.T, s *Sandbox, script string) string {
	t.Helper()
	var out bytes.Buffer
	_, err := s.Run(t.Context(), Cmd{
		Argv: []string{"/bin/sh", "-c", script}, Env: append(agentEnv(), s.NetEnv()...), Stdout: &out, Stderr: &out,
	})
	if err != nil {
		t.Fatalf("run %s: %v\n%s", script, err, &out)
	}
	return out.String()
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
