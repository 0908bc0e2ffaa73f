package session

import (
	"net/url"
	"testing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/shadow"
)

// TestKeyFor: a key goes where its name is known to belong or where the user said,
// and nowhere else, whatever a setting names as the server.
func TestKeyFor(t *testing.T) {
	bound := func(hosts ...string) *shadow.Binding { return &shadow.Binding{Hosts: hosts} }
	for _, tc := range []struct {
		name, secret string
		binding      *shadow.Binding
		server       string
		want         bool
	}{
		{"its provider", "OPENAI_API_KEY", nil, "https://api.openai.com/v1", true},
		{"in capitals", "OPENAI_API_KEY", nil, "https://API.OpenAI.com/v1", true},
		{"another provider", "OPENAI_API_KEY", nil, "https://api.anthropic.com", false},
		{"a name below", "OPENAI_API_KEY", nil, "https://api.openai.com.evil.example/v1", false},
		{"another port", "OPENAI_API_KEY", nil, "https://api.openai.com:8443/v1", false},
		{"without encryption", "OPENAI_API_KEY", nil, "http://api.openai.com/v1", false},
		{"a gateway that nobody named", "OPENAI_API_KEY", nil, "https://gateway.example/v1", false},
		{"a gateway", "OPENAI_API_KEY", bound("gateway.example"), "https://gateway.example/v1", true},
		{"its provider no more", "OPENAI_API_KEY", bound("gateway.example"), "https://api.openai.com/v1", false},
		{"a gateway with a port", "OPENAI_API_KEY", bound("gateway.example:8443"), "https://gateway.example:8443/v1", true},
		{"not the port", "OPENAI_API_KEY", bound("gateway.example:8443"), "https://gateway.example/v1", false},
		{"a pattern", "OPENAI_API_KEY", bound("*.corp.example"), "https://llm.corp.example/v1", true},
		{"not the pattern", "OPENAI_API_KEY", bound("*.corp.example"), "https://corp.example/v1", false},
		{"this machine", "OPENAI_API_KEY", bound("localhost:11434"), "http://127.0.0.1:11434/v1", true},
		{"nowhere", "OPENAI_API_KEY", bound(), "https://api.openai.com/v1", false},
		{"another name", "CLAUDE_API_KEY", nil, "https://api.openai.com/v1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, err := url.Parse(tc.server)
			if err != nil {
				t.Fatal(err)
			}
			kept := []Kept{{Name: tc.secret, Value: shadow.NewSecret("value-of-the-key"), Binding: tc.binding}}
			value, ok := keyFor(kept, "OPENAI_API_KEY", server)
			if ok != tc.want || ok != (value.Reveal() != "") {
				t.Errorf("got %v, want %v", ok, tc.want)
			}
		})
	}
}

func TestAsked(t *testing.T) {
	keys := func(names ...string) (kept []Kept) {
		for _, n := range names {
			kept = append(kept, Kept{Name: n, Value: shadow.NewSecret("value-of-the-key")})
		}
		return kept
	}
	for _, tc := range []struct {
		name, tester, reviewer string
		kept                   []Kept
		want                   string
	}{
		{"nothing", "", "", nil, ""},
		{"a key of something else", "", "", keys("GITHUB_TOKEN"), ""},
		{"a name without a value", "", "", []Kept{{Name: "OPENAI_API_KEY"}}, ""},
		{"a key", "", "", keys("OPENAI_API_KEY"), "openai/gpt-6.1-sol"},
		{"both", "", "", keys("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "anthropic/claude-sonnet-5-5"},
		{"tester", "openai/t", "", keys("ANTHROPIC_API_KEY"), "openai/t"},
		{"reviewer", "openai/t", "openai/r", nil, "openai/r"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Session{Config: &config.Config{Tester: tc.tester, Reviewer: tc.reviewer}}
			if got := s.asked(tc.kept); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestWithheld: a real value is not told, in any of the forms that lint knows.
func TestWithheld(t *testing.T) {
	const real = "4f1d9c0ab7e25386-real"
	hide := withheld(valuesOf([]shadow.Sought{{Name: "DB", Value: shadow.NewSecret(real), Chosen: true}}))
	for in, want := range map[string]string{
		"+pass = \"" + real + "\"\n": "+pass = \"[secret DB]\"\n",
		"nothing":                    "nothing",
	} {
		if got := hide(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := withheld([]lint.Value{})(real); got != real {
		t.Errorf("no values: %q", got)
	}
}
