package corpus

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/credential"
)

// Bypass is a change that tries to get a token past a linter by what the change
// says of itself. Each got a valid token past a scanner in wide use.
type Bypass struct {
	Name  string
	Files []Planted // the token is in the first
}

// Bypasses are those that were measured, each with another token of GitHub's, whose
// checksum is right.
func Bypasses(seed uint64) []Bypass {
	r := rand.New(rand.NewPCG(seed, 3))
	rows := credential.Rows()
	row := rows[slices.IndexFunc(rows, func(r credential.Row) bool { return r.Name == "github-pat" })]
	one := func(name, path, text string, beside ...Planted) Bypass {
		token := Token(r, row)
		text, path = strings.ReplaceAll(text, "TOKEN", token), strings.ReplaceAll(path, "TOKEN", token)
		text = strings.ReplaceAll(text, "SPLIT", token[:10]+`" + "`+token[10:])
		return Bypass{name, append([]Planted{{Path: path, Text: text}}, beside...)}
	}
	const line = "key = \"TOKEN\"\n"
	token := Token(r, row)
	words := row.Seal(token[:8] + "false" + token[13:])
	wide := one("UTF-16", "a.txt", line)
	wide.Files[0].Text = "\xff\xfe" + valueWide(wide.Files[0].Text)
	amid := one("UTF-16 amid other bytes", "a.txt", line)
	amid.Files[0].Text = "plain text first, and long\n" + valueWide(amid.Files[0].Text)
	return []Bypass{
		one("a comment that allows it", "a.py", "key = \"TOKEN\"  # gitleaks:allow\n"),
		one("a configuration beside it", "a.py", line, Planted{Path: ".gitleaks.toml", Text: "[allowlist]\npaths = ['''.*''']\n"}),
		{"a token that contains a word", []Planted{{Path: "a.py", Text: "key = \"" + words + "\"\n"}}},
		one("in go.sum", "go.sum", "example.com/a v1.0.0 h1:TOKEN=\n"),
		one("in an image", "logo.svg", "<svg><!-- TOKEN --></svg>\n"),
		one("in package-lock.json", "package-lock.json", "{\"name\": \"TOKEN\"}\n"),
		one("in vendor/", "vendor/github.com/a/b/c.go", "// TOKEN\n"),
		one("in node_modules/", "node_modules/a/index.js", "x = 'TOKEN'\n"),
		one("in a script of others", "js/jquery-3.7.1.min.js", strings.Repeat("a", 5000)+";x='TOKEN';\n"),
		one("attributes without a diff", "a.py", line, Planted{Path: ".gitattributes", Text: "* -diff\n"}),
		one("attributes that say binary", "a.py", line, Planted{Path: ".gitattributes", Text: "* binary\n"}),
		wide,
		amid,
		one("a mark of UTF-16 that lies", "a.txt", "\xff\xfe"+line),
		one("the name of UTF-16 first", "a.txt", valueWide("a beginning that is written in UTF-16")+"\n"+line+valueWide("an end")),
		one("a NUL in front", "a.dat", "\x00"+line),
		one("the name of a file", "notes/TOKEN.txt", "nothing\n"),
		one("two literals", "a.go", "const key = \"SPLIT\"\n"),
		one("an ignore file of our own", "a.py", line, Planted{Path: ".ftllint", Text: "credential off\ncredential/github-pat off a.py\n"}),
	}
}
