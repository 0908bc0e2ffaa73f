package surface

import (
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

func TestCharacters(t *testing.T) {
	const (
		block = "text/bidi block 1"
		joins = "text/joiner warn 1"
	)
	one := func(path, text, want string) test {
		tt := test{path + " " + text, added(path, text+"\n"), nil}
		if want != "" {
			tt.want = []string{want}
		}
		return tt
	}
	run(t, []test{
		one("a.go", "x := \"\u202e\u2066// admin\u2069\u2066\"", block), // Trojan Source: early return
		one("a.py", "if x != \"user\u202e \u2066# check\u2069 \u2066\":", block),
		one("a.js", "function is\u200bAdmin() {}", block),
		one("a.c", "\u2067/* x */\u2069", block),
		one("a.js", "const \u3164 = 1", block), // the invisible backdoor
		one("a.js", "let \uffa0 = \u115f\u1160", block),
		one("a.js", "x = `\ufe00\ufe01\ufe0f\U000e0100\U000e0101`", block), // bytes in selectors
		one("a.md", "text\U000e0041\U000e0042", block),                     // tags
		one("AGENTS.txt", "be nice\U000e0001\U000e0020", block),
		one("a.go", "a\u00adb", block),
		one("a.md", "a\u00adb", joins),
		one("a.go", "x\ufeff", block),
		one("a.go", "\ufeffpackage x", ""),
		one("a.go", "x\u2028y", block),
		one("a.go", "// می\u200cخواهم", joins),
		one("a.md", "می\u200cخواهم", joins),
		one("locale/fa.json", `{"a": "می`+"\u200c"+`خواهم"}`, joins),
		one("a.po", "msgstr \"שלום\u200f\"", joins),
		one("a.po", "msgstr \"hello\u200f\"", block),
		one("a.md", "می\u202eخواهم", block),
		one("a.md", "क्\u200dष", joins),
		one("a.md", "a\u200db", block),
		one("a.go", `"👩`+"\u200d"+`👩`+"\u200d"+`👧"`, ""),
		one("a.go", `"🏳`+"\ufe0f\u200d"+`🌈"`, ""),
		one("a.go", `"👩🏽`+"\u200d"+`🚀"`, ""),
		one("a.go", `"❤`+"\ufe0f"+` 1`+"\ufe0f\u20e3"+` ©`+"\ufe0f"+`"`, ""),
		one("a.go", `"❤`+"\ufe0f\ufe0f"+`"`, block),
		one("a.go", "\"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\"", ""), // the flag of England
		one("a.go", "\"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e0067\U000e0067\U000e0067\"", block),
		one("a.go", "葛\U000e0100城", ""),
		one("a.go", "a\U000e0100", block),
		one("a.go", "// naïve, 日本語, Привет, שלום", ""),
		one("a.sh", "echo \x1b[31m", "text/escape warn 1"),
		one("a.sh", "echo \u009b31m", "text/escape warn 1"),
		one("a.sh", "rm x\rls", "text/control warn 1"),
		one("a.sh", "a\bb", "text/control warn 1"),
		one("a.sh", "a\tb\fc", ""),
		one("a.sh", "a\r", ""),
		one("a.js", "if (usеr) {}", "text/lookalike warn 1"), // Cyrillic е
		one("a.py", "𝐞𝐱𝐞𝐜(x)", "text/lookalike warn 1"),
		one("a.py", "ｅval(x)", "text/lookalike warn 1"),
		one("a.py", "# Git и слово, Δt, σ2", ""),
		one("a.md", "usеr", ""),
		{"latin 1", added("a.c", "caf\xe9 \xa0\n"), nil},
		{"UTF-16", added("a.go", "\xff\xfea\x00\x2e\x20b\x00\n\x00"), []string{block}},
		{"old line", changed("a.go", "a\u202eb\n", "a\u202eb\nc\n"), nil},
		{"second line", changed("a.go", "a\n", "a\nb\u202e\n"), []string{"text/bidi block 2"}},
	})
}

func TestLongLine(t *testing.T) {
	long := string(make([]byte, 0, 5000))
	for range 4097 {
		long += "x"
	}
	run(t, []test{
		{"new", added("a.js", "x\n"+long+"\n"), []string{"text/long-line warn 2"}},
		{"old", changed("a.js", long+"\n", long+"\nx\n"), nil},
		{"at the bound", added("a.js", long[1:]+"\n"), nil},
	})
}

// TestEachLineIsItsOwn: a waiver of one line does not cover the next.
func TestEachLineIsItsOwn(t *testing.T) {
	d := added("a.go", "a\u202e1\nb\u202e2\n")
	hits := Hits(d, Context{})
	if len(hits) != 2 || hits[0].Severity != doc.Block || d.Line(hits[1].Start) != 2 {
		t.Errorf("%+v", hits)
	}
}
