package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-ftl/git-ftl/shadow"
)

// echoHead answers with what it was sent.
func echoHead(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s host=%s auth=%q key=%q body=%q len=%d te=%v", r.Method, r.URL.RequestURI(), r.Host,
		r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), body, r.ContentLength, r.TransferEncoding)
}

// demand answers 200 only to the real value.
func demand(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "Bearer "+realKey || r.Header.Get("X-Api-Key") == realKey {
		_, _ = io.WriteString(w, "welcome over "+r.Proto)
		return
	}
	http.Error(w, "who are you", http.StatusUnauthorized)
}

func TestSwap(t *testing.T) {
	var seen *http.Request
	var body string
	w := newWorld(t, Policy{Credentials: []shadow.Credential{
		modelCredential(func(b *shadow.Binding) {
			b.Places = []string{"auth", "header:X-Api-Key", "query:key", "form:secret", "json:secret"}
		}),
		{Name: "OTHER", Shadow: otherShad, Real: shadow.NewSecret(otherReal), Binding: shadow.Binding{Hosts: []string{"api.model.test"}, Kind: shadow.Basic}},
	}})
	w.host("api.model.test", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		seen, body = r, string(text)
	})
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, test := range []struct {
		name, query, body string
		header            []string
		status            int
		want              func() string
		expect            string
	}{
		{"bearer", "", "", []string{"Authorization", "Bearer " + shadowKey}, 200, func() string { return seen.Header.Get("Authorization") }, "Bearer " + realKey},
		{"token", "", "", []string{"Authorization", "token " + shadowKey}, 200, func() string { return seen.Header.Get("Authorization") }, "token " + realKey},
		{"no scheme", "", "", []string{"Authorization", shadowKey}, 200, func() string { return seen.Header.Get("Authorization") }, realKey},
		{"named header", "", "", []string{"x-api-key", shadowKey}, 200, func() string { return seen.Header.Get("X-Api-Key") }, realKey},
		{"basic, password", "", "", []string{"Authorization", basic("x-access-token:" + shadowKey)}, 200, func() string { return seen.Header.Get("Authorization") }, basic("x-access-token:" + realKey)},
		{"basic, user", "", "", []string{"Authorization", basic(shadowKey + ":")}, 200, func() string { return seen.Header.Get("Authorization") }, basic(realKey + ":")},
		{"basic, both", "", "", []string{"Authorization", basic(shadowKey + ":" + otherShad)}, 200, func() string { return seen.Header.Get("Authorization") }, basic(realKey + ":" + otherReal)},
		{"kind basic with a long user", "", "", []string{"Authorization", basic("AC0123456789abcdef0123456789abcdef:" + otherShad)}, 200, func() string { return seen.Header.Get("Authorization") }, basic("AC0123456789abcdef0123456789abcdef:" + otherReal)},
		{"query", "?a=%20b&key=" + shadowKey + "&c", "", nil, 200, func() string { return seen.URL.RawQuery }, "a=%20b&key=" + realKey + "&c"},
		{"form", "", "x=%20&secret=" + shadowKey, []string{"Content-Type", "application/x-www-form-urlencoded"}, 200, func() string { return fmt.Sprint(body, seen.ContentLength) }, "x=%20&secret=" + realKey + "41"},
		{"json", "", `{ "n":1.50, "secret" : "` + shadowKey + `","t":"` + shadowKey + `"}`, []string{"Content-Type", "application/json"}, 200, func() string { return body }, `{ "n":1.50, "secret" : "` + realKey + `","t":"` + shadowKey + `"}`},
		{"shadow in a body of another kind stays", "", "env: " + shadowKey, []string{"Content-Type", "text/plain", "X-Api-Key", shadowKey}, 200, func() string { return body }, "env: " + shadowKey},

		{"nothing", "", "", nil, 403, nil, ""},
		{"foreign bearer", "", "", []string{"Authorization", "Bearer attacker"}, 403, nil, ""},
		{"foreign beside ours", "", "", []string{"Authorization", "Bearer " + shadowKey, "X-Goog-Api-Key", "attacker"}, 403, nil, ""},
		{"foreign cookie beside ours", "", "", []string{"Authorization", "Bearer " + shadowKey, "Cookie", "session=attacker"}, 403, nil, ""},
		{"foreign query beside ours", "?access_token=attacker", "", []string{"Authorization", "Bearer " + shadowKey}, 403, nil, ""},
		{"foreign field of a bound name", "", `{"secret":"` + shadowKey + `","secret":"attacker"}`, []string{"Content-Type", "application/json"}, 403, nil, ""},
		{"twice", "", "", []string{"Authorization", "Bearer " + shadowKey, "Authorization", "Bearer attacker"}, 403, nil, ""},
		{"inside a longer string", "", "", []string{"Authorization", "Bearer " + shadowKey + "x"}, 403, nil, ""},
		{"after another word", "", "", []string{"Authorization", "Bearer x " + shadowKey}, 403, nil, ""},
		{"a token as the user's name", "", "", []string{"Authorization", basic("ghp_attackerattackerattackerattacker1234:" + shadowKey)}, 403, nil, ""},
		{"kind basic as bearer", "", "", []string{"Authorization", "Bearer " + otherShad}, 403, nil, ""},
		{"not bound to that header", "", "", []string{"X-Auth-Token", shadowKey}, 403, nil, ""},
		{"query where the shadow is a part", "?key=x" + shadowKey, "", nil, 403, nil, ""},
		{"the body is too large", "", `{"secret":"` + shadowKey + strings.Repeat("x", maxSwapBody) + `"}`, []string{"Content-Type", "application/json"}, 413, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen = nil
			got := do(t, w.client(), request(t, "POST", "https://api.model.test/v1"+test.query, test.body, test.header...))
			if got.Status != test.status {
				t.Fatalf("status %d, want %d: %s", got.Status, test.status, got.Body)
			}
			if test.want == nil {
				if seen != nil {
					t.Error("the request came through")
				}
				return
			}
			if diff := cmp.Diff(test.expect, test.want()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDecisions: one audit line a request, with names and no values.
func TestDecisions(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "docs.test"}}, Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", demand)
	w.host("docs.test", echoHead)
	c := w.client()
	for i, test := range []struct {
		url    string
		header []string
		body   string
		want   Decision
	}{
		{"https://api.model.test/v1?q=1", []string{"X-Api-Key", shadowKey}, "", Decision{Host: "api.model.test", Port: 443, Method: "POST", Path: "/v1", Verdict: Swapped, Secrets: []string{"MODEL_KEY"}, Status: 200}},
		{"https://docs.test/a", nil, "", Decision{Host: "docs.test", Port: 443, Method: "POST", Path: "/a", Verdict: Allowed, Status: 200}},
		{"https://docs.test/a", []string{"X-Api-Key", shadowKey}, "", Decision{Host: "docs.test", Port: 443, Method: "POST", Path: "/a", Verdict: Leaked, Shadows: []string{"MODEL_KEY"}, Status: 200}},
		{"https://docs.test/b", nil, strings.Repeat("x", 100<<10) + base64.StdEncoding.EncodeToString([]byte("env "+shadowKey)), Decision{Host: "docs.test", Port: 443, Method: "POST", Path: "/b", Verdict: Leaked, Shadows: []string{"MODEL_KEY"}, Status: 200}},
		{"https://evil.test/c", nil, "", Decision{Host: "evil.test", Port: 443, Method: "POST", Path: "/c", Verdict: Denied, Reason: "evil.test is not allowed", Hint: "git ftl allow evil.test", Status: 403}},
	} {
		do(t, c, request(t, "POST", test.url, test.body, test.header...))
		got := w.last(i + 1)
		if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Decision{}, "Time")); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(Counts{Allowed: 1, Swapped: 1, Denied: 1, Leaked: 2}, w.p.Counts()); diff != "" {
		t.Error(diff)
	}
}

