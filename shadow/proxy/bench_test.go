package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
)

// side is a way to a server: a client and the URL that it asks.
type side struct {
	name   string
	client *http.Client
	url    string
	header []string
}

// sides are a plain reverse proxy over TLS, and this one for a host that is merely
// allowed and for one whose requests are swapped and answers scrubbed. All of them
// end TLS on both sides, before the same handler.
func sides(b *testing.B, h http.HandlerFunc, protocols ...string) []side {
	b.Helper()
	w := newWorld(b, Policy{Rules: []Rule{{Host: "docs.test"}}, Credentials: []shadow.Credential{modelCredential(), {Name: "OTHER", Shadow: otherShad, Real: shadow.NewSecret(otherReal)}}})
	server := w.host("docs.test", h)
	w.host("api.model.test", h)
	return []side{
		{"plain", plainProxy(b, w, server.URL, protocols...), "https://docs.test/", nil},
		{"allowed", w.client(protocols...), "https://docs.test/", nil},
		{"swapped", w.client(protocols...), "https://api.model.test/", []string{"Authorization", "Bearer " + shadowKey}},
	}
}

// plainProxy is what a few lines of the standard library do.
func plainProxy(b *testing.B, w *world, target string, protocols ...string) *http.Client {
	b.Helper()
	to, err := url.Parse(target)
	if err != nil {
		b.Fatal(err)
	}
	rp := httputil.NewSingleHostReverseProxy(to)
	rp.FlushInterval = -1
	rp.ErrorLog = log.New(io.Discard, "", 0)
	rp.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 200}
	server := httptest.NewUnstartedServer(rp)
	cert, err := w.inside.mint("docs.test", time.Now())
	if err != nil {
		b.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{*cert}}
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	client := w.client(protocols...)
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	return client
}

// BenchmarkRequest is one small request after another; ms-median is of all.
func BenchmarkRequest(b *testing.B) {
	for _, protocol := range [][]string{nil, {"http/1.1"}} {
		for _, s := range sides(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok":true}`) }, protocol...) {
			b.Run(fmt.Sprintf("%s/h%d", s.name, 2-len(protocol)), func(b *testing.B) {
				var times []time.Duration
				for b.Loop() {
					start := time.Now()
					if got := do(b, s.client, request(b, "POST", s.url, "{}", s.header...)); got.Status != 200 {
						b.Fatal(got)
					}
					times = append(times, time.Since(start))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
			})
		}
	}
}

const bulk = 64 << 20

// BenchmarkDownload is one large answer.
func BenchmarkDownload(b *testing.B) {
	block := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog, 0123456789 times.\n", 512))
	for _, s := range sides(b, func(w http.ResponseWriter, _ *http.Request) {
		for sent := 0; sent < bulk; sent += len(block) {
			_, _ = w.Write(block)
		}
	}, "http/1.1") {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				res, err := s.client.Do(request(b, "GET", s.url, "", s.header...))
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if err != nil || n < bulk {
					b.Fatal(n, err)
				}
				b.SetBytes(n)
			}
		})
	}
}

// BenchmarkUpload is a body of 1 GB; MB-peak is how much the heap grew.
func BenchmarkUpload(b *testing.B) {
	for _, s := range sides(b, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }, "http/1.1") {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(1 << 30)
			for b.Loop() {
				b.ReportMetric(float64(upload(b, s, 1<<30))/(1<<20), "MB-peak")
			}
		})
	}
}

// upload sends bytes, and says by how many the heap grew at most.
func upload(t testing.TB, s side, size int64) uint64 {
	t.Helper()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	before, peak := stats.HeapInuse, uint64(0)
	r := request(t, "POST", s.url, "", s.header...)
	r.ContentLength = size
	r.Body = io.NopCloser(&measured{left: size, at: func() {
		runtime.ReadMemStats(&stats)
		peak = max(peak, stats.HeapInuse)
	}})
	if got := do(t, s.client, r); got.Status != 200 {
		t.Fatal(got)
	}
	return peak - min(before, peak)
}

// measured is a body of letters that calls a function every 16 MB.
type measured struct {
	left int64
	at   func()
}

func (m *measured) Read(b []byte) (int, error) {
	if m.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), m.left))
	for i := range b[:n] {
		b[i] = 'a' + byte(i%26)
	}
	if before := m.left >> 24; (m.left-int64(n))>>24 != before {
		m.at()
	}
	m.left -= int64(n)
	return n, nil
}

// TestUploadMemory: a body flows through.
func TestUploadMemory(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	grown := upload(t, side{"", w.client(), "https://api.model.test/", []string{"X-Api-Key", shadowKey}}, 128<<20)
	if grown > 24<<20 {
		t.Errorf("the heap grew by %d MB for an upload of 128", grown>>20)
	}
}

// BenchmarkEvents is 100 streams of events at once, each with the time that it was
// sent; ms-worst is the longest that any took.
func BenchmarkEvents(b *testing.B) {
	for _, s := range sides(b, sendEvents, "http/1.1") {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				all := receiveEvents(b, s, 100)
				b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-median")
				b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "ms-p99")
				b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, "ms-worst")
			}
		})
	}
}

const events, eventEvery = 20, 50 * time.Millisecond

func sendEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	for range events {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
		fmt.Fprintf(w, "data: %d %s\n\n", time.Now().UnixNano(), r.Header.Get("Authorization"))
		_ = http.NewResponseController(w).Flush()
	}
}

// receiveEvents returns how long each event of all streams took, sorted.
func receiveEvents(t testing.TB, s side, streams int) []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	var wait sync.WaitGroup
	for range streams {
		wait.Go(func() {
			res, err := s.client.Do(request(t, "GET", s.url, "", s.header...))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			for lines := bufio.NewScanner(res.Body); lines.Scan(); {
				sent, ok := strings.CutPrefix(lines.Text(), "data: ")
				if !ok {
					continue
				}
				stamp, _, _ := strings.Cut(sent, " ")
				nanos, _ := strconv.ParseInt(stamp, 10, 64)
				took := time.Since(time.Unix(0, nanos))
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	slices.Sort(all)
	if len(all) != streams*events {
		t.Fatalf("%d events arrived of %d", len(all), streams*events)
	}
	return all
}

// TestEventsAreNotDelayed: an event comes long before the next is sent.
func TestEventsAreNotDelayed(t *testing.T) {
	w := newWorld(t, Policy{Credentials: []shadow.Credential{modelCredential()}})
	w.host("api.model.test", sendEvents)
	all := receiveEvents(t, side{"", w.client(), "https://api.model.test/", []string{"Authorization", "Bearer " + shadowKey}}, 10)
	if median := all[len(all)/2]; median >= eventEvery {
		t.Errorf("half of the events took %v or more, and one is sent every %v", median, eventEvery)
	}
}
