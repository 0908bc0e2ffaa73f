package review

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		query      query
		want       [][2]int
	}{
		{"none", "abc", "", nil},
		{"not there", "abc", "bd", nil},
		{"longer than the text", "ab", "abc", nil},
		{"several", "aXbx", "x", [][2]int{{1, 2}, {3, 4}}},
		{"none within another", "aaa", "aa", [][2]int{{0, 2}}},
		{"at the end", "b Bab", "ab", [][2]int{{3, 5}}},
		{"after a false begin", "abaABAC", "abac", [][2]int{{3, 7}}},
		{"capitals count where there are some", "err Err", "Err", [][2]int{{4, 7}}},
		{"punctuation has no case", "a{b{", "[b{", nil},
		{"punctuation", "A[b[B[", "[b[", [][2]int{{1, 4}}},
		{"other letters", "ÄÖä", "ä", [][2]int{{0, 2}, {4, 6}}},
		{"a letter that changes its length", "İ straße", "straße", [][2]int{{3, 10}}},
		{"no UTF-8", "\xffA\xff", "a", [][2]int{{1, 2}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, tc.query.hits(tc.text)); d != "" || tc.query.in(tc.text) != (len(tc.want) > 0) {
				t.Error(d)
			}
		})
	}
}

// FuzzHits: ASCII is found where it is in the lower case of the text.
func FuzzHits(f *testing.F) {
	f.Add("Some Text", "te")
	f.Add("aAaA", "aa")
	f.Fuzz(func(t *testing.T, text, q string) {
		ascii := func(s string) bool {
			return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
		}
		if q == "" || !ascii(text+q) || q != strings.ToLower(q) {
			return
		}
		if got, want := query(q).index(text), strings.Index(strings.ToLower(text), q); got != want {
			t.Errorf("%q in %q: %d, want %d", q, text, got, want)
		}
	})
}
