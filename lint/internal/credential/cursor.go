package credential

import (
	"bytes"
	"strings"
)

// cursor reads what stands behind a name.
type cursor struct {
	text []byte
	i    int
	from int  // where the value begins
	tag  bool // it stands between an element's tags
	bare bool // nothing but a space stands before it
	call bool // it is an argument
}

func (c *cursor) peek() byte {
	if c.i < len(c.text) {
		return c.text[c.i]
	}
	return 0
}

func (c *cursor) skip(set string, most int) (n int) {
	for n < most && c.i < len(c.text) && strings.IndexByte(set, c.text[c.i]) >= 0 {
		c.i++
		n++
	}
	return n
}

func (c *cursor) take(s string) bool {
	if !bytes.HasPrefix(c.text[c.i:], []byte(s)) {
		return false
	}
	c.i += len(s)
	return true
}

// operator moves behind what assigns.
func (c *cursor) operator(flag bool) bool {
	closed := c.skip("\\\"'`])", 4)
	spaces := c.skip(" \t", 20)
	ok := false
	switch c.peek() {
	case '=', ':', '?', '.', '+', '|', '<':
		ok = c.assigns()
	case '>', '(':
		c.i++
		c.tag, c.call = c.text[c.i-1] == '>', c.text[c.i-1] == '('
		c.skip("\r\n", 2)
		ok = closed == 0 && spaces == 0
	case ',':
		closed = bytes.IndexByte([]byte("\"'`"), c.text[c.i-spaces-1]) + 1
		c.skip(", \t\r\n", 40)
		c.call = true
		ok = closed > 0 && (c.named("value") || isQuote(c.peek()))
	case '\r', '\n': // - name: NAME, and its value on the next line
		c.skip(" \t\r\n", 60)
		ok = c.named("value")
	default:
		ok = spaces > 0 && (flag || closed > 0 && c.named("value") || c.declares())
		if !ok && spaces > 0 && closed == 0 && (c.peek() == '\'' || c.peek() == '"') {
			c.bare, ok = true, true
		}
	}
	c.skip(" \t", 40)
	return ok
}

// assigns moves behind an operator that gives a name its value, not one that
// compares or qualifies.
func (c *cursor) assigns() bool {
	if c.take("==") || c.take("=~") {
		return false
	}
	for _, sign := range []string{"=>", "=", ":::=", "::=", ":=", "??=", "?=", "||=", ".=", "+=", "<-"} {
		if c.take(sign) {
			return true
		}
	}
	if c.take("::") || !c.take(":") {
		return false
	}
	c.skip(" \t", 20)
	c.declares()
	return true
}

// declares moves behind the type of a declaration and what assigns to it: string =.
func (c *cursor) declares() bool {
	save := c.i
	for _, name := range []string{"string", "String", "str", "&'static str", "&str"} {
		if c.take(name) {
			if c.skip(" \t", 20); c.take("=") {
				return true
			}
			c.i = save
		}
	}
	return false
}

// named moves behind a name such as value= that says that the value follows.
func (c *cursor) named(word string) bool {
	save := c.i
	c.skip("\"'", 1)
	if c.take(word) {
		c.skip("\"'", 1)
		c.skip(" \t", 20)
		if c.take("=") || c.take(":") {
			return true
		}
	}
	c.i = save
	return false
}

// value sets from and i to a value's bounds.
func (c *cursor) value() (quoted, ok bool) {
	const quotes = "\"'`"
	if strings.IndexByte("bBrRfFuUL@$", c.peek()) >= 0 && c.i+1 < len(c.text) && strings.IndexByte(quotes, c.text[c.i+1]) >= 0 {
		c.i++
	}
	c.skip("\\", 1)
	if q := c.peek(); q != 0 && strings.IndexByte(quotes, q) >= 0 {
		c.i++
		return true, c.quoted(q)
	}
	c.from = c.i
	for c.i < len(c.text) && c.i-c.from < valueMost && !endsValue(c.text[c.i]) && !c.parameter() && !c.escape() {
		c.i++
	}
	return false, c.i > c.from && c.i-c.from < valueMost && (!c.tag || c.closes())
}

// whole reports whether a value is all that is assigned: what goes on is a text.
func (c *cursor) whole(quoted bool) bool {
	if c.call || c.bare {
		return false
	}
	return quoted || c.text[c.from-1] == '=' || c.i == len(c.text) || strings.IndexByte("\r\n\"',}\\", c.text[c.i]) >= 0
}

// closes reports whether only white space stands before the next tag.
func (c *cursor) closes() bool {
	end := *c
	end.skip(" \t\r\n", 60)
	return end.peek() == '<'
}

// quoted reads up to a quote, which may itself be in a literal, and so escaped.
func (c *cursor) quoted(q byte) bool {
	c.from = c.i
	for ; c.i < len(c.text) && c.i-c.from < valueMost; c.i++ {
		switch c.text[c.i] {
		case q:
			return c.i > c.from
		case '\n':
			return false
		case '\\':
			if c.i+1 < len(c.text) && c.text[c.i+1] == q {
				return c.i > c.from
			}
			c.i++
		}
	}
	return false
}

func endsValue(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', '"', '\'', '`', ',', ';', '<', '>', ')', '}', ']':
		return true
	}
	return false
}

// escape reports whether an escape begins here that ends a value: the end of a
// line or of a literal inside a literal.
func (c *cursor) escape() bool {
	return c.text[c.i] == '\\' && c.i+1 < len(c.text) && strings.IndexByte(`nrt"'`, c.text[c.i+1]) >= 0
}

// parameter reports whether the next one of a query begins here.
func (c *cursor) parameter() bool {
	if c.text[c.i] != '&' {
		return false
	}
	rest := c.text[c.i+1:]
	n := url.run(rest, nameMost)
	return n > 0 && n < len(rest) && rest[n] == '='
}

// inLiteral reports whether the value that was read without quotes ends where a
// literal or a setting inside one ends.
func (c *cursor) inLiteral(at int) bool {
	ends := "\"'`;&<\\"
	if c.text[c.from-1] == '=' {
		ends += " " // key=value key=value
	}
	if c.peek() == 0 || strings.IndexByte(ends, c.peek()) < 0 {
		return false
	}
	line := c.text[max(0, at-300):at]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return c.take("</") || bytes.Count(line, []byte(`"`))%2 == 1 || bytes.Count(line, []byte("'"))%2 == 1
}