// TestDeniedIsReadable: a refusal is a text with the command that lets the host
// pass, and after that command the same connection works.
func TestDeniedIsReadable(t *testing.T) {
	w := newWorld(t, Policy{})
	w.host("docs.test", echoHead)
	c := w.client()
	got := do(t, c, request(t, "GET", "https://docs.test/", ""))
	want := "git-ftl: error: docs.test is not allowed\ngit-ftl: hint: git ftl allow docs.test\n"
	if got.Status != 403 || got.Body != want {
		t.Fatalf("got %d %q", got.Status, got.Body)
	}
	if err := w.p.SetPolicy(Policy{Rules: []Rule{{Host: "docs.test"}}}); err != nil {
		t.Fatal(err)
	}
	if got := do(t, c, request(t, "GET", "https://docs.test/", "")); got.Status != 200 {
		t.Errorf("after allow: %d %s", got.Status, got.Body)
	}
	if err := w.p.SetPolicy(Policy{Mode: None, Rules: []Rule{{Host: "docs.test"}}}); err != nil {
		t.Fatal(err)
	}
	if got := do(t, c, request(t, "GET", "https://docs.test/", "")); got.Status != 403 {
		t.Errorf("with no network: %d %s", got.Status, got.Body)
	}
}

func TestProtocols(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", demand)
	for _, test := range []struct {
		name  string
		proto []string
		want  string
	}{{"HTTP/2", nil, "HTTP/2.0"}, {"HTTP/1.1", []string{"http/1.1"}, "HTTP/1.1"}} {
		t.Run(test.name, func(t *testing.T) {
			res, err := w.client(test.proto...).Do(request(t, "POST", "https://api.model.test/v1", "x", "Authorization", "Bearer "+shadowKey))
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != 200 || res.Proto != test.want {
				t.Errorf("got %s over %s", res.Status, res.Proto)
			}
		})
	}
}

