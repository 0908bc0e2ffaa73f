package gitpatch

import (
	"fmt"
	"strings"
)

// Quote returns a path as git shows it with core.quotePath: as it is, or in
// quotes with C escapes and octal bytes.
func Quote(p string) string {
	plain := true
	for i := range len(p) {
		plain = plain && !special(p[i])
	}
	if plain {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", p[i]); {
		case at >= 0:
			b.WriteByte('\\')
			b.WriteByte(`abtnvfr"\`[at])
		case special(p[i]):
			fmt.Fprintf(&b, `\%03o`, p[i])
		default:
			b.WriteByte(p[i])
		}
	}
	b.WriteByte('"')
	return b.String()
}

func special(c byte) bool {
	return c < ' ' || c >= 0x7f || c == '"' || c == '\\'
}
