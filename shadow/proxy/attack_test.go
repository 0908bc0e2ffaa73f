package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

// Each test here is one way to get a secret in, or source code out. All fail closed.

func TestAttackRebinding(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "docs.test"}}})
	w.host("docs.test", echoHead)
	public := w.names["docs.test"][0]
	if got := do(t, w.client(), request(t, "GET", "https://docs.test/", "")); got.Status != 200 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	if diff := cmp.Diff([]string{public.String() + ":443"}, w.addresses()); diff != "" || w.resolved["docs.test"] != 1 {
		t.Errorf("not one look-up whose address was dialled: %d, %s", w.resolved["docs.test"], diff)
	}
	// From now on the name is the host's own: the next connection is refused, undialled.
	w.name("docs.test", "127.0.0.1", "169.254.169.254", "::1")
	if err := w.p.SetPolicy(Policy{Rules: []Rule{{Host: "docs.test"}}}); err != nil {
		t.Fatal(err)
	}
	w.dialled = nil
	if got := do(t, w.client(), request(t, "GET", "https://docs.test/", "")); got.Status != 403 || !strings.Contains(got.Body, "git ftl allow docs.test:443") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	// Of several addresses only those that passed are dialled.
	w.name("docs.test", "10.0.0.1", public.String())
	if got := do(t, w.client(), request(t, "GET", "https://docs.test/", "")); got.Status != 200 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if diff := cmp.Diff([]string{public.String() + ":443"}, w.addresses()); diff != "" {
		t.Error(diff)
	}
}

func (w *world) addresses() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, a := range w.dialled {
		all = append(all, a.String())
	}
	return all
}

func TestAttackPrivateAddresses(t *testing.T) {
	for _, test := range []struct {
		address         string
		public, private bool
	}{
		{"93.184.216.34", true, true}, {"2606:2800:220:1::1", true, true},
		{"127.0.0.1", false, true}, {"10.1.2.3", false, true}, {"172.16.0.1", false, true}, {"192.168.1.1", false, true},
		{"100.64.0.1", false, true}, {"198.18.0.1", false, true}, {"203.0.113.9", false, true}, {"192.0.0.1", false, true},
		{"::1", false, true}, {"fd12:3456::1", false, true}, {"2001:db8::1", false, true}, {"2001::1", false, true},
		{"0.0.0.0", false, false}, {"0.1.2.3", false, false}, {"169.254.169.254", false, false}, {"224.0.0.1", false, false},
		{"255.255.255.255", false, false}, {"100.100.100.200", false, false},
		{"::", false, false}, {"fe80::1", false, false}, {"ff02::1", false, false}, {"fd00:ec2::254", false, false},
		{"64:ff9b::7f00:1", false, false}, {"2002:7f00:1::", false, false}, {"::ffff:127.0.0.1", false, true}, {"::ffff:169.254.169.254", false, false},
	} {
		a := netip.MustParseAddr(test.address).Unmap()
		if got := reachable(a, false, ownAddress); got != test.public {
			t.Errorf("%s: public %v", a, got)
		}
		if got := reachable(a, true, ownAddress); got != test.private {
			t.Errorf("%s: for a host that the user allowed %v", a, got)
		}
	}
	public := netip.MustParseAddr("93.184.216.34")
	if reachable(public, false, func(a netip.Addr) bool { return a == public }) {
		t.Error("a public address of the host itself is reachable")
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range own {
		if a := netip.MustParsePrefix(o.String()).Addr(); reachable(a, false, ownAddress) || !ownAddress(a.Unmap()) {
			t.Errorf("the host's own %s is reachable", a)
		}
	}
}

func TestAttackHostSpellings(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"API.Example.COM", "api.example.com"}, {"api.example.com.", "api.example.com"}, {"bücher.test", "xn--bcher-kva.test"},
		{"BÜCHER.test", "xn--bcher-kva.test"}, {"[::1]", "::1"}, {"0:0::1", "::1"}, {"::ffff:10.0.0.1", "10.0.0.1"}, {"a_b.test", "a_b.test"},
		{"", ""}, {".", ""}, {"a..b", ""}, {"127.1", ""}, {"2130706433", ""}, {"0x7f.0.0.1", ""}, {"1.2.3.4.5", ""}, {"a b", ""}, {"a/b", ""},
		{"a@b", ""}, {"a%2eb", ""}, {"fe80::1%eth0", ""}, {"a\x00b", ""}, {strings.Repeat("a", 64) + ".test", ""}, {"api。example.com", "api.example.com"},
	} {
		got, ok := normalise(test.in)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%q: %q, %v", test.in, got, ok)
		}
	}
}

