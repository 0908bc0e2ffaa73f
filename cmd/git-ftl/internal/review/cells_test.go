package review

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review/syntax"
)

func TestFit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text  string
		from, width int
		want        string
	}{
		{"short", "ab", 0, 4, "ab  "},
		{"long", "abcdef", 0, 4, "abcd"},
		{"moved", "abcdef", 2, 3, "cde"},
		{"a tab goes to its stop", "a\tb", 0, 12, "a       b   "},
		{"half a tab", "a\tb", 4, 6, "    b "},
		{"wide", "日本語", 0, 6, "日本語"},
		{"wide with a mark", "日\u0301本", 0, 6, "日\u0301本  "},
		{"half a wide character at the end", "日本語", 0, 5, "日本 "},
		{"half a wide character at the begin", "日本語", 1, 5, " 本語"},
		{"a control character", "a\x1b[0m", 0, 8, `a\x1b[0m`},
		{"half an escape", "a\x1bb", 0, 3, `a\x`},
		{"half an escape at the begin", "a\x1bb", 3, 4, `1bb `},
		{"other direction", "a\u202eb", 0, 10, `a\u202eb  `},
		{"no UTF-8", "a\xffb", 0, 8, `a\xffb  `},
		{"a mark on a letter", "e\u0301x", 0, 3, "e\u0301x "},
		{"a mark on nothing", "\u0301x", 0, 8, `\u0301x `},
		{"marks without end", "e" + strings.Repeat("\u0301", 40) + "x", 0, 8, `\u0065\u`},
		{"nothing", "", 0, 2, "  "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := (window{ansi.WcWidth, tc.from, tc.width}).fit(tc.text); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestLooks: spans and hits are of bytes, whatever is shown for them.
func TestLooks(t *testing.T) {
	t.Parallel()
	spans := []syntax.Span{{Len: 2, Class: syntax.Keyword}, {Len: 3, Class: syntax.String}}
	got, used := window{ansi.WcWidth, 0, 40}.show("a\x1b日bc", spans, [][2]int{{5, 6}})
	want := []run{{`a\x1b`, look{class: syntax.Keyword}}, {"日", look{class: syntax.String}}, {"b", look{hit: true}}, {"c", look{}}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(run{}, look{})); d != "" || used != 9 {
		t.Errorf("%d columns: %s", used, d)
	}
}

// FuzzFit: whatever the text, it fills its columns and nothing in it steers the
// terminal.
func FuzzFit(f *testing.F) {
	for _, seed := range []string{"a\tb", "日本\u0301", "\x1b[31m\u202e\xff", "e\u0301\u0301", "👍🏽👨‍👩‍👧", "\u1100\u1161\u11a8", "🇦🇧🇨"} {
		f.Add(seed, 1, 7)
	}
	f.Fuzz(func(t *testing.T, text string, from, width int) {
		from, width = from&0xff, width&0xff
		for _, method := range []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth} {
			got := window{method, from, width}.fit(text)
			if strings.ContainsFunc(got, func(r rune) bool { return r == '\t' || escape.Unsafe(r) }) {
				t.Errorf("%q became %q", text, got)
			}
			if w := columns(got, method); w != width {
				t.Errorf("%q is %d wide, not %d: %q", text, w, width, got)
			}
		}
	})
}

// columns adds up what a terminal does, one place after the other.
func columns(s string, method ansi.Method) (n int) {
	for s != "" {
		cluster, width := ansi.FirstGraphemeCluster(s, method)
		n += width
		s = s[len(cluster):]
	}
	return n
}
