package ignore

import (
	"fmt"
	"strings"
)

// Parts of the expressions. The library rewrites '.', '*' and '?', and appends
// an optional "/.*": the expressions use none of the three and end in "$".
const (
	anyByte  = `[^/]`
	anyBytes = `[^/]{0,}`
	anything = `[^\x{0}]{0,}`
)

// normalise turns a glob of git (wildmatch) into a line for go-gitignore. name
// says that the glob is compared with a name without slashes. It is false for
// a glob that matches nothing.
func normalise(glob string, name bool) (string, bool) {
	g := globber{glob: glob, name: name, special: strings.IndexAny(glob, `*?[\`)}
	g.out.WriteByte('/')
	for g.at < len(glob) {
		if !g.step() {
			return "", false
		}
	}
	g.out.WriteByte('$')
	return g.out.String(), true
}

type globber struct {
	glob    string
	name    bool
	special int // where git's literal prefix ends, -1 without specials
	at      int
	out     strings.Builder
}

func (g *globber) step() bool {
	c := g.glob[g.at]
	switch c {
	case '*':
		g.stars()
		return true
	case '?':
		g.at++
		g.out.WriteString(anyByte)
		return true
	case '[':
		return g.class()
	case '\\':
		g.at++
		if g.at == len(g.glob) {
			return false
		}
		c = g.glob[g.at]
	}
	g.at++
	fmt.Fprintf(&g.out, `\x{%02x}`, c)
	return true
}

// stars: "**" crosses slashes only as a whole element. git cuts the literal
// prefix off before it looks, so that "foo**/bar" has such an element too.
func (g *globber) stars() {
	from := g.at
	for g.at < len(g.glob) && g.glob[g.at] == '*' {
		g.at++
	}
	rest := g.glob[g.at:]
	begins := from == g.special || g.glob[from-1] == '/'
	ends := rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)
	switch {
	case g.name || g.at-from == 1 || !begins || !ends:
		g.out.WriteString(anyBytes)
	case rest != "" && rest[0] == '/':
		g.at++
		g.out.WriteString("(|" + anything + "/)")
	default:
		g.out.WriteString(anything)
	}
}

// class writes a bracket expression as the set of its bytes.
func (g *globber) class() bool {
	g.at++
	negated := g.peek() == '!' || g.peek() == '^'
	if negated {
		g.at++
	}
	var set [256]bool
	var prev byte
	for first := true; first || g.peek() != ']'; first = false {
		var ok bool
		if prev, ok = g.member(&set, prev); !ok {
			return false
		}
	}
	g.at++
	return g.writeSet(set, negated)
}

// peek returns 0 at the end.
func (g *globber) peek() byte {
	if g.at < len(g.glob) {
		return g.glob[g.at]
	}
	return 0
}

// member adds one element of a bracket expression and returns what a range
// would start from, 0 for nothing.
func (g *globber) member(set *[256]bool, prev byte) (byte, bool) {
	c := g.peek()
	rest := g.glob[min(g.at+1, len(g.glob)):]
	switch {
	case c == '-' && prev != 0 && rest != "" && rest[0] != ']':
		g.at++
		end, ok := g.literal()
		for b := int(prev); ok && b <= int(end); b++ {
			set[b] = true
		}
		return 0, ok
	case c == '[' && strings.HasPrefix(rest, ":"):
		if found, ok := g.posix(set); found || !ok {
			return 0, ok
		}
		g.at++
		set['['] = true
		return '[', true
	}
	c, ok := g.literal()
	set[c] = ok
	return c, ok
}

// literal reads one byte that a backslash may quote.
func (g *globber) literal() (byte, bool) {
	if g.peek() == '\\' {
		g.at++
	}
	c := g.peek()
	g.at++
	return c, c != 0
}

// posix reads a class such as [:alpha:] into set. It is not found where the
// next "]" does not end one; then nothing is consumed.
func (g *globber) posix(set *[256]bool) (found, ok bool) {
	name, _, closed := strings.Cut(g.glob[g.at+2:], "]")
	if !closed {
		return false, false
	}
	size := len(name)
	if name, found = strings.CutSuffix(name, ":"); !found {
		return false, true
	}
	g.at += 2 + size + 1
	return true, addClass(set, name)
}

func addClass(set *[256]bool, name string) bool {
	between := func(from, to byte) {
		for b := int(from); b <= int(to); b++ {
			set[b] = true
		}
	}
	ranges, ok := map[string]string{
		"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x01\x1f\x7f\x7f", "digit": "09", "graph": "!~",
		"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "  \t\r", "upper": "AZ", "xdigit": "09AFaf",
	}[name]
	for i := 0; i < len(ranges); i += 2 {
		between(ranges[i], ranges[i+1])
	}
	return ok
}

func (g *globber) writeSet(set [256]bool, negated bool) bool {
	g.out.WriteByte('[')
	empty := true
	for c := 1; c < 256; c++ {
		if set[c] != negated && c != '/' {
			empty = false
			fmt.Fprintf(&g.out, `\x{%02x}`, c)
		}
	}
	g.out.WriteByte(']')
	return !empty
}
