package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// TestAllowRule: what is taken is what a proxy takes, since one entry that it does
// not take would end every task.
func TestAllowRule(t *testing.T) {
	for _, test := range []struct {
		text, errorText string
		want            proxy.Rule
	}{
		{"Example.COM.", "", proxy.Rule{Host: "example.com"}},
		{"*.example.com:8443", "", proxy.Rule{Host: "*.example.com", Port: 8443, Private: true}},
		{"bücher.example", "", proxy.Rule{Host: "xn--bcher-kva.example"}},
		{"my_db:5432", "", proxy.Rule{Host: "my_db", Port: 5432, Private: true}},
		{"localhost:05432", "", proxy.Rule{Host: "localhost", Port: 5432, Private: true}},
		{"localhost.:5432", "", proxy.Rule{Host: "localhost", Port: 5432, Private: true}},
		{"127.0.0.1:5432", "", proxy.Rule{Host: "localhost", Port: 5432, Private: true}},
		{"[::1]:5432", "", proxy.Rule{Host: "localhost", Port: 5432, Private: true}},
		{"2001:DB8::1", "", proxy.Rule{Host: "2001:db8::1"}},
		{"127.0.0.1", "name one service of this machine, such as localhost:5432", proxy.Rule{}},
		{"localhost", "name one service of this machine, such as localhost:5432", proxy.Rule{}},
		{"x..com", "it is no host name", proxy.Rule{}},
		{"2130706433", "it is no host name", proxy.Rule{}},
		{"0x7f.1:80", "it is no host name", proxy.Rule{}},
		{"a.*.com", "it is no host name", proxy.Rule{}},
		{"example.com:0", `"0" is no port`, proxy.Rule{}},
		{"example.com/", "give a host, such as example.com or example.com:8443", proxy.Rule{}},
	} {
		t.Run(test.text, func(t *testing.T) {
			a, err := ParseAllowed(test.text)
			if err != nil {
				if err.Error() != test.errorText {
					t.Error(err)
				}
				return
			}
			got, err := a.rule()
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil || test.errorText != "" {
				t.Error(diff, err)
			}
			if _, err := proxy.New(proxy.Config{Authority: newTestAuthority(t), Policy: proxy.Policy{Rules: []proxy.Rule{got}}}); err != nil {
				t.Error(err)
			}
		})
	}
}

func newTestAuthority(t *testing.T) *proxy.Authority {
	t.Helper()
	a, err := proxy.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	return a
}
