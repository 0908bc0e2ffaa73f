package proxy

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/internal/needle"
)

// TestAttackReflection: a server that sends back what it was sent, in every way.
func TestAttackReflection(t *testing.T) {
	key := func(r *http.Request) string { return r.Header.Get("X-Api-Key") }
	var slice int
	ways := map[string]http.HandlerFunc{
		"body":        func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, key(r)) },
		"header":      func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Echo", "a "+key(r)) },
		"header name": func(w http.ResponseWriter, r *http.Request) { w.Header()["X-"+key(r)] = []string{"1"} },
		"cookie and redirect": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "https://evil.test/?"+key(r))
			w.Header().Set("Set-Cookie", "k="+key(r))
			w.WriteHeader(http.StatusFound)
		},
		"trailer": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Echo")
			_, _ = io.WriteString(w, "x")
			w.Header().Set("X-Echo", key(r))
		},
		"unannounced trailer": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			w.Header().Set(http.TrailerPrefix+"X-Echo", key(r))
		},
		"slices of a run": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, key(r)[slice:slice+12])
			slice++
		},
		"byte by byte": func(w http.ResponseWriter, r *http.Request) {
			for _, b := range []byte("<<" + key(r) + ">>") {
				_, _ = w.Write([]byte{b})
				_ = http.NewResponseController(w).Flush()
			}
		},
		"gzip though not asked for": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, key(r))
			_ = z.Close()
		},
		"deflate": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "deflate")
			z, _ := flate.NewWriter(w, 5)
			_, _ = io.WriteString(z, key(r))
			_ = z.Close()
		},
		"deflate with a head": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "deflate")
			z := zlib.NewWriter(w)
			_, _ = io.WriteString(z, key(r))
			_ = z.Close()
		},
		"a large binary body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(bytes.Repeat([]byte{0, 1, 2, 3}, 1<<19))
			_, _ = io.WriteString(w, key(r))
		},
		"hex": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, hex.EncodeToString([]byte(key(r))))
		},
		"error status": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "bad key "+key(r), http.StatusUnauthorized)
		},
	}
	for shift := range 3 {
		ways[fmt.Sprintf("base64 after %d bytes", shift)] = func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift)+key(r)+"yz")))
		}
	}
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", func(rw http.ResponseWriter, r *http.Request) { ways[r.Header.Get("Way")](rw, r) })
	for name := range ways {
		t.Run(name, func(t *testing.T) {
			for _, c := range []*http.Client{w.client(), w.client("http/1.1")} {
				got := do(t, c, request(t, "GET", "https://api.model.test/", "", "X-Api-Key", shadowKey, "Way", name, "Accept-Encoding", "gzip, br"))
				all := fmt.Sprint(got)
				noReal(t, all)
				for i := len("sk-real-"); i+needle.Window <= len(realKey); i++ { // what comes before is no secret
					if strings.Contains(all, realKey[i:i+needle.Window]) {
						t.Errorf("a run of the key came back: %q", realKey[i:i+needle.Window])
					}
				}
				if name == "body" && got.Body != shadowKey {
					t.Errorf("got %q", got.Body)
				}
				if name == "trailer" && got.Trailer.Get("X-Echo") != shadowKey {
					t.Errorf("trailer %v", got.Trailer)
				}
			}
		})
	}
}

func TestAttackUndecodableAnswers(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", r.Header.Get("Way"))
		_, _ = io.WriteString(rw, r.Header.Get("X-Api-Key"))
	})
	for _, encoding := range []string{"br", "zstd", "gzip, gzip", "compress", "x"} {
		got := do(t, w.client(), request(t, "GET", "https://api.model.test/", "", "X-Api-Key", shadowKey, "Way", encoding))
		if got.Status != 502 {
			t.Errorf("%s: %d %q", encoding, got.Status, got.Body)
		}
		noReal(t, fmt.Sprint(got))
	}
}