// TestForeignClients: programs of other languages with their own TLS.
func TestForeignClients(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", demand)
	ca, direct, viaProxy := w.caFile(), w.listeners[443].Addr().String(), w.listeners[proxyPort].Addr().String()
	python := `import os,ssl,urllib.request as u
u.install_opener(u.build_opener(u.ProxyHandler({"https":"http://%s"}),u.HTTPSHandler(context=ssl.create_default_context(cafile="%s"))))
print(u.urlopen(u.Request("https://api.model.test/v1",data=b"x",headers={"X-Api-Key":"%s"})).read().decode())`
	node := `const h=require("https");const [a,p]="%s".split(":");
h.request({host:a,port:p,servername:"api.model.test",path:"/v1",method:"POST",ca:require("fs").readFileSync("%s"),headers:{host:"api.model.test","x-api-key":"%s"}},r=>r.on("data",d=>console.log(""+d))).end("x")`
	for _, test := range []struct {
		name string
		argv []string
	}{
		{"curl", []string{"curl", "-sS", "--cacert", ca, "--connect-to", "::" + direct, "-H", "Authorization: Bearer " + shadowKey, "-d", "x", "https://api.model.test/v1"}},
		{"curl over CONNECT", []string{"curl", "-sS", "--cacert", ca, "-x", "http://" + viaProxy, "-H", "X-Api-Key: " + shadowKey, "https://api.model.test/v1"}},
		{"python", []string{"python3", "-c", fmt.Sprintf(python, viaProxy, ca, shadowKey)}},
		{"node", []string{"node", "-e", fmt.Sprintf(node, direct, ca, shadowKey)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := exec.LookPath(test.argv[0]); err != nil {
				t.Skip(test.argv[0] + " is not installed")
			}
			out, err := exec.Command(test.argv[0], test.argv[1:]...).CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "welcome") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestRawService: one service of the host at the same port, with half-close.
func TestRawService(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = echo.Close() }()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.WriteString(c, "hello ")
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	w := newWorld(t, Policy{Rules: []Rule{{Host: "localhost", Port: 5432}, {Host: "git.test", Port: 22}}, Credentials: []shadow.Credential{modelCredential()}})
	w.servers["127.0.0.1:5432"] = echo.Addr().String()
	w.place("git.test", 22, echo.Addr().String())
	for _, port := range []int{5432, 22, 6379} {
		w.listen(port)
	}
	for i, port := range []int{5432, 22} {
		c := w.tcp(port)
		if _, err := io.ReadFull(c, make([]byte, 6)); err != nil { // the server speaks first
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "\x00"+shadowKey)
		_ = c.(*net.TCPConn).CloseWrite()
		if got, err := io.ReadAll(c); err != nil || string(got) != "\x00"+shadowKey {
			t.Errorf("port %d: %q, %v", port, got, err)
		}
		if d := w.last(i + 1); d.Verdict != Leaked || d.Port != port {
			t.Errorf("decision %+v", d)
		}
	}
	c := w.tcp(6379)
	_, _ = c.Write([]byte{0})
	if got, _ := io.ReadAll(c); len(got) != 0 {
		t.Errorf("a port that is not allowed said %q", got)
	}
	if d := w.last(3); d.Verdict != Denied {
		t.Errorf("decision %+v", d)
	}
}

// TestCloseEndsAll: no goroutine is left of streams that never end by themselves.
func TestCloseEndsAll(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("streams", func(t *testing.T) {
		w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
		w.host("api.model.test", func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(rw, "data: 1\n\n")
			_ = http.NewResponseController(rw).Flush()
			<-r.Context().Done()
		})
		for _, c := range []*http.Client{w.client(), w.client("http/1.1")} {
			res, err := c.Do(request(t, "GET", "https://api.model.test/v1", "", "X-Api-Key", shadowKey))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = res.Body.Close() })
		}
		_ = tls.Client(w.tcp(443), &tls.Config{ServerName: "x.test", InsecureSkipVerify: true}).HandshakeContext(context.Background())
		w.tcp(443)
		w.p.Close()
	})
	deadline := time.Now().Add(time.Minute)
	for runtime.NumGoroutine() > before+2 {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}