// TestAttackOpenNetwork: an open network is not an open host.
func TestAttackOpenNetwork(t *testing.T) {
	w := newWorld(t, Policy{Mode: Open, Credentials: []shadow.Credential{modelCredential()}})
	w.host("any.test", func(rw http.ResponseWriter, _ *http.Request) {
		http.Redirect(rw, &http.Request{}, "http://metadata.test/latest", http.StatusFound)
	})
	w.host("api.model.test", demand)
	w.name("metadata.test", "169.254.169.254")
	w.name("intranet.test", "10.0.0.7")
	w.servers["169.254.169.254:80"] = w.listeners[80].Addr().String()
	c := w.client()
	c.CheckRedirect = nil
	if got := do(t, c, request(t, "GET", "https://any.test/", "")); got.Status != 403 || !strings.Contains(got.Body, "metadata.test has no public address") {
		t.Errorf("a redirect to the metadata service: %d %s", got.Status, got.Body)
	}
	if got := do(t, c, request(t, "GET", "https://intranet.test/", "")); got.Status != 403 {
		t.Errorf("a private host: %d %s", got.Status, got.Body)
	}
	if got := do(t, c, request(t, "GET", "https://api.model.test/", "")); got.Status != 403 {
		t.Errorf("a bound host without its credential: %d %s", got.Status, got.Body)
	}
	for _, host := range []string{"169.254.169.254", "127.0.0.1", "[::1]", "localhost", "10.0.0.1"} {
		c := w.tcp(proxyPort)
		fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
		if status := readStatus(t, c); status != 403 {
			t.Errorf("%s: %d", host, status)
		}
	}
	if got := w.addresses(); len(got) != 1 {
		t.Errorf("dialled %v", got)
	}
}

func readStatus(t *testing.T, c io.Reader) int {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// TestAttackHostMismatch sends requests that name two hosts, each after a good
// one on the same connection.
func TestAttackHostMismatch(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "docs.test"}, {Host: "evil.test"}}, Credentials: []shadow.Credential{modelCredential()}})
	reached := make(chan string, 16)
	for _, name := range []string{"docs.test", "evil.test"} {
		w.host(name, func(_ http.ResponseWriter, r *http.Request) { reached <- r.Host })
	}
	w.host("api.model.test", func(_ http.ResponseWriter, r *http.Request) { reached <- r.Host + r.Header.Get("X-Api-Key") })
	good := "GET / HTTP/1.1\r\nHost: docs.test\r\n\r\n"
	for _, test := range []struct{ name, send string }{
		{"Host", "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"},
		{"Host of a bound host", "GET / HTTP/1.1\r\nHost: api.model.test\r\nX-Api-Key: " + shadowKey + "\r\n\r\n"},
		{"Host with another port", "GET / HTTP/1.1\r\nHost: docs.test:8443\r\n\r\n"},
		{"absolute form", "GET https://evil.test/ HTTP/1.1\r\nHost: docs.test\r\n\r\n"},
		{"absolute form of plain http", "GET http://docs.test/ HTTP/1.1\r\nHost: docs.test\r\n\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := w.tls("docs.test")
			r := bufio.NewReader(c)
			for i, send := range []string{good, test.send, good} {
				_, _ = io.WriteString(c, send)
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				if want := []int{200, 421, 200}[i]; res.StatusCode != want {
					t.Errorf("request %d: %d, want %d", i, res.StatusCode, want)
				}
			}
			if a, b := <-reached, <-reached; a != "docs.test" || b != "docs.test" || len(reached) != 0 {
				t.Errorf("reached %s, %s and %d more", a, b, len(reached))
			}
		})
	}
	t.Run("authority of HTTP/2", func(t *testing.T) {
		r := request(t, "GET", "https://docs.test/", "")
		r.Host = "evil.test"
		if got := do(t, w.client(), r); got.Status != 421 {
			t.Errorf("got %d", got.Status)
		}
	})
	t.Run("CONNECT", func(t *testing.T) {
		for _, target := range []string{"evil.test:443", "docs.test:8443"} {
			c := w.tcp(proxyPort)
			fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
			res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
			if err != nil || target == "docs.test:8443" && res.StatusCode != 403 {
				t.Fatalf("%s: %v, %v", target, res, err)
			}
			if res.StatusCode == 403 {
				continue
			}
			inner := tlsOver(w, c, "docs.test")
			_, _ = io.WriteString(inner, good)
			if status := readStatus(t, inner); status != 421 {
				t.Errorf("%s: %d", target, status)
			}
		}
	})
	if len(reached) != 0 {
		t.Errorf("reached %s", <-reached)
	}
}

