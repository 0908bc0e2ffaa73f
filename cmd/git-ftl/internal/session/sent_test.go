package session

import (
	"testing"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// TestEgressFindings: a shadow that went where it is not bound, and a write with a
// secret that can change an account, are findings; what a model or a read needs is
// none.
func TestEgressFindings(t *testing.T) {
	for _, test := range []struct {
		name string
		of   []proxy.Decision
		want []string // rule, host and message
	}{
		{"nothing", nil, nil},
		{"a read", []proxy.Decision{{Verdict: proxy.Swapped, Method: "GET", Secrets: []string{"GITHUB_TOKEN"}}}, nil},
		{"a model", []proxy.Decision{{Verdict: proxy.Swapped, Method: "POST", Secrets: []string{"OPENAI_API_KEY"}}}, nil},
		{"a name of the user's own", []proxy.Decision{{Verdict: proxy.Swapped, Method: "POST", Secrets: []string{"MY_KEY"}}}, nil},
		{"denied", []proxy.Decision{{Verdict: proxy.Denied, Method: "POST", Shadows: []string{"GITHUB_TOKEN"}}}, nil},
		{"a write", []proxy.Decision{{Verdict: proxy.Swapped, Method: "PUT", Path: "/a", Secrets: []string{"NPM_TOKEN"}}},
			[]string{"egress/write", "h.test", "NPM_TOKEN was used there for what can change an account: PUT /a"}},
		{"a write with a secret of a file", []proxy.Decision{{Verdict: proxy.Swapped, Method: "PUT", Path: "/a\x1b", Secrets: []string{"NPM_TOKEN (.env)"}}},
			[]string{"egress/write", "h.test", `NPM_TOKEN (.env) was used there for what can change an account: PUT /a\x1b`}},
		{"a leak, twice", []proxy.Decision{{Verdict: proxy.Leaked, Method: "GET", Shadows: []string{"MY_KEY"}}, {Verdict: proxy.Leaked, Shadows: []string{"MY_KEY"}}},
			[]string{"egress/unbound", "h.test", "the shadow of MY_KEY was sent there, where it is not bound (2 times)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var e Egress
			for _, d := range test.of {
				for _, s := range sentOf(d, "h.test") {
					e.add(s)
				}
			}
			got := e.findings()
			if len(got) != min(1, len(test.want)) {
				t.Fatalf("got %v", got)
			}
			for _, f := range got {
				if f.Rule != test.want[0] || f.Path != test.want[1] || f.Message != test.want[2] || f.Severity != lint.Warn || f.ID == "" {
					t.Errorf("got %+v", f)
				}
			}
		})
	}
}
