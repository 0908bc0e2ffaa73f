package patch

import (
	"fmt"
	"strings"
	"unicode"
)

// bothNames reads "a/P b/P", plain or quoted as git does.
func bothNames(s string) (string, bool) {
	if strings.HasPrefix(s, `"`) {
		end := closing(s)
		if end < 0 || !strings.HasPrefix(s[end:], ` "`) {
			return "", false
		}
		a, ok1 := unquote(s[:end])
		b, ok2 := unquote(s[end+1:])
		if !ok1 || !ok2 || !strings.HasPrefix(a, "a/") || b != "b/"+a[2:] {
			return "", false
		}
		return a[2:], true
	}
	n := (len(s) - len("a/ b/")) / 2
	if n < 0 || !plain(s) || s != "a/"+s[2:2+n]+" b/"+s[2:2+n] {
		return "", false
	}
	return s[2 : 2+n], true
}

// closing returns the offset behind the quote that ends the string s begins
// with, -1 where there is none.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// plain reports whether git would write a name without quotes, leaving bytes
// above ASCII aside.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// unquote reads a name that is plain or quoted in git's C style.
func unquote(s string) (string, bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, plain(s)
	}
	if closing(s) != len(s) {
		return "", false
	}
	var b strings.Builder
	for in := s[1 : len(s)-1]; in != ""; {
		if in[0] != '\\' {
			b.WriteByte(in[0])
			in = in[1:]
			continue
		}
		c, n := escaped(in[1:])
		if n == 0 {
			return "", false
		}
		b.WriteByte(c)
		in = in[1+n:]
	}
	return b.String(), true
}

// escaped reads what follows a backslash and how long it is, 0 for no escape.
func escaped(s string) (byte, int) {
	if s == "" {
		return 0, 0
	}
	if i := strings.IndexByte(`abtnvfr"\`, s[0]); i >= 0 {
		return "\a\b\t\n\v\f\r\"\\"[i], 1
	}
	if len(s) < 3 || s[0] > '3' {
		return 0, 0
	}
	var v byte
	for i := range 3 {
		if s[i] < '0' || s[i] > '7' {
			return 0, 0
		}
		v = v<<3 | (s[i] - '0')
	}
	return v, 3
}

// oneLine makes a text safe for one line of a commit message: control and
// direction characters are escaped.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(s) {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
