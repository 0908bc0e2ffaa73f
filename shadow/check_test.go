package shadow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormal(t *testing.T) {
	host := func(h string) Binding { return Binding{Hosts: []string{h}} }
	for _, test := range []struct {
		name string
		give Binding
		want Binding // zero: refused
	}{
		{"all parts", Binding{Hosts: []string{"API.Example.com.:443"}, Places: []string{"auth", "header:X-Api-Key", "query:Key"}, Methods: []string{"get"}, Paths: []string{"/v1/"}, Kind: Basic},
			Binding{Hosts: []string{"api.example.com"}, Places: []string{"auth", "header:x-api-key", "query:Key"}, Methods: []string{"GET"}, Paths: []string{"/v1"}, Kind: Basic}},
		{"below", host("*.example.com"), host("*.example.com")},
		{"port", host("example.com:8443"), host("example.com:8443")},
		{"one label", host("localhost:8080"), host("localhost:8080")},
		{"underscore", host("my_db.example.com"), host("my_db.example.com")},
		{"IPv6", host("[::1]:8080"), host("[::1]:8080")},
		{"every path", Binding{Hosts: []string{"a.b"}, Paths: []string{"/v1", "/"}}, host("a.b")},
		{"no host", Binding{Places: []string{"auth"}}, Binding{}},
		{"scheme", host("https://example.com"), Binding{}},
		{"path in the host", host("example.com/v1"), Binding{}},
		{"every host", host("*"), Binding{}},
		{"every host of a domain", host("*.com"), Binding{}},
		{"star within", host("a*.example.com"), Binding{}},
		{"user", host("u@example.com"), Binding{}},
		{"line end", host("example.com\n"), Binding{}},
		{"letters of others", host("exämple.com"), Binding{}},
		{"place", Binding{Hosts: []string{"a.b"}, Places: []string{"body"}}, Binding{}},
		{"header with a line end", Binding{Hosts: []string{"a.b"}, Places: []string{"header:a\r\nb"}}, Binding{}},
		{"method", Binding{Hosts: []string{"a.b"}, Methods: []string{"GET POST"}}, Binding{}},
		{"path without slash", Binding{Hosts: []string{"a.b"}, Paths: []string{"v1"}}, Binding{}},
		{"path that climbs", Binding{Hosts: []string{"a.b"}, Paths: []string{"/v1/../v2"}}, Binding{}},
		{"kind", Binding{Hosts: []string{"a.b"}, Kind: "magic"}, Binding{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.give.Normal()
			if refused := len(test.want.Hosts) == 0; refused != (err != nil) {
				t.Fatalf("%+v, %v", got, err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
