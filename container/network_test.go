package container

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
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
	"syscall"
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
			switch c.LocalAddr().(*net.TCPAddr).Port {
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

func TestTunnel(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, f *far) {
		p := func(args string) string { t.Helper(); return netShell(t, s, "/tmp/p "+args) }
		want(t, "names and http", p("get http://some.example/x"), "GET some.example tls=false\n")
		want(t, "https", p("get https://other.example/x"), "GET other.example tls=true\n")
		want(t, "port", p("say any.example:3128 port"), "3128\n")
		want(t, "half close", p("say 127.0.0.1:3128 'echo\nabc'"), "abc\n")
		want(t, "reset by the host", lastLine(p("count 127.0.0.1:3128 reset")), "reset")
		want(t, "much to the host", p("send 127.0.0.1:3128 100000000"), "100000000 <nil>\n")
		want(t, "much from the host", p("count 127.0.0.1:3128 'source 100000000'"), "100000000\n")
		want(t, "200 at once", p("many 127.0.0.1:3128 200"), "200 good\n")
		want(t, "more than may be, in turn", p("count 127.0.0.1:3128 'source 1'; for i in 1 2 3; do /tmp/p many 127.0.0.1:3128 120; done"),
			"1\n120 good\n120 good\n120 good\n")
		want(t, "reset by the agent", p("abort 127.0.0.1:3128"), "")
		if err := <-f.told; !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the host was told %v", err)
		}
		want(t, "another port", strings.TrimSpace(p("say 127.0.0.1:8080 port")), "error: dial tcp 127.0.0.1:8080: connect: connection refused")
		want(t, "another address", firstWords(p("say 10.0.0.1:80 port"), 6), "error: dial tcp 10.0.0.1:80: connect: network")
	})
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	return strings.Join(f[:min(n, len(f))], " ")
}

// TestTunnelNames: every name is the loopback, over both protocols, and nothing
// else is told.
func TestTunnelNames(t *testing.T) {
	s, _ := connected(t, "exec", Spec{Image: baseImage(t)})
	for _, row := range []struct{ name, script, want string }{
		{"getent", "getent ahosts some.example | sort -u", "127.0.0.1       DGRAM  \n127.0.0.1       RAW    \n127.0.0.1       STREAM some.example\n"},
		{"getent over TCP", "RES_OPTIONS=use-vc getent hosts some.example", "127.0.0.1       some.example\n"},
		{"search domains", "LOCALDOMAIN='corp.example lan' getent hosts db", "127.0.0.1       db.corp.example\n"},
		{"no IPv6", "getent ahostsv6 some.example; echo $?", "2\n"},
		{"python", "python3 -c 'import socket; print(socket.gethostbyname(\"a.b.example\"))'", "127.0.0.1\n"},
		{"git", "git ls-remote https://git.example/x 2>&1 | head -1", "fatal: https://git.example/x/info/refs not valid: is this a git repository?\n"},
		{"raw query", rawQuery, "A 0 1 127.0.0.1\nAAAA 0 0\nTXT 4 0\nHTTPS 4 0\nPTR 4 0\nshort none\ntwo questions 1 0\n"},
	} {
		t.Run(row.name, func(t *testing.T) { want(t, row.script, netShell(t, s, row.script), row.want) })
	}
}

// rawQuery asks with bytes of its own.
const rawQuery = `python3 - <<'END'
import socket, struct
def ask(kind, count=1):
    q = struct.pack('>HHHHHH', 7, 0x100, count, 0, 0, 0) + b'\1a\7example\0' + struct.pack('>HH', kind, 1)
    return exchange(q)
def exchange(q):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(q, ('127.0.0.1', 53))
    try: return s.recv(2000)
    except TimeoutError: return None
for name, kind in [('A', 1), ('AAAA', 28), ('TXT', 16), ('HTTPS', 65), ('PTR', 12)]:
    r = ask(kind)
    h = struct.unpack('>HHHHHH', r[:12])
    print(name, h[1] & 15, h[3], *(['.'.join(map(str, r[-4:]))] if h[3] else []))
print('short', 'none' if exchange(b'\0\1\0') is None else 'answer')
r = ask(1, 2); h = struct.unpack('>HHHHHH', r[:12]); print('two questions', h[1] & 15, h[3])
END`

