// Package corpus makes texts that a linter should and should not complain about,
// from a seed, so that neither a token nor its like stands in the repository.
package corpus

import (
	"math/rand/v2"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/credential"
)

// Sample is a text with what a linter should say of it.
type Sample struct {
	Rule string // the rule that finds it; "" for a text without a credential
	Path string
	Text string
	What string // what it is a sample of
	Span string // the part of Text that a finding covers
}

// A size is which of the lengths that a row allows a token takes.
type size uint8

const (
	anySize size = iota
	shortest
	longest
)

// Token makes a token of a row that no test would take for a placeholder.
func Token(r *rand.Rand, row credential.Row) string { return token(r, row, anySize) }

func token(r *rand.Rand, row credential.Row, of size) string {
	for {
		if t := draw(r, row.Shape, of); mixed(row.Shape, t) {
			if row.Seal != nil {
				return row.Seal(t)
			}
			return t
		}
	}
}

func draw(r *rand.Rand, s credential.Shape, of size) string {
	var b strings.Builder
	for _, p := range s {
		if p.Literal != "" {
			b.WriteString(p.Literal)
			continue
		}
		n := p.Min
		switch of {
		case longest:
			n = p.Max
		case anySize:
			// Half of the lengths of a part of open length are far longer than any seen.
			n += r.IntN(min(p.Max-p.Min, 40) + 1)
		}
		set := p.Class.Bytes()
		for range n {
			b.WriteByte(set[r.IntN(len(set))])
		}
	}
	return b.String()
}

// mixed reports whether a token has some of all that its alphabets hold.
func mixed(s credential.Shape, t string) bool {
	all := ""
	for _, p := range s {
		all += string(p.Class.Bytes())
	}
	const digits, letters = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	count := 0
	for _, c := range t {
		if strings.ContainsRune(digits, c) {
			count++
		}
	}
	return !strings.ContainsAny(all, digits) || !strings.ContainsAny(all, letters) ||
		count > 1 && strings.ContainsAny(t, letters) && !strings.HasSuffix(t, "EXAMPLE")
}

// context writes a name and its value as some kind of file does.
type context struct{ path, before, between, after string }

func contexts() []context {
	return []context{
		{".env", "", "=", "\n"},
		{"deploy.sh", "export ", "=", "\n"},
		{"compose.yaml", "    ", ": ", "\n"},
		{"values.yml", "  ", ": \"", "\"\n"},
		{"config.json", "{\"", "\": \"", "\"}\n"},
		{"settings.toml", "", " = \"", "\"\n"},
		{"app.properties", "", " = ", "\n"},
		{"main.go", "const ", " = \"", "\"\n"},
		{"app.py", "", " = '", "'\n"},
		{"index.js", "const c = { ", ": `", "` }\n"},
		{"Main.java", "env.put(\"", "\", \"", "\");\n"},
		{"call.sh", "curl -H \"", ": ", "\" https://api.invalid/v1\n"},
		{"notes.txt", "curl 'https://api.invalid/v1?", "=", "'\n"},
		{"config.xml", "<", ">", "</x>\n"},
		{"test.go", "s := \"", "=", "\\n\"\n"},
	}
}

// named is a name that a token of a row goes by.
func named(row credential.Row) string {
	name := "service"
	if len(row.Near) > 0 {
		name = strings.TrimRight(row.Near[0], "_-.")
	}
	return name + "_api_key"
}

func inContext(c context, row credential.Row, token string) string {
	name := named(row)
	if c.path == ".env" || c.path == "deploy.sh" {
		name = strings.ToUpper(name)
	}
	return c.before + name + c.between + token + c.after
}
