package shadow

import (
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// injected is the value as compose-go's dotenv reads it, but for variables,
// which stay as they are written. Backticks are Node's.
func (s segment) injected() string {
	switch s.quote {
	case '"':
		return strings.ReplaceAll(escapes(unescapeQuote(s.value, '"')), `\$`, "$")
	case '\'':
		return unescapeQuote(s.value, '\'')
	}
	return s.value
}

// unescapeQuote takes the backslash off a quote.
func unescapeQuote(text string, quote byte) string {
	return strings.ReplaceAll(text, `\`+string(quote), string(quote))
}

var escaped = lazyregexp.New(`\\(?:[abcfnrtv"\\]|0[0-7]{1,3})`)

// escapes reads the shell's escapes within double quotes.
func escapes(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(e string) string {
		switch {
		case e == `\c`:
			return e
		case e[1] == '0':
			n, err := strconv.ParseUint(e[1:], 8, 8)
			if err != nil {
				return e
			}
			return string([]byte{byte(n)})
		}
		out, err := strconv.Unquote(`"` + e + `"`)
		if err != nil {
			return e
		}
		return out
	})
}

// variable is what readers that expand take for one.
var variable = lazyregexp.New(`\$(?:\{[^}]*\}|[A-Za-z_][A-Za-z0-9_]*|[0-9])`)

// defaulted is a variable with a value for when it is not set.
var defaulted = lazyregexp.New(`\$\{[A-Za-z_][A-Za-z0-9_]*:?[-=+?]([^}]*)\}`)

// readings are the values that other readers make of the same text: without
// escapes, with variables expanded to nothing or to their default, with $$ as $,
// with a comment as a part of the value or cut off at any #, with the quotes.
func (s segment) readings(injected string) []Secret {
	whole := strings.TrimSpace(strings.TrimRight(s.raw[len(s.head):], "\r\n"))
	texts := []string{injected, s.value, whole, escapes(s.value), unescapeQuote(s.value, '"'),
		strings.ReplaceAll(injected, "\r\n", "\n"), strings.TrimSpace(injected)}
	if s.quote == 0 {
		cut, _, _ := strings.Cut(whole, "#")
		texts = append(texts, strings.TrimSpace(cut))
	}
	for _, t := range texts[:len(texts):len(texts)] {
		if strings.Contains(t, "$") {
			texts = append(texts,
				strings.ReplaceAll(t, "$$", "$"),
				variable.ReplaceAllString(t, ""),
				variable.ReplaceAllString(defaulted.ReplaceAllString(t, "$1"), ""),
				strings.ReplaceAll(variable.ReplaceAllString(strings.ReplaceAll(t, "$$", "\x00"), ""), "\x00", "$"))
		}
	}
	all := secrets(texts...)
	if injected != "" {
		all = all[1:]
	}
	return all
}
