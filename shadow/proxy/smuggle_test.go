package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

// TestAttackSmuggling: one request in is one request out, and what is no request
// is none.
func TestAttackSmuggling(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential(func(b *shadow.Binding) { b.Paths = []string{"/v1/messages"} })}})
	var reached []string
	w.host("api.model.test", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reached = append(reached, r.URL.Path+" "+string(body)+" "+r.Header.Get("X-Evil"))
	})
	head := "POST /v1/messages HTTP/1.1\r\nHost: api.model.test\r\nConnection: close\r\nX-Api-Key: " + shadowKey + "\r\n"
	for _, test := range []struct{ name, send, want string }{
		{"length and chunks", head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "/v1/messages abc "},
		{"two lengths", head + "Content-Length: 3\r\nContent-Length: 9\r\n\r\nabc", ""},
		{"an odd transfer encoding", head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", ""},
		{"a folded header", "POST /v1/messages HTTP/1.1\r\nHost: api.model.test\r\nConnection: close\r\nX-Api-Key: " + shadowKey + "\r\n evil\r\n\r\n", ""},
		{"a bare carriage return", "POST /v1/messages HTTP/1.1\r\nHost: api.model.test\r\nConnection: close\r\nX-Api-Key: " + shadowKey + "\rX-Evil: 1\r\n\r\n", ""},
		{"a NUL", head + "X-Evil: a\x00b\r\n\r\n", ""},
		{"a space before the colon", head + "X-Evil : 1\r\n\r\n", ""},
		{"two hosts", "POST /v1/messages HTTP/1.1\r\nHost: api.model.test\r\nHost: evil.test\r\nConnection: close\r\nX-Api-Key: " + shadowKey + "\r\n\r\n", ""},
		{"line breaks in the path", "POST /v1/messages%0d%0aX-Evil:1 HTTP/1.1\r\nHost: api.model.test\r\nConnection: close\r\nX-Api-Key: " + shadowKey + "\r\n\r\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			reached = nil
			c := w.tls("api.model.test")
			_, _ = io.WriteString(c, test.send)
			answer, _ := io.ReadAll(c)
			want := []string{test.want}
			if test.want == "" {
				want = nil
				if !bytes.HasPrefix(answer, []byte("HTTP/1.1 4")) && !bytes.HasPrefix(answer, []byte("HTTP/1.1 5")) {
					t.Errorf("answer %q", answer)
				}
			}
			if diff := cmp.Diff(want, reached); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAttackPaths: the files API of a model host, and every spelling of it.
func TestAttackPaths(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential(func(b *shadow.Binding) {
		b.Paths, b.Methods = []string{"/v1/messages"}, []string{"POST"}
	})}})
	var reached []string
	w.host("api.model.test", func(_ http.ResponseWriter, r *http.Request) {
		reached = append(reached, r.Method+" "+r.RequestURI+r.Header.Get("X-Http-Method-Override"))
	})
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/v1/messages", 200}, {"POST", "/v1/messages?beta=true", 200}, {"POST", "/v1/messages/batches", 200},
		{"GET", "/v1/messages", 403}, {"POST", "/v1/files", 403}, {"POST", "/v1/messagesfiles", 403}, {"POST", "/", 403},
		{"POST", "/v1/messages/../files", 403}, {"POST", "/v1/messages/%2e%2e/files", 403}, {"POST", "/v1/messages%2f..%2ffiles", 403},
		{"POST", "/v1/messages/@a%2f../../files", 403}, {"POST", "/v1/messages/@a%2f..%2f..%2ffiles", 403}, {"POST", "/v1/messages/@a%2f..", 403},
		{"POST", "/v1/messages/..;/files", 403}, {"POST", "/v1/messages/%252e%252e/files", 403}, {"POST", `/v1/messages/..\files`, 403},
		{"POST", "/v1/messages//../../files", 403}, {"POST", "//v1/messages", 403},
	} {
		c := w.tls("api.model.test")
		fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: api.model.test\r\nX-Api-Key: %s\r\nX-HTTP-Method-Override: DELETE\r\nContent-Length: 0\r\n\r\n", test.method, test.path, shadowKey)
		if status := readStatus(t, c); status != test.status {
			t.Errorf("%s %s: %d", test.method, test.path, status)
		}
	}
	if diff := cmp.Diff([]string{"POST /v1/messages", "POST /v1/messages?beta=true", "POST /v1/messages/batches"}, reached); diff != "" {
		t.Error(diff)
	}
}
