package session

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// ErrNoModel says that no model is set, and that the vault has no key of one.
var ErrNoModel = errors.New("there is no model to ask")

// ownModels are those that a person with no more than a key means, by its name.
func ownModels() [][2]string {
	return [][2]string{{"ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5-5"}, {"OPENAI_API_KEY", "openai/gpt-6.1-sol"}}
}

// ModelOf is the model that a person with a key of this name means, "" where the
// name is not one of a model's provider.
func ModelOf(key string) string {
	for _, own := range ownModels() {
		if own[0] == key {
			return own[1]
		}
	}
	return ""
}

// asked is the model that answers questions: the reviewer, the tester, or one that
// a key is kept for; "" where there is none.
func (s *Session) asked(kept []Kept) string {
	if set := cmp.Or(s.Config.Reviewer, s.Config.Tester); set != "" {
		return set
	}
	for _, own := range ownModels() {
		if slices.ContainsFunc(kept, func(k Kept) bool { return k.Name == own[0] && !k.Value.IsZero() }) {
			return own[1]
		}
	}
	return ""
}

// model opens a model with the keys that the user keeps, over their own proxy.
// Errors: *chat.Error.
func (s *Session) model(spec string, kept []Kept) (llm.Model, error) {
	via := upstream(s.netEnv())
	c, err := chat.Open(spec, chat.Options{
		HTTP: &http.Client{Transport: &http.Transport{
			Proxy:             func(r *http.Request) (*url.URL, error) { return via(r.URL) },
			DisableKeepAlives: true, // so that no connection outlives a question
		}},
		Key:     func(name string, server *url.URL) (shadow.Secret, bool) { return keyFor(kept, name, server) },
		Timeout: s.Patience,
	})
	return llm.Model{Client: c}, err
}

// keyFor is the value of a secret that may go to a server.
func keyFor(kept []Kept, name string, server *url.URL) (shadow.Secret, bool) {
	for _, k := range kept {
		if k.Name == name && !k.Value.IsZero() && covers(k, server) {
			return k.Value, true
		}
	}
	return shadow.Secret{}, false
}

// covers reports whether a secret is bound to a server: where the user says, else
// where its name is known to belong.
func covers(k Kept, server *url.URL) bool {
	b, active, _ := shadow.Known(k.Name)
	switch {
	case k.Binding != nil:
		b = *k.Binding
	case !active:
		return false
	}
	port := map[string]int{"https": 443, "http": 80}[server.Scheme]
	if n, err := strconv.Atoi(server.Port()); err == nil {
		port = n
	}
	return slices.ContainsFunc(b.Hosts, func(bound string) bool {
		rule := proxy.Rule{Host: bound, Port: 443}
		if host, text, err := net.SplitHostPort(bound); err == nil {
			rule.Host = host
			rule.Port, _ = strconv.Atoi(text)
		}
		return rule.Port != 0 && rule.Covers(strings.ToLower(server.Hostname()), port)
	})
}

// CanAsk reports whether there is a model to ask, without asking anybody anything.
func (s *Session) CanAsk(ctx context.Context) bool {
	var v Vault
	if s.Peek != nil && s.asked(nil) == "" {
		v, _ = s.Peek(ctx, Project(s.Repo)) // one that does not open has no keys for now
	}
	return s.asked(s.withVariables(v.Kept)) != ""
}

// withheld puts names in place of the user's real values: no model is told one.
func withheld(values []lint.Value) func(string) string {
	var pairs []string
	for _, v := range values {
		for _, n := range v.Needles {
			pairs = append(pairs, n.Text.Reveal(), "[secret "+v.Name+"]")
		}
	}
	return strings.NewReplacer(pairs...).Replace
}
