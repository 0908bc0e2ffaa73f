package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
)

func TestPolicyRefused(t *testing.T) {
	bound := shadow.Binding{Hosts: []string{"a.test"}}
	for _, test := range []struct {
		name, want string
		policy     Policy
	}{
		{"mode", `mode "all" is not known`, Policy{Mode: "all"}},
		{"host", `host "a b" with port 0 is not valid`, Policy{Rules: []Rule{{Host: "a b"}}}},
		{"port", `host "a.test" with port 70000 is not valid`, Policy{Rules: []Rule{{Host: "a.test", Port: 70000}}}},
		{"bound host", `host "127.1" of K is not valid`, Policy{Credentials: []shadow.Credential{{Name: "K", Shadow: otherShad, Real: shadow.NewSecret(otherReal), Binding: shadow.Binding{Hosts: []string{"127.1"}}}}}},
		{"short shadow", "the shadow of K is too short", Policy{Credentials: []shadow.Credential{{Name: "K", Shadow: "x"}}}},
		{"no value", "K is bound and has no value", Policy{Credentials: []shadow.Credential{{Name: "K", Shadow: otherShad, Binding: bound}}}},
		{"lines in a header", "K has more than one line and cannot be bound to a header", Policy{Credentials: []shadow.Credential{{Name: "K", Shadow: otherShad, Real: shadow.NewSecret("a\r\nHost: b"), Binding: bound}}}},
		{"one shadow for two", "K and L have the same shadow", Policy{Credentials: []shadow.Credential{{Name: "K", Shadow: otherShad}, {Name: "L", Shadow: otherShad}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := New(Config{Authority: newTestAuthority(t, "x"), Policy: test.policy})
			if err == nil || err.Error() != "read policy: "+test.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestPorts: whatever names a port needs a listener inside.
func TestPorts(t *testing.T) {
	bound := shadow.Credential{Name: "K", Shadow: otherShad, Real: shadow.NewSecret(otherReal), Binding: shadow.Binding{Hosts: []string{"a.test:9443", "b.test"}}}
	p := Policy{
		Rules:       []Rule{{Host: "a.test"}, {Host: "a.test", Port: 8443}, {Host: "localhost", Port: 5432}, {Host: "b.test", Port: 443}, {Host: "c.test", Port: 8443, Registry: true}},
		Credentials: []shadow.Credential{bound},
	}
	if got, want := fmt.Sprint(p.Ports()), "[5432 8443 9443]"; got != want {
		t.Errorf("ports %s, want %s", got, want)
	}
}

// TestMetadataStaysShut: no permission opens it, so none is named.
func TestMetadataStaysShut(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "meta.test", Port: 443, Private: true}}})
	w.name("meta.test", "169.254.169.254")
	w.host("meta.test", echoHead)
	got := do(t, w.client(), request(t, "GET", "https://meta.test/", ""))
	if got.Status != 403 || strings.Contains(got.Body, "git ftl allow") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestPrivateRegistry: a registry that the user's own tools name may be private,
// at that host and port and for reading.
func TestPrivateRegistry(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "npm.corp.test", Registry: true, Private: true}, {Host: "docs.test"}}})
	w.name("npm.corp.test", "10.0.0.5")
	w.host("npm.corp.test", echoHead)
	w.name("docs.test", "10.0.0.5")
	for _, test := range []struct {
		url    string
		status int
	}{{"https://npm.corp.test/a", 200}, {"https://docs.test/a", 403}} {
		if got := do(t, w.client(), request(t, "GET", test.url, "")); got.Status != test.status {
			t.Errorf("%s: %d %s", test.url, got.Status, got.Body)
		}
	}
}

// TestLocalService: a web server of the host, by name and by address, over the
// proxy port too.
func TestLocalService(t *testing.T) {
	w := newWorld(t, Policy{Mode: Open, Rules: []Rule{{Host: "localhost", Port: 8080}}})
	w.plainHost("x.test", echoHead)
	w.servers["127.0.0.1:8080"] = w.servers[w.names["x.test"][0].String()+":80"]
	for _, test := range []struct {
		host   string
		status int
	}{{"localhost:8080", 200}, {"127.0.0.1:8080", 200}, {"localhost:8081", 403}, {"localhost", 403}, {"127.0.0.1:9", 403}} {
		c := w.tcp(proxyPort)
		fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", test.host)
		if status := readStatus(t, c); status != test.status {
			t.Errorf("%s: %d", test.host, status)
		}
	}
	for _, test := range []struct{ target, want string }{
		{"localhost:8080", "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK"}, {"localhost:8081", "HTTP/1.1 403 Forbidden"}, {"10.0.0.1:22", "HTTP/1.1 200 Connection established\r\n\r\n"},
	} {
		c := w.tcp(proxyPort)
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", test.target, test.target)
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		got, _ := io.ReadAll(c)
		if !strings.HasPrefix(string(got), test.want) {
			t.Errorf("CONNECT %s: %q", test.target, got)
		}
	}
	for _, a := range w.addresses() {
		if a != "127.0.0.1:8080" {
			t.Errorf("dialled %s", a)
		}
	}
}

