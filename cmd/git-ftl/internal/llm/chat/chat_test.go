package chat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

type turn = modelserver.Turn

func TestText(t *testing.T) {
	good := turn{Pieces: []string{"All ", "is ", "well."}}
	for _, row := range []struct {
		name  string
		turns []turn
		stop  map[string]string // by protocol, of the first turn
		kind  Kind              // "" for an answer
		why   string            // part of the sentence
		asked int
		text  string
	}{
		{name: "good", turns: []turn{good}, asked: 1, text: "All is well."},
		{name: "not valid UTF-8", turns: []turn{{Pieces: []string{"a\xffb", "c"}}}, asked: 1, text: "a\ufffdbc"},
		{name: "refused", turns: []turn{good}, stop: map[string]string{"anthropic": "refusal", "openai": "content_filter"}, kind: Refused, why: "refused to answer", asked: 1, text: "All is well."},
		{name: "cut off at the limit", turns: []turn{good}, stop: map[string]string{"anthropic": "max_tokens", "openai": "length"}, kind: Truncated, why: "cut off at 16000 tokens", asked: 1, text: "All is well."},
		{name: "stopped for a tool", turns: []turn{good}, stop: map[string]string{"anthropic": "tool_use", "openai": "tool_calls"}, kind: Malformed, why: "tool", asked: 1, text: "All is well."},
		{name: "connection ends inside", turns: []turn{{Pieces: good.Pieces, Cut: true}}, kind: Truncated, why: "broke off", asked: 1, text: "All is well."},
		{name: "no event at all", turns: []turn{{Raw: "<html>hello</html>", Header: http.Header{"Content-Type": {"text/html"}}}}, kind: Truncated, why: "ended inside", asked: 1},
		{name: "event that is no JSON", turns: []turn{{Raw: "event: message_start\ndata: {\n\n", Header: http.Header{"Content-Type": {"text/event-stream"}}}}, kind: Truncated, why: "broke off", asked: 1},
		{name: "fault inside", turns: []turn{{Pieces: []string{"All "}, Fault: "overloaded"}}, kind: Unavailable, asked: 1, text: "All "},
		{name: "too long", turns: []turn{{Pieces: []string{"a", strings.Repeat("x", maxAnswer)}}}, kind: Malformed, why: "longer than any", asked: 1, text: "a"},
		{name: "limited, then good", turns: []turn{{Status: 429, Header: http.Header{"Retry-After": {"0.01"}}}, good}, asked: 2, text: "All is well."},
		{name: "overloaded twice, then good", turns: []turn{{Status: 529, Header: soon()}, {Status: 503, Header: soon()}, good}, asked: 3, text: "All is well."},
		{name: "broken for good", turns: []turn{{Status: 500, Header: soon(), Fault: "oh no\n\x1b[31m"}}, kind: Unavailable, why: `status 500): oh no \x1b[31m`, asked: 3},
		{name: "limited for an hour", turns: []turn{{Status: 429, Header: http.Header{"Retry-After": {"3600"}}, Fault: "slow down"}}, kind: Unavailable, why: "slow down", asked: 1},
		{name: "limited until a date", turns: []turn{{Status: 429, Header: http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}}}, kind: Unavailable, why: "429", asked: 1},
		{name: "wrong question", turns: []turn{{Status: 400, Fault: "prompt is too long"}}, kind: Rejected, why: "prompt is too long", asked: 1},
		{name: "no such model", turns: []turn{{Status: 404, Fault: "model: nope"}}, kind: NoModel, why: "model: nope", asked: 1},
		{name: "error without a form", turns: []turn{{Status: 400, Raw: "<h1>bad</h1>"}}, kind: Rejected, why: "status 400", asked: 1},
	} {
		for _, spec := range specs() {
			t.Run(row.name+"/"+spec, func(t *testing.T) {
				t.Parallel()
				turns := append([]turn(nil), row.turns...)
				protocol, _, _ := strings.Cut(spec, "/")
				turns[0].Stop = row.stop[protocol]
				w := newWorld(t, turns...)
				var streamed strings.Builder
				r, err := w.open(t, spec, nil).Text(t.Context(), Prompt{System: "be kind", User: "how is it?"}, func(s string) { streamed.WriteString(s) })
				mustFail(t, err, row.kind, row.why)
				if diff := cmp.Diff(row.text, r.Text); diff != "" || streamed.String() != r.Text {
					t.Errorf("text (-want +got):\n%s; streamed %q", diff, streamed.String())
				}
				if n := len(w.Asked()); n != row.asked {
					t.Errorf("asked %d times, want %d", n, row.asked)
				}
				mustHoldNoKey(t, w, fmt.Sprintf("%v %+v", err, r))
			})
		}
	}
}

