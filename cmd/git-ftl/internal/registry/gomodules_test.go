package registry

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-ftl/git-ftl/shadow"
)

func TestGoModules(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		want       []string
	}{
		{"nothing", "module x\n\ngo 1.26\n", nil},
		{"one line", "require example.com/a v1.0.0\n", []string{"example.com/a"}},
		{"block", "require (\n\texample.com/a v1.0.0\n\tgithub.com/B/c v0.1.0 // indirect\n)\n", []string{"example.com/a", "github.com/B/c"}},
		{"replacement", "replace example.com/a => example.com/fork v1.2.3\n", []string{"example.com/fork"}},
		{"replacement of a version", "replace example.com/a v1.0.0 => ../local\n", []string{"example.com/a"}},
		{"sum", "example.com/a v1.0.0 h1:x=\nexample.com/a v1.0.0/go.mod h1:y=\n", []string{"example.com/a"}},
		{"comment", "// example.com/evil v1.0.0\n", nil},
		{"no path", "../x v1.0.0\nhttps://evil.example/x v1.0.0\na//b v1\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, GoModules([]byte(tc.file))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestForModules: go's registries serve the modules that the base names, and so
// do the credentials that are theirs alone.
func TestForModules(t *testing.T) {
	rs := Registries{
		Hosts: []Host{{Tool: "go", Host: "proxy.test", Port: 443}, {Tool: "go", Host: "art.test", Port: 443, PathPrefix: "/go"}, {Tool: "npm", Host: "art.test", Port: 443, PathPrefix: "/npm"}, {Tool: "go", Host: "whole.test", Port: 443}},
		Credentials: []shadow.Credential{
			{Name: "go:whole.test", Binding: shadow.Binding{Hosts: []string{"whole.test"}}},
			{Name: "go:art.test/go", Binding: shadow.Binding{Hosts: []string{"art.test"}, Paths: []string{"/go"}}},
			{Name: "npm:art.test/npm", Binding: shadow.Binding{Hosts: []string{"art.test"}, Paths: []string{"/npm"}}},
		},
	}
	got := rs.ForModules([]string{"github.com/B/c"}, func(h Host) bool { return h.Host == "whole.test" })
	want := Registries{
		Hosts: []Host{
			{Tool: "go", Host: "proxy.test", Port: 443, PathPrefix: "/github.com/!b/c", Narrowed: true}, {Tool: "go", Host: "proxy.test", Port: 443, PathPrefix: "/golang.org/toolchain", Narrowed: true},
			{Tool: "go", Host: "art.test", Port: 443, PathPrefix: "/go/github.com/!b/c", Narrowed: true}, {Tool: "go", Host: "art.test", Port: 443, PathPrefix: "/go/golang.org/toolchain", Narrowed: true},
			{Tool: "npm", Host: "art.test", Port: 443, PathPrefix: "/npm"}, {Tool: "go", Host: "whole.test", Port: 443},
		},
		Credentials: []shadow.Credential{
			{Name: "go:whole.test", Binding: shadow.Binding{Hosts: []string{"whole.test"}}},
			{Name: "go:art.test/go", Binding: shadow.Binding{Hosts: []string{"art.test"}, Paths: []string{"/go/github.com/!b/c", "/go/golang.org/toolchain"}}},
			{Name: "npm:art.test/npm", Binding: shadow.Binding{Hosts: []string{"art.test"}, Paths: []string{"/npm"}}},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(shadow.Credential{}, "Real")); diff != "" {
		t.Error(diff)
	}
	if len(rs.Hosts) != 4 || len(rs.Credentials[1].Binding.Paths) != 1 {
		t.Error("the original was changed")
	}
}

// FuzzGoModules: whatever a repository's files say, what comes out is the path of
// a module and no way around one.
func FuzzGoModules(f *testing.F) {
	f.Add([]byte("require example.com/a v1.0.0\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, m := range GoModules(file) {
			if !modulePath.MatchString(m) || slices.ContainsFunc(strings.Split(m, "/"), func(part string) bool { return part == "." || part == ".." }) {
				t.Errorf("%q is no module", m)
			}
		}
	})
}
