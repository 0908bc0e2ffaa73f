package syntax

import (
	"context"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	t.Parallel()
	var h Highlighter
	for _, tc := range []struct {
		name, path, text string
		want             [][]Span
	}{
		{"Go", "a/b.go", "func F() int {\n\treturn 1 // one\n}", [][]Span{
			{{4, Keyword}, {1, Plain}, {1, Function}, {3, Plain}, {3, Type}, {2, Plain}},
			{{1, Plain}, {6, Keyword}, {1, Plain}, {1, Number}, {1, Plain}, {6, Comment}},
			{{1, Plain}},
		}},
		{"a string over lines", "a.go", "`one\n\ntwo` + x", [][]Span{{{4, String}}, nil, {{4, String}, {4, Plain}}}},
		{"bytes, not characters", "a.py", "x = 'é'", [][]Span{{{4, Plain}, {4, String}}}},
		{"a carriage return", "a.json", "{\r\n\"a\": 1\r", [][]Span{{{2, Plain}}, {{3, Tag}, {2, Plain}, {1, Number}, {1, Plain}}}},
		{"by name", "sub/Makefile", "# x", [][]Span{{{3, Comment}}}},
		{"unknown", "a.unknown", "func", nil},
		{"no UTF-8", "a.go", "// \xff", nil},
		{"a long line", "a.go", "// " + strings.Repeat("x", maxLine), nil},
		{"too much", "a.go", strings.Repeat("//\n", maxText/3+1), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := h.Lines(t.Context(), tc.path, strings.Split(tc.text, "\n"))
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestEachLanguage: every one can be read, finds those that it uses, and gives
// back the bytes that it was given.
func TestEachLanguage(t *testing.T) {
	t.Parallel()
	var h Highlighter
	h.once.Do(h.load)
	names, err := fs.Glob(lexers, "lexers/*.xml")
	if err != nil || len(names) != len(h.registry.Lexers) {
		t.Fatalf("%d languages of %d can be read, %v", len(h.registry.Lexers), len(names), err)
	}
	uses := regexp.MustCompile(`<using lexer="([^"]*)"`)
	for _, name := range names {
		data, err := lexers.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uses.FindAllSubmatch(data, -1) {
			if h.registry.Get(string(m[1])) == nil {
				t.Errorf("%s uses %s, which is not there", name, m[1])
			}
		}
	}
	text := strings.Split("# a\n// b\n/* c */ <d e=\"f\">'g'</d>\n```json\n{\"h\": [1, 2.5]}\n```\n--- i: j; k(l) { return 'm' }\n", "\n")
	for _, lexer := range h.registry.Lexers {
		name := example(lexer.Config().Filenames)
		got := h.Lines(t.Context(), name, text)
		if name != "none" && got == nil {
			t.Errorf("%s is not known by %s", lexer.Config().Name, name)
		}
		for i, spans := range got {
			n := 0
			for _, s := range spans {
				n += s.Len
			}
			if n != len(text[i]) {
				t.Errorf("%s: %d bytes of %q", lexer.Config().Name, n, text[i])
			}
		}
	}
}

// example is a file name that fits a pattern.
func example(patterns []string) string {
	if len(patterns) == 0 {
		return "none"
	}
	return strings.NewReplacer("*", "x", "[ac]", "a").Replace(patterns[0])
}

// TestTimeIsBounded: what is done by the end of the context is given, at once.
func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	var h Highlighter
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	got := h.Lines(ctx, "a.go", []string{"func", "func"})
	if d := cmp.Diff([][]Span{nil, nil}, got); d != "" {
		t.Error(d)
	}
}

func BenchmarkLines(b *testing.B) {
	var h Highlighter
	line := `	if err := os.WriteFile(path, []byte("text"), 0o644); err != nil { // a comment`
	lines := strings.Split(strings.TrimSuffix(strings.Repeat(line+"\n", 1000), "\n"), "\n")
	h.Lines(b.Context(), "a.go", lines)
	b.SetBytes(int64(len(line) * len(lines)))
	for b.Loop() {
		h.Lines(b.Context(), "a.go", lines)
	}
}