// mustFail checks an error's kind, and that it is a sentence of the model's name
// and a part of it.
func mustFail(t *testing.T, err error, kind Kind, why string) {
	t.Helper()
	var e *Error
	switch {
	case kind == "":
		if err != nil {
			t.Errorf("got %v", err)
		}
	case !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Error(), why) || !strings.HasPrefix(e.Error(), e.Model+": "):
		t.Errorf("got %v, want %q with %q", err, kind, why)
	}
}

// mustHoldNoKey checks that neither a text nor a request's body has the key.
func mustHoldNoKey(t *testing.T, w *world, text string) {
	t.Helper()
	for _, q := range w.Asked() {
		text += q.Raw
	}
	if strings.Contains(text, w.Key) {
		t.Errorf("the key is in %q", text)
	}
}

func TestWrongKey(t *testing.T) {
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, turn{Pieces: []string{"hi"}})
			wrong := newKey(t) // which the server sends back
			c := w.open(t, spec, func(o *Options) {
				o.Key = func(string, *url.URL) (shadow.Secret, bool) { return shadow.NewSecret(wrong), true }
			})
			_, err := c.Text(t.Context(), Prompt{User: "?"}, nil)
			mustFail(t, err, KeyRefused, "refuses the key")
			var e *Error
			if errors.As(err, &e) && !strings.Contains(e.Error(), e.Key) {
				t.Errorf("%v does not name %s", err, e.Key)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, c); strings.Contains(text, wrong[:20]) {
				t.Errorf("a piece of the key is in %s", text)
			}
		})
	}
}

// TestServersThatQuoteTheKey: gateways exist that put a request into their errors.
func TestServersThatQuoteTheKey(t *testing.T) {
	for _, spec := range specs() {
		for name, quote := range map[string]func(key string) turn{
			"error":  func(key string) turn { return turn{Status: 400, Fault: "bad header: " + key} },
			"piece":  func(key string) turn { return turn{Status: 500, Header: soon(), Fault: "key " + key[8:40] + "…"} },
			"answer": func(key string) turn { return turn{Pieces: []string{"your key is ", key[:20], key[20:]}} },
		} {
			t.Run(name+"/"+spec, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, turn{})
				w.Turns[0] = quote(w.Key)
				r, err := w.open(t, spec, nil).Text(t.Context(), Prompt{User: "?"}, nil)
				if text := fmt.Sprintf("%v %+v", err, r); strings.Contains(text, w.Key[8:40]) || !strings.Contains(text, "not shown") {
					t.Errorf("got %s", text)
				}
			})
		}
	}
}

// TestTime: a server that says nothing costs the time given and no more.
func TestTime(t *testing.T) {
	for _, row := range []struct {
		name string
		turn turn
		set  func(*Options)
		why  string
	}{
		{"silent inside", turn{Pieces: []string{"a"}, Wait: true}, func(o *Options) { o.Silence = 200 * time.Millisecond }, "sent nothing for 200ms"},
		{"slow as a whole", turn{Pieces: []string{"a"}, Wait: true}, func(o *Options) { o.Timeout = 200 * time.Millisecond }, "within 200ms"},
		{"silent from the beginning", turn{Wait: true}, func(o *Options) { o.Silence = 200 * time.Millisecond }, "sent nothing for 200ms"},
		{"always limited", turn{Status: 429, Header: http.Header{"Retry-After": {"30"}}}, func(o *Options) { o.Timeout = 20 * time.Second }, "429"},
	} {
		for _, spec := range specs() {
			t.Run(row.name+"/"+spec, func(t *testing.T) {
				t.Parallel()
				begin := time.Now()
				_, err := newWorld(t, row.turn).open(t, spec, row.set).Text(t.Context(), Prompt{User: "?"}, nil)
				var e *Error
				if !errors.As(err, &e) || !strings.Contains(e.Why, row.why) {
					t.Errorf("got %v, want %q", err, row.why)
				}
				if took := time.Since(begin); took > 50*time.Second { // of a minute
					t.Errorf("took %s", took)
				}
			})
		}
	}
}