// baseImage is the one with tools in it.
func baseImage(t *testing.T) string {
	t.Helper()
	e := engine(t)
	if _, err := e.BuildImage(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	return BaseImage()
}

// TestTunnelClients: each client trusts the authority by the system or by a
// variable.
func TestTunnelClients(t *testing.T) {
	s, _ := connected(t, "socket", Spec{Image: baseImage(t)})
	const url = "https://api.example/"
	const good = "GET api.example tls=true\n"
	unset := ""
	for _, kv := range s.NetEnv() {
		name, _, _ := strings.Cut(kv, "=")
		unset += " -u " + name
	}
	for _, row := range []struct{ name, script, want string }{
		{"curl", "curl -sS " + url, good},
		{"curl by the system", "env" + unset + " curl -sS " + url, good},
		{"curl past a proxy", "curl -sS --noproxy '*' " + url, good},
		{"python by the system", "env" + unset + " python3 -c 'import urllib.request as u; print(u.urlopen(\"" + url + "\").read().decode(), end=\"\")'", good},
		{"python", "python3 -c 'import urllib.request as u; print(u.urlopen(\"" + url + "\").read().decode(), end=\"\")'", good},
		{"openssl by hash", "env" + unset + " openssl s_client -brief -verify_return_error -CApath /etc/ssl/certs -no-CAfile " +
			"-connect api.example:443 -servername api.example </dev/null 2>&1 | grep Verification", "Verification: OK\n"},
		{"go by the system", "env" + unset + " /tmp/p get " + url, good},
		{"go", "/tmp/p get " + url, good},
		{"git", "git ls-remote " + url + " 2>&1 | grep -c certificate", "0\n"},
		{"the files are root's", "stat -c '%U %a' /.ftl /.ftl/ca.pem /.ftl/bundle.pem /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/git-ftl-sandbox.pem; " +
			"echo x 2>&1 >>/.ftl/ca.pem", "root 755\nroot 644\nroot 644\nroot 644\nroot 644\n/bin/sh: 1: cannot create /.ftl/ca.pem: Permission denied\n"},
	} {
		t.Run(row.name, func(t *testing.T) { want(t, row.script, netShell(t, s, row.script), row.want) })
	}
	t.Run("another authority replaces it", func(t *testing.T) {
		other, _ := authority(t)
		if _, err := s.Connect(t.Context(), Network{CA: other}); err != nil {
			t.Fatal(err)
		}
		got := netShell(t, s, "curl -sS "+url+" 2>&1 | grep -c 'certificate problem'; grep -c 'begin of git-ftl' /etc/ssl/certs/ca-certificates.crt; "+
			"find /etc/ssl/certs -lname git-ftl-sandbox.pem | wc -l")
		want(t, "after it", got, "1\n1\n1\n")
	})
}

// TestTunnelOnlyWhileSomethingRuns: between runs nothing answers, and the agent
// cannot be what answers in its place.
func TestTunnelOnlyWhileSomethingRuns(t *testing.T) {
	s, _ := connected(t, "exec", Spec{})
	root := func(script string) string {
		stream, err := s.pool.Engine.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c", script})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		data, _ := io.ReadAll(stream)
		return string(data)
	}
	const listening = "cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp 2>/dev/null | awk '$4 == \"0A\" || $4 == \"07\"' | wc -l"
	want(t, "listening between runs", root(listening), "0\n")
	want(t, "while one runs", shell(t, s, listening), "5\n")
	for _, row := range []struct{ bind, err string }{
		{"tcp 127.0.0.1:443", "permission denied"},
		{"tcp 0.0.0.0:80", "permission denied"},
		{"tcp 127.0.0.2:53", "permission denied"},
		{"udp 127.0.0.1:53", "permission denied"},
		{"udp 0.0.0.0:53", "permission denied"},
		{"tcp 127.0.0.1:3128", "address already in use"},
		{"tcp 0.0.0.0:3128", "address already in use"},
		{"tcp :3128", "address already in use"},
	} {
		if got := shell(t, s, "/tmp/p bind "+row.bind); !strings.Contains(got, row.err) {
			t.Errorf("bind %s: %q", row.bind, got)
		}
	}
	want(t, "the guest's folder", shell(t, s, "ls /var/lib/ftl/tunnel 2>&1"), "ls: cannot access '/var/lib/ftl/tunnel': Permission denied\n")
	want(t, "resolv.conf", shell(t, s, "cat /etc/resolv.conf; echo x 2>/dev/null >/etc/resolv.conf || echo kept"), "nameserver 127.0.0.1\nkept\n")
}

// TestTunnelPorts opens and closes ports before a run and while one is under way.
func TestTunnelPorts(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, _ *far) {
		ctx := t.Context()
		if err := s.Open(ctx, 5432); err != nil {
			t.Fatal(err)
		}
		in, w := io.Pipe()
		var out safeBuffer
		ended := make(chan error, 1)
		go func() {
			_, err := s.Run(ctx, Cmd{Argv: []string{"/bin/sh"}, Env: agentEnv(), Stdin: in, Stdout: &out, Stderr: &out})
			ended <- err
		}()
		do := func(line, answer string) {
			t.Helper()
			out.Reset()
			_, _ = io.WriteString(w, line+"; echo done\n")
			until(t, line, func() bool { return strings.HasSuffix(out.String(), "done\n") })
			if got := strings.TrimSuffix(out.String(), "done\n"); !strings.Contains(got, answer) {
				t.Errorf("%s: got %q, want %q", line, got, answer)
			}
		}
		do("/tmp/p say localhost:5432 port", "5432\n")
		do("/tmp/p say localhost:6379 port", "refused")
		if err := s.Open(ctx, 6379, 5432); err != nil {
			t.Error(err)
		}
		do("/tmp/p say localhost:6379 port", "6379\n")
		do("(sleep 0.3; /tmp/p say localhost:6379 port) & /tmp/p count localhost:6379 tell & sleep 0.1", "")
		if err := s.Close(ctx, 6379); err != nil {
			t.Error(err)
		}
		do("wait; /tmp/p say localhost:6379 port", "refused")
		if !strings.Contains(out.String(), "refused") {
			t.Errorf("closed: %q", out.String())
		}
		do("perl -MIO::Socket -e '$s = IO::Socket::INET->new(LocalAddr=>q(127.0.0.1:7777),Listen=>1) or die; sleep 60' & sleep 0.3", "")
		if err := s.Open(ctx, 7777); err == nil || !strings.Contains(err.Error(), "open port 7777") {
			t.Errorf("a port that the agent has: %v", err)
		}
		for _, port := range []int{0, 53, -1, 65536} {
			if err := s.Open(ctx, port); err == nil {
				t.Errorf("port %d could be opened", port)
			}
		}
		_ = w.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// safeBuffer is a bytes.Buffer for two goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *safeBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b.Reset()
}

// TestTunnelStall: a host that does not read stops the sender, holds little, and
// hinders nothing else.
func TestTunnelStall(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, f *far) {
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan string, 1)
		var out safeBuffer
		go func() {
			_, err := s.Run(ctx, Cmd{Argv: []string{"/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do " +
				"{ echo wait; head -c 20000000 /dev/zero; } | perl -MIO::Socket -e '$s = IO::Socket::INET->new(q(127.0.0.1:3128)); " +
				"while (read STDIN, $b, 65536) { print $s $b } $s->flush; shutdown $s, 1; print <$s>' & done; wait"}, Env: agentEnv(), Stdout: &out, Stderr: &out})
			ended <- fmt.Sprint(err)
		}()
		for range 5 {
			want(t, "beside it", shell(t, s, "/tmp/p say 127.0.0.1:3128 port"), "3128\n")
		}
		runtime.GC()
		runtime.ReadMemStats(&during)
		if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
			t.Errorf("eight stalled connections hold %d MB", grown>>20)
		}
		close(f.go_)
		want(t, "the run", <-ended, "<nil>")
		want(t, "what came", out.String(), strings.Repeat("20000000 <nil>\n", 8))
	})
}

