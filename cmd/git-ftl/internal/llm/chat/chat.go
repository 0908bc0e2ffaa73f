// Package chat puts one question to a language model and takes its answer, as
// text or as JSON of a given shape, through the official SDKs of Anthropic and
// OpenAI. Any server that speaks one of their protocols will do.
//
// An answer is foreign text: bounded and valid UTF-8, no more. A key goes into
// one header of a request and nowhere else: no error, answer or log has it, and
// nothing is read from the environment. A question has no tools, so that an
// answer can do nothing.
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
)

// Options say how models are reached.
type Options struct {
	// HTTP carries the requests; its proxy and certificates are the caller's. It
	// is copied, and the copy follows no redirect: a key would go with it.
	HTTP *http.Client
	// Key finds a secret by name for a server. One that the secret is not bound to
	// gets none.
	Key func(name string, server *url.URL) (shadow.Secret, bool)
	// Timeout bounds a question with all its retries, 3 minutes by default.
	Timeout time.Duration
	// Silence is how long a server may send nothing, 90 seconds by default.
	Silence time.Duration
}

// Prompt is a question. Whoever writes one fences what is not to be obeyed.
type Prompt struct {
	Name      string // of the prompt and its version, for records
	System    string // what the model is to do
	User      string // what it is to look at
	MaxTokens int    // of the answer, thinking included; 16,000 by default
}

// Usage is what answers took. Cost is in US dollars by the list price, and means
// nothing unless Known.
type Usage struct {
	Input  int     `json:"input_tokens"`
	Output int     `json:"output_tokens"`
	Cost   float64 `json:"cost_usd"`
	Known  bool    `json:"cost_known"`
}

// Add is the usage of two answers; its cost is known where both are.
func (u Usage) Add(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, Output: u.Output + v.Output, Cost: u.Cost + v.Cost, Known: u.Known && v.Known}
}

// Reply is an answer. With an error it says what was spent until then.
type Reply struct {
	Text   string `json:"-"`
	Usage  Usage  `json:"usage"`
	Model  string `json:"model"`  // as the server names it, or as it was asked for
	Prompt string `json:"prompt"` // the prompt's name
	Stop   string `json:"stop"`   // why the model ended, in the provider's word
}

// Client asks one model. It is safe for concurrent use.
type Client struct {
	name     string // provider/model
	provider provider
	priced   bool // the provider's own server
	secret   shadow.Secret
	keyName  string
	timeout  time.Duration
	silence  time.Duration
}

// provider is a protocol, spoken by its SDK. What came until an error is part of
// the answer.
type provider interface {
	ask(ctx context.Context, q question, w *watch, emit func(string)) (answer, error)
}

// question is a prompt and the shape of its answer, if it has one.
type question struct {
	Prompt
	schema map[string]any
}

// answer is what a provider heard.
type answer struct {
	model, stop   string
	input, output int64
	refused       bool
}

// maxRetries bounds how often an SDK tries again after 408, 409, 429, 5xx and
// broken connections. It waits as the server says, or half a second and more.
const maxRetries = 2

// Open makes a client of a model: anthropic/NAME or openai/NAME, and with a
// server of one's own openai/NAME@http://localhost:11434/v1. The key is
// ANTHROPIC_API_KEY or OPENAI_API_KEY, needed at the provider's own server alone;
// without encryption it goes to this machine alone. A fault of the key is an
// *Error.
func Open(spec string, o Options) (*Client, error) {
	s, err := parseSpec(spec)
	if err != nil {
		return nil, err
	}
	if o.HTTP == nil || o.Key == nil {
		return nil, errors.New("open model: no HTTP client or no keys")
	}
	c := &Client{
		name: s.provider + "/" + s.model, keyName: s.keyName(), priced: s.own,
		timeout: cmp.Or(o.Timeout, 3*time.Minute), silence: cmp.Or(o.Silence, 90*time.Second),
	}
	if s.keyMayGo() {
		c.secret, _ = o.Key(c.keyName, s.base)
	}
	if s.own && c.secret.IsZero() {
		return nil, &Error{Kind: NoKey, Model: c.name, Key: c.keyName, Why: "there is no " + c.keyName}
	}
	client := *o.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Timeout = 0 // Timeout and Silence are the bounds
	if s.provider == providerAnthropic {
		c.provider = newAnthropic(s, c.secret, &client)
	} else {
		c.provider = newOpenAI(s, c.secret, &client)
	}
	return c, nil
}

// Text asks for text. stream, which may be nil, gets it piece by piece as it
// comes: before it is known whether the answer counts, and whether a server put
// the request into it.
func (c *Client) Text(ctx context.Context, p Prompt, stream func(string)) (Reply, error) {
	ctx, cancel := c.Within(ctx)
	defer cancel()
	return c.ask(ctx, question{Prompt: p}, stream)
}

// Within bounds several questions by the time of one.
func (c *Client) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout, errTimeout)
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 1 << 20

// ask puts one question, once but for the SDK's own retries.
func (c *Client) ask(ctx context.Context, q question, stream func(string)) (Reply, error) {
	q.MaxTokens = cmp.Or(q.MaxTokens, 16_000)
	w := newWatch(ctx, c.silence)
	defer w.stop()
	var text strings.Builder
	a, err := c.provider.ask(w.ctx, q, w, func(piece string) {
		piece = strings.ToValidUTF8(piece, "\ufffd")
		if text.Len()+len(piece) > maxAnswer {
			w.cancel(errLong)
			return
		}
		text.WriteString(piece)
		if stream != nil {
			stream(piece)
		}
	})
	r := Reply{
		Text: c.scrub(text.String()), Prompt: q.Name, Stop: clip(a.stop, 40), Usage: c.usage(a),
		Model: cmp.Or(clip(c.scrub(a.model), 100), c.name),
	}
	if cause := context.Cause(w.ctx); cause != nil {
		return r, c.ended(cause)
	}
	if err != nil {
		return r, c.fault(err)
	}
	return r, c.stopped(a, q)
}

// usage prices an answer of the provider's own server.
func (c *Client) usage(a answer) Usage {
	u := Usage{Input: int(max(a.input, 0)), Output: int(max(a.output, 0))}
	if c.priced {
		u.Cost, u.Known = cost(c.name, u.Input, u.Output)
	}
	return u
}

// stopped is why an answer that ended does not count, if it does not.
func (c *Client) stopped(a answer, q question) error {
	switch {
	case a.refused, a.stop == "refusal", a.stop == "content_filter":
		return c.err(Refused, "the model refused to answer")
	case a.stop == "max_tokens", a.stop == "length":
		return c.err(Truncated, fmt.Sprintf("the answer was cut off at %d tokens", q.MaxTokens))
	case a.stop == "model_context_window_exceeded":
		return c.err(Truncated, "question and answer are longer than the model takes")
	case a.stop == "":
		return c.err(Truncated, "the connection ended inside the answer")
	case a.stop == "end_turn", a.stop == "stop_sequence", a.stop == "stop":
		return nil
	}
	return c.err(Malformed, "the model stopped for a reason that is not known here: "+c.said(a.stop))
}
