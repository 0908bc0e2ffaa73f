package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeld(t *testing.T) {
	for _, test := range []struct {
		name, text, matches, want string // apart by spaces
	}{
		{"one", "x=token;", "token", "token"},
		{"at both ends", "begin middle the-end", "begin the-end other", "begin the-end"},
		{"all of the text", "token", "token", "token"},
		{"twice", "token token", "token token", "token token"},
		{"one end of two", "first-end", "first-end other-end", "first-end"},
		{"one in another", "a-long-token", "a-long-token long-token", "a-long-token long-token"},
		{"longer than the text", "token", "a-token", ""},
		{"too short", "abc", "abc", ""},
		{"none", "text", "", ""},
		{"no text", "", "token", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var matches [][]byte
			for _, m := range strings.Fields(test.matches) {
				matches = append(matches, []byte(m))
			}
			got := []string{}
			for i, ok := range held([]byte(test.text), matches) {
				if ok {
					got = append(got, string(matches[i]))
				}
			}
			if diff := cmp.Diff(strings.Fields(test.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