// TestTunnelPaused: a paused sandbox goes on where it was.
func TestTunnelPaused(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, _ *far) {
		e := s.pool.Engine.(*DockerEngine)
		out := &onWrite{}
		var once sync.Once
		out.do = func() {
			once.Do(func() {
				if err := e.api.ContainerPause(t.Context(), s.rec.ID); err != nil {
					t.Error(err)
				}
				<-time.After(3 * time.Second)
				if err := e.api.ContainerUnpause(t.Context(), s.rec.ID); err != nil {
					t.Error(err)
				}
			})
		}
		_, err := s.Run(t.Context(), Cmd{Argv: []string{"/bin/sh", "-c", "/tmp/p send 127.0.0.1:3128 200000000 & echo go; wait"}, Env: agentEnv(), Stdout: out})
		if err != nil || !strings.Contains(out.String(), "200000000 <nil>") {
			t.Errorf("%v: %q", err, out.String())
		}
	})
}

// patient is an engine that stops nothing before it may.
type patient struct {
	*DockerEngine
	may chan struct{}
}

func (p patient) Stop(ctx context.Context, id string) (bool, error) {
	<-p.may
	return p.DockerEngine.Stop(ctx, id)
}

// nothing is what netprobe says in a sandbox where nothing answers.
const nothing = "for a in a.example:443 127.0.0.1:443 127.0.0.1:80 127.0.0.1:3128; do /tmp/p say $a port; done; " +
	"cat /proc/net/tcp | awk '$4 == \"0A\"' | wc -l"

