package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestClean: nothing that a sandbox prints can steer the terminal.
func TestClean(t *testing.T) {
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
			if got := clean(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := clean(s)
		if strings.ContainsFunc(out, unsafe) {
			t.Errorf("%q became %q", s, out)
		}
		if clean(out) != out {
			t.Errorf("%q is not stable", out)
		}
	})
}

func TestAgentLines(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   []string
		want string
	}{
		{"lines over writes", []string{"on", "e\ntw", "o\n"}, "  one\n  two\n"},
		{"no last newline", []string{"end"}, "  end\n"},
		{"carriage return", []string{"a\r\n10%\r99%\n"}, "  a\n  99%\n"},
		{"control characters", []string{"\x1b[2Jx\n"}, "  \\x1b[2Jx\n"},
		{"empty line", []string{"\n"}, "  \n"},
		{"endless line", []string{strings.Repeat("x", maxLine+1)}, "  " + strings.Repeat("x", maxLine) + "\n  x\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			u := newUI(&app{stdout: &out, stderr: &out})
			w, _ := u.Agent()
			for _, s := range tc.in {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatal(n, err)
				}
			}
			u.flush()
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestColourIsOursAlone: what is shown cannot bring colours or imitate ours.
func TestColourIsOursAlone(t *testing.T) {
	var out bytes.Buffer
	u := newUI(&app{stdout: &out, stderr: &out})
	u.colour = true
	u.Stage("agent", "\x1b[2mx\x00"+"0m\x1b[0m", time.Second)
	want := "\x1b[1magent    \x1b[0m \\x1b[2mx\\x000m\\x1b[0m  \x1b[2m1.0s\x1b[0m\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestQuoteArgs(t *testing.T) {
	got := quoteArgs([]string{"sh", "-c", "it's", "", "a=b/c", "$x"})
	if want := `sh -c 'it'\''s' '' a=b/c '$x'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		12 * time.Millisecond: "0.01s", 1200 * time.Millisecond: "1.2s", 108*time.Second + 400*time.Millisecond: "1m48s",
	} {
		if got := took(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
