package surface

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on what is remembered of the way to a value. What lies deeper counts as
// lying at the bound, under its own last key.
const (
	maxDepth = 16
	maxKey   = 128 // bytes
)

// leaf is a scalar of a JSON text.
type leaf struct {
	key        string // the keys that lead to it, each after a "/"; arrays have none
	value      string
	start, end int // of the value in the text
}

// leaves yields the scalars of a JSON text in order, each of a repeated key too.
// It is lenient: comments, trailing commas, bare keys and single quotes are read,
// since some program reads them, and what is malformed is passed over.
func leaves(text []byte) iter.Seq[leaf] {
	return func(yield func(leaf) bool) {
		r := reader{text: text}
		for r.next() {
			switch c := text[r.start]; {
			case c == '{' || c == '[':
				r.open()
			case c == '}' || c == ']':
				r.close()
			case c == ',':
				r.key = ""
			case r.isKey():
				r.key = r.token()
			case !yield(leaf{r.keyPath(), r.token(), r.start, r.end}):
				return
			}
		}
	}
}

// reader goes over the tokens of a JSON text without recursion.
type reader struct {
	text       []byte
	start, end int    // of the token
	key        string // of the value to come
	path       []int  // lengths of keys, one for each open bracket
	keys       []byte
	over       int // brackets open beyond maxDepth
}

// next finds the next token: a bracket, a comma, a string or a bare word.
func (r *reader) next() bool {
	r.start = skipSpace(r.text, r.end)
	if r.start >= len(r.text) {
		return false
	}
	r.end = tokenEnd(r.text, r.start)
	return true
}

// isKey reports whether the token is a key, and passes the colon behind it.
func (r *reader) isKey() bool {
	i := skipSpace(r.text, r.end)
	if i >= len(r.text) || r.text[i] != ':' {
		return false
	}
	r.end, r.key = i+1, ""
	return true
}

func (r *reader) open() {
	if len(r.path) == maxDepth {
		r.over++
		return
	}
	r.path = append(r.path, len(r.keys))
	r.keys = appendKey(r.keys, r.key)
	r.key = ""
}

func (r *reader) close() {
	switch n := len(r.path); {
	case r.over > 0:
		r.over--
	case n > 0:
		r.keys, r.path = r.keys[:r.path[n-1]], r.path[:n-1]
	}
	r.key = ""
}

// keyPath is where the token is.
func (r *reader) keyPath() string {
	return string(appendKey(r.keys, r.key)) // writes behind keys only
}

func appendKey(keys []byte, key string) []byte {
	if key == "" {
		return keys
	}
	return append(append(keys, '/'), key[:min(len(key), maxKey)]...)
}

// token is the text of a string or a bare word. A key that was just read ends
// before its colon.
func (r *reader) token() string {
	return unquote(r.text[r.start:tokenEnd(r.text, r.start)])
}

// skipSpace passes white space and comments.
func skipSpace(text []byte, i int) int {
	for i < len(text) {
		switch {
		case text[i] <= ' ':
			i++
		case bytes.HasPrefix(text[i:], []byte("\ufeff")):
			i += len("\ufeff")
		case bytes.HasPrefix(text[i:], []byte("//")):
			i = after(text, i, "\n")
		case bytes.HasPrefix(text[i:], []byte("/*")):
			i = after(text, i+2, "*/")
		default:
			return i
		}
	}
	return i
}

// after is the offset behind the next mark, or the end.
func after(text []byte, i int, mark string) int {
	n := bytes.Index(text[i:], []byte(mark))
	if n < 0 {
		return len(text)
	}
	return i + n + len(mark)
}

// tokenEnd is where the token at i ends. A string that is not closed ends with
// its line.
func tokenEnd(text []byte, i int) int {
	c := text[i]
	if strings.IndexByte("{}[],:", c) >= 0 {
		return i + 1
	}
	quoted := c == '"' || c == '\''
	for j := i + 1; j < len(text); j++ {
		switch b := text[j]; {
		case quoted && b == '\\':
			j++
		case quoted && b == c:
			return j + 1
		case quoted && b == '\n', !quoted && (b <= ' ' || strings.IndexByte("{}[],:", b) >= 0):
			return j
		}
	}
	return len(text)
}

// unquote reads a string's escapes. JSON5 escapes a letter to itself.
func unquote(token []byte) string {
	if len(token) == 0 || token[0] != '"' && token[0] != '\'' {
		return string(token)
	}
	body := bytes.TrimSuffix(token[1:], token[:1])
	if bytes.IndexByte(body, '\\') < 0 {
		return string(body)
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' || i+1 == len(body) {
			out = append(out, body[i])
			i++
			continue
		}
		r, n := escaped(body[i+1:])
		out = utf8.AppendRune(out, r)
		i += 1 + n
	}
	return string(out)
}

// escaped reads what follows a backslash: the rune and the bytes it took. The
// escapes are those of JSON, of JSON5 and of YAML's double quotes.
func escaped(s []byte) (r rune, n int) {
	digits := 0
	switch s[0] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits > 0 && len(s) > digits {
		if v, err := strconv.ParseUint(string(s[1:1+digits]), 16, 32); err == nil {
			return rune(v), 1 + digits
		}
	}
	if i := strings.IndexByte("ntr", s[0]); i >= 0 {
		return rune("\n\t\r"[i]), 1
	}
	r, n = utf8.DecodeRune(s)
	return r, n
}
