package shadow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Shapes of the parts of a binding.
var (
	bindHost   = lazyregexp.New(`^(\*\.([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)+[a-z][a-z0-9_-]*|([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$`)
	bindPlace  = lazyregexp.New(`^(auth|header:[A-Za-z0-9!#$%&'*+.^_|~-]+|(query|form|json):[^\x00-\x20]+)$`)
	bindMethod = lazyregexp.New(`^[A-Z]{1,20}$`)
	bindPath   = lazyregexp.New(`^/[^\x00-\x20?#]*$`)
)

// Normal is the binding in the form that a proxy compares: hosts, header names
// and methods in one case, no dot behind a host, no port that every host has, no
// slash at the end of a path. An error names the part that is none.
func (b Binding) Normal() (Binding, error) {
	if len(b.Hosts) == 0 {
		return b, errors.New("a binding needs a host")
	}
	if !slices.Contains([]Kind{"", Replace, Basic, SigV4}, b.Kind) {
		return b, fmt.Errorf("kind %q: a kind is replace, basic or sigv4", b.Kind)
	}
	out := Binding{Kind: b.Kind}
	for _, part := range []struct {
		what string
		from []string
		to   *[]string
		one  func(string) string
		ok   func(string) bool
	}{
		{"a host is a name such as api.example.com, *.example.com or api.example.com:8443", b.Hosts, &out.Hosts, normalHost, bindHost.MatchString},
		{"a place is auth, header:NAME, query:NAME, form:NAME or json:NAME", b.Places, &out.Places, normalPlace, bindPlace.MatchString},
		{"a method is a word such as GET", b.Methods, &out.Methods, strings.ToUpper, bindMethod.MatchString},
		{"a path begins with /, has no query and no ..", b.Paths, &out.Paths, normalPath, isPath},
	} {
		for _, s := range part.from {
			one := part.one(s)
			if !part.ok(one) {
				return b, fmt.Errorf("%q: %s", s, part.what)
			}
			*part.to = append(*part.to, one)
		}
	}
	if slices.Contains(out.Paths, "/") {
		out.Paths = nil // every path
	}
	return out, nil
}

func normalHost(h string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(h), ":443"), ".")
}

func normalPlace(p string) string {
	if kind, name, ok := strings.Cut(p, ":"); ok && strings.EqualFold(kind, "header") {
		return strings.ToLower(kind + ":" + name)
	}
	return p
}

func normalPath(p string) string {
	if short := strings.TrimRight(p, "/"); short != "" {
		return short
	}
	return p
}

func isPath(p string) bool {
	return bindPath.MatchString(p) && !slices.Contains(strings.Split(p, "/"), "..")
}
