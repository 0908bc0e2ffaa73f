package shadow

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func allRows() []known {
	return slices.Concat(modelRows(), moreModelRows(), codeRows(), cloudRows(), serviceRows())
}

// TestKnownRows checks the shape of every row of the table.
func TestKnownRows(t *testing.T) {
	host := regexp.MustCompile(`^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$`)
	place := regexp.MustCompile(`^(auth|header:[a-z0-9-]+|(query|form|json):[A-Za-z0-9_-]+)$`)
	path := regexp.MustCompile(`^(/[A-Za-z0-9._-]+)+$`)
	variable := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	seen := map[string]bool{}
	for _, r := range allRows() {
		t.Run(r.provider+" "+r.names[0], func(t *testing.T) {
			for _, n := range r.names {
				if seen[n] || !variable.MatchString(n) || !secretName(n) {
					t.Errorf("name %q: given twice, or no name of a secret", n)
				}
				seen[n] = true
				if b, active, ok := Known(n); !ok || active != r.active || len(b.Hosts) != len(r.binding.Hosts) {
					t.Errorf("Known(%q) does not find the row", n)
				}
			}
			check := func(what string, all []string, ok func(string) bool) {
				for _, s := range all {
					if !ok(s) {
						t.Errorf("%s %q", what, s)
					}
				}
			}
			check("host", r.binding.Hosts, host.MatchString)
			check("place", r.binding.Places, place.MatchString)
			check("path", r.binding.Paths, path.MatchString)
			check("method", r.binding.Methods, func(s string) bool { return slices.Contains(methods, s) })
			if len(r.binding.Places) == 0 || !slices.Contains([]Kind{"", Replace, Basic, SigV4}, r.binding.Kind) {
				t.Error("a place or the kind is missing")
			}
			if r.active {
				checkActive(t, r.binding)
			}
		})
	}
	if _, _, ok := Known("MY_OWN_TOKEN"); ok {
		t.Error("a name of nobody is known")
	}
}

// checkActive: what is swapped without being asked can run a model, but keep no
// file and change nothing, on hosts that are one by one.
func checkActive(t *testing.T, b Binding) {
	t.Helper()
	if len(b.Hosts) == 0 || len(b.Paths) == 0 || len(b.Methods) == 0 {
		t.Error("an active row is open in hosts, paths or methods")
	}
	for _, m := range b.Methods {
		if m == "PUT" || m == "PATCH" || m == "DELETE" {
			t.Errorf("an active row may %s", m)
		}
	}
	for _, h := range b.Hosts {
		if strings.HasPrefix(h, "*") {
			t.Errorf("an active row has the hosts %s", h)
		}
	}
	for _, p := range b.Paths {
		for _, word := range []string{"file", "upload", "batch", "cache", "assistant", "thread", "store", "admin", "organization", "fine"} {
			if strings.Contains(p, word) {
				t.Errorf("an active row has the path %s", p)
			}
		}
	}
}

// TestKnownHostsAreOfOneProvider: no host takes keys of two.
func TestKnownHostsAreOfOneProvider(t *testing.T) {
	rows := allRows()
	for i, a := range rows {
		for _, b := range rows[i+1:] {
			for _, x := range a.binding.Hosts {
				for _, y := range b.binding.Hosts {
					if a.provider != b.provider && (covers(x, y) || covers(y, x)) {
						t.Errorf("%s of %s and %s of %s overlap", x, a.provider, y, b.provider)
					}
				}
			}
		}
	}
	if !covers("*.a.com", "x.a.com") || covers("*.a.com", "xa.com") {
		t.Fatal("the comparison of hosts is wrong")
	}
}

// covers reports whether a host, or everything below it, is one of a pattern.
func covers(pattern, host string) bool {
	if below, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(host, below)
	}
	return pattern == host
}
