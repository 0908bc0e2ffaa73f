package escape

import (
	"strings"
	"testing"
)

// TestText: nothing that a sandbox prints can steer the terminal.
func TestText(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "plain ünïcode\ttab", "plain ünïcode\ttab"},
		{"title", "\x1b]0;x\a", `\x1b]0;x\x07`},
		{"newline in a path", "a\nb", `a\x0ab`},
		{"C1 control", "a\u009bb", `a\u009bb`},
		{"right to left", "a\u202eb", `a\u202eb`},
		{"isolate", "\u2066x", `\u2066x`},
		{"zero width", "a\u200bb", `a\u200bb`},
		{"tag character", "a\U000e0041b", `a\U000e0041b`},
		{"no UTF-8", "a\xffb", `a\xffb`},
		{"replacement character", "a\ufffdb", "a\ufffdb"},
		{"delete", "a\x7f", `a\x7f`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Text(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[31mb\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := Text(s)
		if strings.ContainsFunc(out, Unsafe) {
			t.Errorf("%q became %q", s, out)
		}
		if Text(out) != out {
			t.Errorf("%q is not stable", out)
		}
	})
}
