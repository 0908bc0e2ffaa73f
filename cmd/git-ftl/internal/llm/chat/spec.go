package chat

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// The protocols that are spoken.
const (
	providerAnthropic = "anthropic"
	providerOpenAI    = "openai"
)

// spec says which model, where.
type spec struct {
	provider, model string
	base            *url.URL
	own             bool // the provider's own server
}

// parseSpec reads PROVIDER/NAME and PROVIDER/NAME@URL. A name may hold slashes,
// colons and at signs, as the names of gateways and of Ollama do.
func parseSpec(text string) (spec, error) {
	provider, rest, _ := strings.Cut(text, "/")
	base, ok := map[string]string{providerAnthropic: "https://api.anthropic.com", providerOpenAI: "https://api.openai.com/v1"}[provider]
	switch {
	case provider == "bedrock":
		return spec{}, fmt.Errorf("model %q: bedrock comes later; anthropic/NAME and openai/NAME work", text)
	case !ok:
		return spec{}, fmt.Errorf("model %q: want anthropic/NAME, openai/NAME or openai/NAME@URL", text)
	}
	s := spec{provider: provider, model: rest, own: true}
	if at := strings.Index(rest, "@http"); at >= 0 {
		s.model, base, s.own = rest[:at], rest[at+1:], false
	}
	if s.model == "" || len(s.model) > 200 || strings.ContainsFunc(s.model, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return spec{}, fmt.Errorf("model %q: no name, or one that no model has", text)
	}
	u, err := url.Parse(base)
	if err != nil {
		return spec{}, fmt.Errorf("model %q: its address cannot be read", text)
	}
	if (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return spec{}, fmt.Errorf("model %s/%s: want an address like https://host/v1, without user, query or fragment", provider, s.model)
	}
	s.base = u
	return s, nil
}

// keyName is the vault's name of the key.
func (s spec) keyName() string {
	if s.provider == providerAnthropic {
		return "ANTHROPIC_API_KEY"
	}
	return "OPENAI_API_KEY"
}

// keyMayGo reports whether nobody on the way can read a key.
func (s spec) keyMayGo() bool {
	if s.base.Scheme == "https" || s.base.Hostname() == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(s.base.Hostname())
	return err == nil && addr.IsLoopback()
}