// TestAttackConnectionHeader: a request cannot have its own credential taken out
// on the way, and be anonymous upstream.
func TestAttackConnectionHeader(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", demand)
	c := w.tls("api.model.test")
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: api.model.test\r\nX-Api-Key: %s\r\nConnection: X-Api-Key\r\n\r\n", shadowKey)
	if status := readStatus(t, c); status != 200 {
		t.Errorf("got %d", status)
	}
}

// TestAttackForeignForm: a token in a form counts like one in a header.
func TestAttackForeignForm(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", demand)
	for body, status := range map[string]int{"a=b": 200, `{"not a form": "50%"}`: 200, "a=b&token=attacker": 403, "access%5Ftoken=attacker": 403} {
		got := do(t, w.client(), request(t, "POST", "https://api.model.test/", body, "X-Api-Key", shadowKey, "Content-Type", "application/x-www-form-urlencoded"))
		if got.Status != status {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
}

// TestAttackAnotherCredentialsPlace: a shadow buys nothing at a host of another.
func TestAttackAnotherCredentialsPlace(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential(),
		{Name: "OTHER", Shadow: otherShad, Real: shadow.NewSecret(otherReal), Binding: shadow.Binding{Hosts: []string{"*.other.test"}}}}})
	w.host("api.model.test", echoHead)
	w.host("api.other.test", echoHead)
	w.host("other.test", echoHead)
	for _, test := range []struct {
		host, shadow string
		status       int
	}{
		{"api.other.test", otherShad, 200}, {"api.model.test", shadowKey, 200},
		{"api.other.test", shadowKey, 403}, {"api.model.test", otherShad, 403}, {"other.test", otherShad, 403},
	} {
		got := do(t, w.client(), request(t, "GET", "https://"+test.host+"/", "", "Authorization", "Bearer "+test.shadow))
		if got.Status != test.status {
			t.Errorf("%s: %d %s", test.host, got.Status, got.Body)
		}
		noReal(t, got.Body)
	}
}

func TestAuthority(t *testing.T) {
	a := newTestAuthority(t, "git-ftl sandbox")
	text, err := a.MarshalPEM()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(a.CertPEM()), "PRIVATE") || a.cert.Subject.CommonName == newTestAuthority(t, "git-ftl sandbox").cert.Subject.CommonName {
		t.Error("the certificate holds the key, or its name is not unique")
	}
	again, err := ParseAuthority(text)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.CertPEM())
	now := time.Now()
	for _, host := range []string{"api.example.com", "10.1.2.3", "2001:db8::1", strings.Repeat("a.", 60) + "test"} {
		leaf, err := again.mint(host, now)
		if err != nil {
			t.Fatal(err)
		}
		name := host
		if _, err := netip.ParseAddr(host); err == nil {
			name = "[" + host + "]"
		}
		if _, err := leaf.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		if kept, _ := again.mint(host, now); kept != leaf {
			t.Errorf("%s is minted twice", host)
		}
		if later, _ := again.mint(host, now.Add(leafLife)); later == leaf {
			t.Errorf("%s: an expired leaf is kept", host)
		}
	}
	for range maxLeaves + 10 {
		if _, err := a.mint(fmt.Sprintf("h%d.test", len(a.leaves)), now); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.leaves) > maxLeaves {
		t.Errorf("%d leaves are kept", len(a.leaves))
	}
	for _, bad := range [][]byte{nil, a.CertPEM(), append(newTestAuthority(t, "x").CertPEM(), text[len(a.CertPEM()):]...)} {
		if _, err := ParseAuthority(bad); err == nil || strings.Contains(err.Error(), "BEGIN") {
			t.Errorf("read: %v", err)
		}
	}
}

// TestNoServerName: without SNI and CONNECT nobody can be meant.
func TestNoServerName(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "docs.test"}, {Host: "93.184.216.34"}}})
	for _, host := range []string{"docs.test", "93.184.216.34"} {
		c := tls.Client(w.tcp(443), &tls.Config{InsecureSkipVerify: true})
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		if status := readStatus(t, c); status != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d", host, status)
		}
	}
}