func TestAttackPlainHTTP(t *testing.T) {
	w := newWorld(t, Policy{Mode: Open, Rules: []Rule{{Host: "api.model.test"}}, Credentials: []shadow.Credential{modelCredential()}})
	reached := false
	w.plainHost("api.model.test", func(http.ResponseWriter, *http.Request) { reached = true })
	got := do(t, w.client(), request(t, "GET", "http://api.model.test/", "", "X-Api-Key", shadowKey))
	if got.Status != 403 || reached {
		t.Errorf("got %d %s, reached %v", got.Status, got.Body, reached)
	}
	c := w.tcp(proxyPort)
	fmt.Fprintf(c, "GET https://api.model.test/ HTTP/1.1\r\nHost: api.model.test\r\nX-Api-Key: %s\r\n\r\n", shadowKey)
	if status := readStatus(t, c); status != 421 {
		t.Errorf("https in the clear: %d", status)
	}
}

// TestAttackRegistry: a registry is read, and nothing of the sandbox's goes there.
func TestAttackRegistry(t *testing.T) {
	w := newWorld(t, Policy{
		Rules: []Rule{{Host: "registry.test", Registry: true}, {Host: "proxy.go.test", Registry: true, Paths: []string{"/example.com/mod"}},
			{Host: "registry.test", Methods: []string{"POST"}, Paths: []string{"/-/npm/v1/security/audits"}}},
		Credentials: []shadow.Credential{modelCredential(func(b *shadow.Binding) { b.Hosts, b.Methods = []string{"private.test"}, []string{"GET", "HEAD"} })},
	})
	w.p.state.Load().rules = append(w.p.state.Load().rules, Rule{Host: "private.test", Registry: true})
	for _, name := range []string{"registry.test", "proxy.go.test", "private.test"} {
		w.host(name, echoHead)
	}
	for _, test := range []struct {
		name, method, url, body string
		header                  []string
		status                  int
	}{
		{"read", "GET", "https://registry.test/@a%2fb", "", nil, 200},
		{"head", "HEAD", "https://registry.test/a", "", nil, 200},
		{"publish", "PUT", "https://registry.test/a", "package", nil, 403},
		{"publish under its own token", "PUT", "https://registry.test/a", "package", []string{"Authorization", "Bearer attacker"}, 403},
		{"read with its own token", "GET", "https://registry.test/a", "", []string{"Authorization", "Bearer attacker"}, 403},
		{"read with a body", "GET", "https://registry.test/a", "source code", nil, 403},
		{"signed by itself", "GET", "https://registry.test/a?X-Amz-Signature=00", "", nil, 403},
		{"audit", "POST", "https://registry.test/-/npm/v1/security/audits/quick", "{}", nil, 200},
		{"other module", "GET", "https://proxy.go.test/evil.test/source/@v/list", "", nil, 403},
		{"module", "GET", "https://proxy.go.test/example.com/mod/@v/list", "", nil, 200},
		{"private, with its credential", "GET", "https://private.test/a", "", []string{"Authorization", "Bearer " + shadowKey}, 200},
		{"private, with none", "GET", "https://private.test/a", "", nil, 200},
		{"private, foreign", "GET", "https://private.test/a", "", []string{"Authorization", "Bearer attacker"}, 403},
		{"private, publish", "PUT", "https://private.test/a", "x", []string{"Authorization", "Bearer " + shadowKey}, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := do(t, w.client("http/1.1"), request(t, test.method, test.url, test.body, test.header...)); got.Status != test.status {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
}

// TestAttackBadUpstreamCertificate: a real value goes to nobody who cannot show
// the host's certificate.
func TestAttackBadUpstreamCertificate(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	reached := false
	w.outside = newTestAuthority(t, "stranger")
	w.host("api.model.test", func(http.ResponseWriter, *http.Request) { reached = true })
	got := do(t, w.client(), request(t, "GET", "https://api.model.test/", "", "X-Api-Key", shadowKey))
	if got.Status != 502 || reached {
		t.Errorf("got %d %s, reached %v", got.Status, got.Body, reached)
	}
}

// TestAttackSlowAndMany: connections that say nothing are bounded in number.
func TestAttackSlowAndMany(t *testing.T) {
	w := newWorld(t, Policy{})
	for range maxConns {
		w.tcp(443)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		c := w.tcp(443)
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); err == io.EOF || err != nil && !isTimeout(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("one more connection is always taken")
		}
	}
}

func TestAttackHugeHeader(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "docs.test"}}})
	w.host("docs.test", echoHead)
	c := w.tls("docs.test")
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: docs.test\r\nX: "+strings.Repeat("a", 2*maxHeader)+"\r\n\r\n")
	if status := readStatus(t, c); status != 431 {
		t.Errorf("got %d", status)
	}
}
