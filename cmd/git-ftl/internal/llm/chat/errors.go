package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/webhooks"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// Kind says why there is no answer that counts.
type Kind string

// The kinds of failure.
const (
	NoKey       Kind = "no key"
	KeyRefused  Kind = "key refused"
	Refused     Kind = "refused"     // by the model
	Truncated   Kind = "truncated"   // at a limit, or by a broken connection
	Malformed   Kind = "malformed"   // not of the shape asked for
	TimedOut    Kind = "timed out"   // as a whole, or by silence
	Unavailable Kind = "unavailable" // not reached, limited, overloaded
	Rejected    Kind = "rejected"    // the server takes no such question
	NoModel     Kind = "no model"    // the server knows no such model, or has no such path
)

// Error is a question without an answer that counts. It is a sentence that can be
// shown, and holds no key.
type Error struct {
	Kind  Kind
	Model string // provider/name
	Key   string // the key's name, of NoKey and KeyRefused
	Why   string
}

// Error implements error.
func (e *Error) Error() string { return e.Model + ": " + e.Why }

func (c *Client) err(k Kind, why string) *Error {
	return &Error{Kind: k, Model: c.name, Why: why}
}

// ended is the error of a question that was ended here.
func (c *Client) ended(cause error) error {
	switch {
	case errors.Is(cause, errTimeout):
		return c.err(TimedOut, fmt.Sprintf("no whole answer within %s", c.timeout))
	case errors.Is(cause, errSilent):
		return c.err(TimedOut, fmt.Sprintf("the server sent nothing for %s", c.silence))
	case errors.Is(cause, errLong):
		return c.err(Malformed, "the answer is longer than any that is taken")
	case errors.Is(cause, errRedirect):
		return c.err(Unavailable, "the server redirects to another address, which is not followed")
	case errors.Is(cause, context.DeadlineExceeded):
		return c.err(TimedOut, "no whole answer in the time that was left")
	}
	return fmt.Errorf("ask %s: %w", c.name, cause)
}

// fault reads what an SDK says. None of its texts is shown as it is: they quote
// requests and, when a key is wrong, parts of keys.
func (c *Client) fault(err error) error {
	var a *anthropic.Error
	var o *webhooks.Error
	var s *ssestream.StreamError
	switch {
	case errors.As(err, &a):
		return c.status(a.StatusCode, message(a.RawJSON()))
	case errors.As(err, &o):
		return c.status(o.StatusCode, o.Message)
	case errors.As(err, &s):
		return c.status(http.StatusOK, message(string(s.Event.Data)))
	}
	var u *url.Error
	if errors.As(err, &u) {
		return c.err(Unavailable, "the server cannot be reached: "+c.said(u.Err.Error()))
	}
	return c.err(Truncated, "the answer broke off: "+c.said(err.Error()))
}

// message is a provider's, from the body of an error; "" where there is none.
func message(body string) string {
	var e struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &e) != nil {
		return ""
	}
	return e.Error.Message
}

func (c *Client) status(code int, message string) error {
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e := c.err(KeyRefused, fmt.Sprintf("the server refuses the key %s (status %d)", c.keyName, code))
		e.Key = c.keyName
		return e
	case code == http.StatusNotFound:
		return c.err(NoModel, "the server knows no such model or path (status 404): "+c.said(message))
	case code == http.StatusTooManyRequests:
		return c.err(Unavailable, "the rate or the budget of this key is used up (status 429): "+c.said(message))
	case code >= 500:
		return c.err(Unavailable, fmt.Sprintf("the server is overloaded or broken (status %d): %s", code, c.said(message)))
	case code < 300: // an error event inside a stream
		return c.err(Unavailable, "the server broke off: "+c.said(message))
	}
	return c.err(Rejected, fmt.Sprintf("the server does not take the question (status %d): %s", code, c.said(message)))
}

// said makes a server's words short and safe to show.
func (c *Client) said(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return cmp.Or(escape.Text(clip(c.scrub(text), 200)), "it does not say why")
}

// A piece of a key is taken for one from 16 bytes on, since shorter ones are the
// prefixes that all keys of a provider have; a key under 8 bytes is a word.
const (
	keyPiece = 16
	keyShort = 8
)

// scrub withholds a text that quotes the key or a piece of it, which a server may
// send back.
func (c *Client) scrub(text string) string {
	key := c.secret.Reveal()
	n := min(len(key), keyPiece)
	for i := 0; n >= keyShort && i+n <= len(key); i++ {
		if strings.Contains(text, key[i:i+n]) {
			return "[a text that quotes the key is not shown]"
		}
	}
	return text
}

// clip cuts a text after n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
