package session

import (
	"testing"

	"github.com/git-ftl/git-ftl/shadow"
)

// TestScrub: should a real value ever come out of a sandbox, what is shown and kept
// of it is the shadow.
func TestScrub(t *testing.T) {
	s := secrets{telling: []shadow.Credential{
		{Name: "KEY", Real: shadow.NewSecret("real-value-0123"), Shadow: "ftl_shadow_key_0"},
	}}
	for in, want := range map[string]string{
		"nothing":                        "nothing",
		"a real-value-0123, b":           "a ftl_shadow_key_0, b",
		"real-value-0123real-value-0123": "ftl_shadow_key_0ftl_shadow_key_0",
	} {
		if got := s.scrub(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