func answersNothing(said string) bool {
	return strings.Count(said, "connection refused") == 4 && strings.Contains(said, "lookup a.example") && strings.HasSuffix(said, "\n0\n")
}

// TestNoGuestNoNetwork: when the guest is killed while the agent lives nothing
// answers any more, until the next run's guest is connected.
func TestNoGuestNoNetwork(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, _ *far) {
		e := s.pool.Engine.(*DockerEngine)
		may := make(chan struct{})
		s.pool.Engine = patient{e, may}
		var said string
		out := &onWrite{}
		out.do = sync.OnceFunc(func() {
			defer close(may)
			// As the engine's user: the agent cannot signal the guest.
			stream, err := e.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c",
				"for p in /proc/[0-9]*; do grep -qz '^serve$' $p/cmdline && kill -9 ${p#/proc/}; done; " + nothing})
			if err != nil {
				t.Error(err)
				return
			}
			defer stream.Close()
			data, _ := io.ReadAll(stream)
			said = string(data)
		})
		exit, err := s.Run(t.Context(), Cmd{
			Argv: []string{"/bin/sh", "-c", "/tmp/p count 127.0.0.1:3128 'source 100000000000' & echo go; sleep 60"}, Env: agentEnv(), Stdout: out,
		})
		if err != nil || !exit.Died {
			t.Fatalf("%+v, %v", exit, err)
		}
		if !answersNothing(said) {
			t.Errorf("without the guest: %s", said)
		}
		want(t, "again", shell(t, s, "cp netprobe /tmp/p; chmod +x /tmp/p; /tmp/p say 127.0.0.1:3128 port"), "3128\n")
		if err := s.Tunnel().Close(); err != nil {
			t.Error(err)
		}
		got := shell(t, s, "/tmp/p say 127.0.0.1:3128 port")
		if !strings.Contains(got, "reset") && !strings.Contains(got, "refused") {
			t.Errorf("without a listener: %q", got)
		}
	})
}

