package session

import (
	"net/url"
	"testing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
)

// TestUpstream: the environment's proxies go before git's.
func TestUpstream(t *testing.T) {
	const env, own = "http://env.example:1", "http://git.example:2"
	for _, test := range []struct {
		name                string
		env                 []string
		git                 string
		wantHTTPS, wantHTTP string
	}{
		{"none", nil, "", "", ""},
		{"environment", []string{"HTTPS_PROXY=" + env}, "", env, ""},
		{"for everything", []string{"ALL_PROXY=" + env}, "", env, env},
		{"git", nil, own, own, own},
		{"both", []string{"https_proxy=" + env}, own, env, own},
		{"empty", []string{"https_proxy="}, own, own, own},
		{"not for this host", []string{"NO_PROXY=.example.com"}, own, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &Session{Env: test.env, Config: &config.Config{Proxy: test.git}}
			via := upstream(s.netEnv())
			for scheme, want := range map[string]string{"https": test.wantHTTPS, "http": test.wantHTTP} {
				got, err := via(&url.URL{Scheme: scheme, Host: "api.example.com"})
				if err != nil || got == nil && want != "" || got != nil && got.String() != want {
					t.Errorf("%s: %v %v, want %q", scheme, got, err, want)
				}
			}
		})
	}
}
