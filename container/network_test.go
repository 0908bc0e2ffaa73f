package container

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
)

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
def exchange(q, wait=60):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(wait); s.sendto(q, ('127.0.0.1', 53))
    try: return s.recv(2000)
    except TimeoutError: return None
for name, kind in [('A', 1), ('AAAA', 28), ('TXT', 16), ('HTTPS', 65), ('PTR', 12)]:
    r = ask(kind)
    h = struct.unpack('>HHHHHH', r[:12])
    print(name, h[1] & 15, h[3], *(['.'.join(map(str, r[-4:]))] if h[3] else []))
print('short', 'none' if exchange(b'\0\1\0', 1) is None else 'answer')
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
			until(t, line, func() bool { return strings.Contains(out.String(), "done\n") })
			if got := out.String(); !strings.Contains(got, answer) {
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
		do("perl -MIO::Socket -e '$s = IO::Socket::INET->new(LocalAddr=>q(127.0.0.1:7777),Listen=>1) or die; sleep 60' & until grep -q :1E61 /proc/net/tcp; do sleep 0.05; done", "") // 7777
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
