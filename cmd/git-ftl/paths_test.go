package main

import (
	"slices"
	"testing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// TestRepoPaths: paths count from where the user stands, and stay in the work tree.
func TestRepoPaths(t *testing.T) {
	for _, tc := range []struct {
		name, prefix, path, want string // want is "" where it is refused
	}{
		{"at the top", "", "a/b", "a/b"},
		{"below", "sub", "b", "sub/b"},
		{"up and down", "sub/deep", "../b", "sub/b"},
		{"the folder itself", "sub", ".", "sub"},
		{"all", "", ".", "."},
		{"up to the top", "sub", "..", "."},
		{"out", "sub", "../..", ""},
		{"out and elsewhere", "", "../x", ""},
		{"a name that begins with dots", "", "..x/y", "..x/y"},
		{"absolute", "sub", "/etc/passwd", ""},
		{"absolute and inside", "sub", "/w/a/b", "a/b"},
		{"empty", "", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := &app{paths: []string{tc.path}}
			got, err := a.repoPaths(&git.Repo{Dir: "/w", Prefix: tc.prefix})
			if (err != nil) != (tc.want == "") || err == nil && !slices.Equal(got, []string{tc.want}) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
