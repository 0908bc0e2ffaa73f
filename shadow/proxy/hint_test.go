package proxy

import (
	"encoding/base64"
	"testing"

	"github.com/git-ftl/git-ftl/shadow"
)

// TestHints: a refusal names the one command that helps, and none where none does.
func TestHints(t *testing.T) {
	const known = "ftl_shadow_dd_api_key_0123456789abcdef0123456789abcdef"
	w := newWorld(t, Policy{
		Rules: []Rule{
			{Host: "docs.test"},
			{Host: "go.test", Registry: true, Narrowed: true, Methods: []string{"GET"}, Paths: []string{"/known"}},
			{Host: "art.test", Registry: true, Narrowed: true, Methods: []string{"GET"}, Paths: []string{"/known"}},
		},
		Credentials: []shadow.Credential{
			modelCredential(),
			{Name: "TOKEN (api/.env)", Shadow: otherShad, Real: shadow.NewSecret(otherReal)},
			{Name: "DD_API_KEY", Shadow: known, Real: shadow.NewSecret("0123456789")},
			{Name: "go:art.test", Shadow: "ftl_shadow_art_0123456789abcdef", Real: shadow.NewSecret("9876543210"), Binding: shadow.Binding{Hosts: []string{"art.test"}, Paths: []string{"/known"}}},
		},
	})
	w.host("docs.test", echoHead)
	w.name("intranet.test", "10.0.0.1")
	w.name("meta.test", "169.254.169.254")
	w.p.state.Load().rules = append(w.p.state.Load().rules, Rule{Host: "intranet.test"}, Rule{Host: "meta.test"})
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	for i, test := range []struct {
		name, url string
		header    []string
		hint      string
	}{
		{"not allowed", "https://evil.test/", nil, "git ftl allow evil.test"},
		{"a private address", "https://intranet.test/", nil, "git ftl allow intranet.test:443"},
		{"this machine", "https://localhost/", nil, "git ftl allow localhost:443"},
		{"this machine by its address", "http://127.0.0.1/", nil, "git ftl allow 127.0.0.1:80"},
		{"a private address by itself", "http://10.0.0.5/", nil, "git ftl allow 10.0.0.5:80"},
		{"an address that none may reach", "http://169.254.169.254/", nil, ""},
		{"a name of such an address", "https://meta.test/", nil, ""},
		{"bound, without the credential", "https://api.model.test/", nil, ""},
		{"a path of a registry of modules", "https://go.test/other", nil, "git ftl allow go.test"},
		{"a path of one with a credential", "https://art.test/other", []string{"Authorization", "Bearer ftl_shadow_art_0123456789abcdef"}, "git ftl allow art.test"},
		{"a foreign credential there", "https://art.test/other", []string{"Authorization", "Bearer mine"}, ""},
		{"an unbound shadow", "https://evil.test/", []string{"Authorization", "Bearer " + otherShad}, "git ftl auth bind TOKEN --host evil.test"},
		{"without a scheme", "https://evil.test/", []string{"Authorization", otherShad}, "git ftl auth bind TOKEN --host evil.test"},
		{"as a user", "https://evil.test/", []string{"Authorization", basic(otherShad, "")}, "git ftl auth bind TOKEN --host evil.test"},
		{"as a password", "https://evil.test/", []string{"Authorization", basic("me", otherShad)}, "git ftl auth bind TOKEN --host evil.test"},
		{"in a header", "https://evil.test/", []string{"X-Token", otherShad}, "git ftl auth bind TOKEN --host evil.test --in header:x-token"},
		{"in the header of a known name", "https://evil.test/", []string{"Dd-Api-Key", known}, "git ftl auth bind DD_API_KEY --host evil.test"},
		{"a known name elsewhere", "https://evil.test/", []string{"Authorization", "Bearer " + known}, "git ftl auth bind DD_API_KEY --host evil.test --in auth"},
		{"in the query", "https://evil.test/?a=1&key=" + otherShad, nil, "git ftl auth bind TOKEN --host evil.test --in query:key"},
		{"a name that a shell would read", "https://evil.test/?%24(reboot)=" + otherShad, nil, "git ftl allow evil.test"},
		{"a header that a shell would read", "https://evil.test/", []string{"X`reboot`", otherShad}, "git ftl allow evil.test"},
		{"in a longer text", "https://evil.test/", []string{"Authorization", "Bearer x" + otherShad}, "git ftl allow evil.test"},
		{"over plain http", "http://evil.test/", []string{"Authorization", "Bearer " + otherShad}, "git ftl allow evil.test"},
		{"the shadow of a bound one", "https://evil.test/", []string{"X-Api-Key", shadowKey}, "git ftl allow evil.test"},
		{"an unbound shadow where it passes", "https://docs.test/", []string{"Authorization", "Bearer " + otherShad}, "git ftl auth bind TOKEN --host docs.test"},
	} {
		t.Run(test.name, func(t *testing.T) {
			do(t, w.client("http/1.1"), request(t, "GET", test.url, "", test.header...))
			if got := w.last(i + 1); got.Hint != test.hint {
				t.Errorf("%q, want %q, of %+v", got.Hint, test.hint, got)
			}
		})
	}
}
