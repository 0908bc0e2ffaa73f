// Package escape makes text from a sandbox, a model or a repository safe to
// show: nothing in it can steer a terminal or mislead its reader.
package escape

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text escapes C0 and C1 controls but tab, bidirectional and invisible
// characters, and invalid UTF-8. What is safe stays as it is, so that escaping
// twice changes nothing.
func Text(s string) string {
	if !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Unsafe(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff && Unsafe(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case Unsafe(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Unsafe reports whether Text escapes a character.
func Unsafe(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t'
	case r >= 0x7f && r < 0xa0, r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}

// JSON escapes the same in a JSON text, in JSON's own way, so that its values
// stay what they are.
func JSON(s string) string {
	unsafe := func(r rune) bool { return r >= 0x7f && Unsafe(r) }
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unsafe(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