func TestCancel(t *testing.T) {
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			c := newWorld(t, turn{Pieces: []string{"a"}, Wait: true}).open(t, spec, nil)
			_, err := c.Text(ctx, Prompt{User: "?"}, func(string) { cancel() })
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestRedirectIsNotFollowed: the key would go with it.
func TestRedirectIsNotFollowed(t *testing.T) {
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("a request with %v", r.Header)
			}))
			defer elsewhere.Close()
			w := newWorld(t, turn{Status: 307, Raw: "x", Header: http.Header{"Location": {elsewhere.URL}}})
			_, err := w.open(t, spec, nil).Text(t.Context(), Prompt{User: "?"}, nil)
			mustFail(t, err, Unavailable, "redirects")
		})
	}
}

func TestUnreachable(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	for _, provider := range []string{"anthropic", "openai"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			c := newWorld(t, turn{}).open(t, provider+"/m@"+srv.URL, func(o *Options) { o.HTTP = &http.Client{Transport: &http.Transport{}} })
			_, err := c.Text(t.Context(), Prompt{User: "?"}, nil)
			mustFail(t, err, Unavailable, "cannot be reached")
		})
	}
}

// TestEnvironmentIsNotRead: the SDKs' own clients take keys, addresses and headers
// from it.
func TestEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"} {
		t.Setenv(name, "https://127.0.0.1:1")
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID"} {
		t.Setenv(name, "from the environment")
	}
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: other")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "Authorization: other")
	for _, spec := range specs() {
		w := newWorld(t, turn{Pieces: []string{"hi"}})
		if r, err := w.open(t, spec, nil).Text(t.Context(), Prompt{User: "?"}, nil); err != nil || r.Text != "hi" {
			t.Errorf("%s: %q, %v", spec, r.Text, err)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, row := range []struct {
		spec string
		want Usage
	}{
		{"anthropic/claude-sonnet-5", Usage{1000, 100, 0.003, true}},
		{"anthropic/claude-opus-4-5-20251101", Usage{1000, 100, 0.0075, true}},
		{"openai/gpt-5", Usage{1000, 100, 0.00225, true}},
		{"openai/gpt-5-2025-08-07", Usage{1000, 100, 0.00225, true}},
		{"openai/gpt-5-pro", Usage{Input: 1000, Output: 100}},
		{"openai/gpt-55", Usage{Input: 1000, Output: 100}},
		{"openai/gpt-5@https://gateway.example/v1", Usage{Input: 1000, Output: 100}},
	} {
		t.Run(row.spec, func(t *testing.T) {
			t.Parallel()
			r, err := newWorld(t, turn{Pieces: []string{"hi"}}).open(t, row.spec, nil).Text(t.Context(), Prompt{Name: "p/1", User: "?"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, r.Usage); diff != "" {
				t.Error(diff)
			}
			if r.Model != "canned" || r.Prompt != "p/1" || r.Stop == "" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestRequest: what a server gets, by protocol and by whose server it is.
func TestRequest(t *testing.T) {
	for _, row := range []struct{ spec, path, limit, absent string }{
		{"anthropic/m", "/v1/messages", "max_tokens", "temperature"},
		{"openai/m", "/v1/chat/completions", "max_completion_tokens", "max_tokens"},
		{"openai/meta/llama:8b@https://gateway.example/v1", "/v1/chat/completions", "max_tokens", "max_completion_tokens"},
	} {
		t.Run(row.spec, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, turn{Pieces: []string{"hi"}})
			if _, err := w.open(t, row.spec, nil).Text(t.Context(), Prompt{System: "be <kind>", User: "is 1 < 2?", MaxTokens: 77}, nil); err != nil {
				t.Fatal(err)
			}
			q := w.Asked()[0]
			if q.Path != row.path || q.System != "be <kind>" || q.User != "is 1 < 2?" || q.Body["stream"] != true || q.Body[row.limit] != 77.0 {
				t.Errorf("got %s %s", q.Path, q.Raw)
			}
			for _, name := range []string{row.absent, "tools", "input"} {
				if _, ok := q.Body[name]; ok {
					t.Errorf("%s is in %s", name, q.Raw)
				}
			}
		})
	}
}
