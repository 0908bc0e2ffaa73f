package credential_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/credential"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// pat is a valid personal access token of GitHub.
func pat(t testing.TB) string {
	t.Helper()
	rows := credential.Rows()
	i := slices.IndexFunc(rows, func(r credential.Row) bool { return r.Name == "github-pat" })
	return corpus.Token(rand.New(rand.NewPCG(7, 7)), rows[i])
}

func TestSplitTokensAreFound(t *testing.T) {
	token := pat(t)
	a, b, c := token[:4], token[4:20], token[20:]
	for _, test := range []struct{ name, path, text string }{
		{"plus", "a.go", `x := "` + a + `" + "` + b + `" + "` + c + `"`},
		{"plus over lines", "a.go", "x := \"" + a + "\" +\n\t\t\"" + b + "\" +\n\t\t\"" + c + "\"\n"},
		{"plus with a remark", "a.go", "x := \"" + a + "\" + // one\n\t\"" + b + "\" + /* two */ \"" + c + "\"\n"},
		{"mixed quotes", "a.js", `x = "` + a + `" + '` + b + "' + `" + c + "`"},
		{"dot", "a.php", "$x = '" + a + "'.'" + b + "' . '" + c + "';"},
		{"two dots", "a.lua", `x = "` + a + `" .. "` + b + c + `"`},
		{"bars", "a.sql", "select '" + a + "' || '" + b + c + "'"},
		{"side by side", "a.py", "x = (\"" + a + "\"\n     \"" + b + "\" '" + c + "')\n"},
		{"prefixed", "a.py", `x = f"` + a + `" b"` + b + `" r'` + c + `'`},
		{"continued line", "a.sh", "X=" + a + b + "\\\n" + c + "\n"},
		{"continued literal", "a.c", "char *x = \"" + a + "\\\n" + b + "\\\r\n" + c + "\";\n"},
		{"YAML quoted", "a.yaml", "x: \"" + a + b + "\\\n    " + c + "\"\n"},
		{"YAML folded", "a.yaml", "x: >-\n  " + a + b + "\n  " + c + "\ny: 1\n"},
		{"template", "a.js", "x = `" + a + "${\"" + b + "\"}" + c + "`"},
		{"Ruby template", "a.rb", `x = "` + a + `#{'` + b + `'}` + c + `"`},
		{"two templates", "a.js", "x = `${\"" + a + b + "\"}${'" + c + "'}`"},
		{"two formats", "a.py", `x = f"{'` + a + b + `'}{'` + c + `'}"`},
		{"calls", "A.java", `x = new StringBuilder("` + a + `").append("` + b + `").append("` + c + `")`},
		{"quotes of a shell", "a.sh", "X=" + a + b + "'" + c + "'\n"},
		{"folded, with CRLF", "a.yaml", "x: >-\r\n  " + a + b + "\r\n  " + c + "\r\ny: 1\r\n"},
		{"list", "a.js", `x = ["` + a + `", "` + b + `", "` + c + `"].join("")`},
		{"far into a file", "a.go", strings.Repeat("x := \"a\" + \"b\"\n", 5000) + `y := "` + a + b + `" + "` + c + `"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := hits(test.path, test.text)
			i := slices.IndexFunc(found, func(h doc.Hit) bool { return h.Rule == "credential/github-pat" })
			if i < 0 {
				t.Fatalf("not found: %v", found)
			}
			h := found[i]
			span := test.text[h.Start:h.End]
			if string(h.Match) != token || h.Severity != doc.Block || !strings.HasPrefix(span, token[:4]) || !strings.HasSuffix(span, token[36:]) {
				t.Errorf("match %q, severity %s, span %q", h.Match, h.Severity, span)
			}
		})
	}
}

// TestAChangeExcusesNothing: nothing that stands in a change keeps its tokens from
// being found.
func TestAChangeExcusesNothing(t *testing.T) {
	token := pat(t)
	key := corpus.PEM(rand.New(rand.NewPCG(8, 8)))
	for _, test := range []struct{ name, path, text string }{
		{"comment of one scanner", "a.go", "x = \"" + token + "\" // gitleaks:allow\n"},
		{"comment of another", "a.py", "x = '" + token + "'  # pragma: allowlist secret, nosec, noqa, ftl:ignore\n"},
		{"config in the change", ".gitleaks.toml", "[allowlist]\nregexes = ['''" + token + "''']\n"},
		{"word in the line", "a.go", "// example, fake, test, false\nx = \"" + token + "\" // EXAMPLE\n"},
		{"go.sum", "go.sum", "github.com/a/b v1.0.0 h1:" + token + "\n"},
		{"image", "a.svg", "<svg><!-- " + token + " --></svg>"},
		{"lock file", "package-lock.json", `"resolved": "` + token + `"`},
		{"vendor", "vendor/github.com/a/b/c.go", "// " + token},
		{"node_modules", "node_modules/a/index.js", "'" + token + "'"},
		{"minified", "jquery-3.min.js", strings.Repeat("a", 5000) + ";x='" + token + "';" + strings.Repeat("b", 5000)},
		{"NUL first", "a.bin", "\x00\x01" + token + "\x00"},
		{"UTF-16", "a.txt", utf16(token)},
		{"file name", token + ".txt", "nothing\n"},
		{"folder name", "a/" + token + "/b", ""},
		{"escaped before", "a.go", `x = "\n` + token + `\n"`},
		{"in a URL", "a.md", "https://x.invalid/?q=%22" + token + "%22"},
		{"glued to words", "a.go", "x = \"abc" + token + "abc\"\n"},
		{"test file", "a_test.go", "x = \"" + token + "\"\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := doc.New(test.path, git.Entry{}, git.Entry{}, []byte(test.text), nil)
			for _, h := range rules.Hits(d) {
				if h.Rule == "credential/github-pat" && h.Severity == doc.Block && h.Secret {
					return
				}
			}
			t.Errorf("not found in %q", test.text)
		})
		if got := seen(test.path, key); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "credential/private-key block ") }) {
			t.Errorf("%s: no private key: %v", test.path, got)
		}
	}
}

func utf16(s string) string {
	out := "\xff\xfe"
	for i := range len(s) {
		out += s[i:i+1] + "\x00"
	}
	return out
}