// TestKilledHostNoNetwork: when git-ftl is killed nothing answers in its sandbox.
// The host is this test in a process of its own.
func TestKilledHostNoNetwork(t *testing.T) {
	if dir := os.Getenv("FTL_TEST_CONNECTED"); dir != "" {
		p := &Pool{Engine: engine(t), Dir: dir, Owner: os.Getenv("FTL_TEST_OWNER"), Now: time.Now}
		s, _ := connectedOf(t, p, os.Getenv("FTL_TEST_CARRIER"), Spec{})
		out := &onWrite{do: func() {
			if err := os.WriteFile(filepath.Join(dir, "connected"), []byte(s.rec.ID), 0o600); err != nil {
				t.Error(err)
			}
		}}
		_, _ = s.Run(t.Context(), Cmd{Argv: []string{"/bin/sh", "-c", "/tmp/p say a.example:3128 port; sleep 100"}, Env: agentEnv(), Stdout: out})
		return
	}
	guest := filepath.Join(t.TempDir(), "guest")
	bin, err := specOf(t, Spec{}).Guest.Load()
	if err == nil {
		err = os.WriteFile(guest, bin, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, carrier := range []string{"exec", "socket"} {
		t.Run(carrier, func(t *testing.T) {
			p := pool(t, engine(t))
			cmd := exec.Command(os.Args[0], "-test.run=^TestKilledHostNoNetwork$")
			cmd.Env = append(os.Environ(), "FTL_TEST_CONNECTED="+p.Dir, "FTL_TEST_OWNER="+p.Owner, "FTL_TEST_GUEST="+guest, "FTL_TEST_CARRIER="+carrier)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var id []byte
			until(t, "the connection", func() bool {
				id, _ = os.ReadFile(filepath.Join(p.Dir, "connected"))
				return len(id) > 0
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			var said string
			until(t, "the end of the network", func() bool {
				stream, err := p.Engine.Attach(t.Context(), string(id), []string{"/bin/sh", "-c", nothing})
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				data, _ := io.ReadAll(stream)
				said = string(data)
				return answersNothing(said)
			})
		})
	}
}

// TestSecretsStayInTheRun: what a run's environment holds is in no part of the
// container that outlives the run or that the engine knows.
func TestSecretsStayInTheRun(t *testing.T) {
	const secret = "ftl_shadow_test_0123456789abcdef0123456789abcdef"
	s, _ := connected(t, "exec", Spec{Image: baseImage(t)})
	e := s.pool.Engine.(*DockerEngine)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var inside string
	out := &onWrite{}
	out.do = sync.OnceFunc(func() {
		// All files, and what root's processes show. The planted file proves that the
		// search finds.
		stream, err := e.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c",
			"k=ftl_shadow_test_; k=${k}0123456789abcdef; grep -rlsI --exclude-dir=proc --exclude-dir=sys $k / ; " +
				"grep -alsE $k /proc/[0-9]*/environ /proc/[0-9]*/cmdline; grep -alz '^serve$' /proc/[0-9]*/cmdline | wc -l"})
		if err != nil {
			t.Error(err)
			return
		}
		defer stream.Close()
		data, _ := io.ReadAll(stream)
		inside = string(data)
		end()
	})
	_, err := s.Run(ctx, Cmd{
		Argv: []string{"/bin/sh", "-c", "echo $API_KEY >/tmp/planted; echo go; sleep 100"}, Env: append(agentEnv(), "API_KEY="+secret), Stdout: out,
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	want(t, "inside", inside, "/tmp/planted\n1\n")
	_, raw, err := e.api.ContainerInspectWithRaw(t.Context(), s.rec.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(secret)) {
		t.Error("the container's configuration holds it")
	}
	if found := shell(t, s, "rm /tmp/planted; env | grep -c API_KEY; grep -rls "+secret+" /tmp /home /workspace"); found != "0\n" {
		t.Errorf("after the run: %s", found)
	}
}

// TestTunnelMemory: a gigabyte each way is not held anywhere.
func TestTunnelMemory(t *testing.T) {
	carriers(t, func(t *testing.T, s *Sandbox, _ *far) {
		guest := func() (kb int) {
			stream, err := s.pool.Engine.Attach(t.Context(), s.rec.ID, []string{"/bin/sh", "-c",
				"for p in /proc/[0-9]*; do grep -qz '^serve$' $p/cmdline && awk '/VmHWM/ {print $2}' $p/status; done"})
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			data, _ := io.ReadAll(stream)
			kb, _ = strconv.Atoi(strings.TrimSpace(string(data)))
			return kb
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		want(t, "to the host", shell(t, s, "/tmp/p send 127.0.0.1:3128 1000000000"), "1000000000 <nil>\n")
		want(t, "from the host", shell(t, s, "/tmp/p count 127.0.0.1:3128 'source 1000000000'"), "1000000000\n")
		runtime.ReadMemStats(&after)
		if grown := int64(after.Sys) - int64(before.Sys); grown > 32<<20 {
			t.Errorf("the host took %d MB", grown>>20)
		}
		if kb := guest(); kb == 0 || kb > 40<<10 {
			t.Errorf("the guest took %d kB", kb)
		}
	})
}