// TestAttackRange: slices of a shorter kind than a run never come to be.
func TestAttackRange(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", func(rw http.ResponseWriter, r *http.Request) {
		http.ServeContent(rw, r, "x.txt", time.Time{}, strings.NewReader(r.Header.Get("X-Api-Key")))
	})
	for i := range 5 {
		got := do(t, w.client(), request(t, "GET", "https://api.model.test/", "", "X-Api-Key", shadowKey, "Range", fmt.Sprintf("bytes=%d-%d", 5*i, 5*i+4), "If-Range", "x"))
		if got.Status != 200 || got.Body != shadowKey {
			t.Errorf("got %d %q", got.Status, got.Body)
		}
	}
}

func TestAttackEarlyHints(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Link", "<https://x.test/"+r.Header.Get("X-Api-Key")+">")
		rw.WriteHeader(http.StatusEarlyHints)
		rw.Header().Del("Link")
		_, _ = io.WriteString(rw, "done")
	})
	var hints []string
	r := request(t, "GET", "https://api.model.test/", "", "X-Api-Key", shadowKey)
	r = r.WithContext(withHints(r.Context(), func(code int, h textproto.MIMEHeader) { hints = append(hints, fmt.Sprint(code, h)) }))
	do(t, w.client(), r)
	if len(hints) != 1 || !strings.Contains(hints[0], shadowKey) {
		t.Errorf("hints %q", hints)
	}
	noReal(t, fmt.Sprint(hints))
}

// TestAttackUpgrade: another protocol cannot be looked through, so a host with a
// credential has none; any other has.
func TestAttackUpgrade(t *testing.T) {
	w := newWorld(t, Policy{Rules: []Rule{{Host: "ws.test"}}, Credentials: []shadow.Credential{modelCredential()}})
	echo := func(rw http.ResponseWriter, r *http.Request) {
		under, buffered, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = under.Close() }()
		fmt.Fprintf(under, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Seen: %s\r\n\r\n%s", r.Header.Get("Sec-WebSocket-Extensions"), r.Header.Get("X-Api-Key"))
		_, _ = io.Copy(under, buffered)
	}
	w.host("ws.test", echo)
	w.host("api.model.test", echo)
	for _, test := range []struct {
		host   string
		status int
	}{{"ws.test", 101}, {"api.model.test", 403}} {
		c := w.tls(test.host)
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", test.host, shadowKey)
		r := bufio.NewReader(c)
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != test.status {
			t.Fatalf("%s: %v, %v", test.host, res, err)
		}
		if test.status != 101 {
			continue
		}
		if res.Header.Get("X-Seen") != "" {
			t.Error("extensions went through")
		}
		_, _ = io.WriteString(c, "ping")
		got := make([]byte, len(shadowKey)+4)
		if _, err := io.ReadFull(r, got); err != nil || string(got) != shadowKey+"ping" {
			t.Errorf("got %q, %v", got, err)
		}
		_ = c.Close()
	}
}

// TestAttackUnaskedUpgrade: a server cannot switch to a protocol that nobody asked for.
func TestAttackUnaskedUpgrade(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	server := w.host("api.model.test", func(rw http.ResponseWriter, r *http.Request) {
		under, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		fmt.Fprintf(under, "HTTP/1.1 101 Switching Protocols\r\n\r\n%s", r.Header.Get("X-Api-Key"))
		_ = under.Close()
	})
	server.TLS.NextProtos = []string{"http/1.1"}
	c := w.tls("api.model.test")
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: api.model.test\r\nX-Api-Key: %s\r\nConnection: close\r\n\r\n", shadowKey)
	got, _ := io.ReadAll(c)
	if !bytes.HasPrefix(got, []byte("HTTP/1.1 502")) {
		t.Errorf("got %q", got)
	}
	noReal(t, string(got))
	n, _ := testNeedles(t)
	if err := scrubResponse(&http.Response{StatusCode: http.StatusSwitchingProtocols, Header: http.Header{}}, n); !errors.Is(err, errEncoding) {
		t.Errorf("an answer of 101 passes: %v", err)
	}
}
