package credential

import (
	"bytes"
	"strings"
)

// lineHead is how much of a line is looked at before a name.
const lineHead = 200

// bySpace reports whether a space is all that stands between a value and the name
// that holds text[at]: an option, a line of a Dockerfile, of a shell's set or of
// .netrc.
func bySpace(text []byte, at int) bool {
	head := text[max(0, at-lineHead):at]
	head = head[bytes.LastIndexByte(head, '\n')+1:]
	name := head[bytes.LastIndexAny(head, " \t\"'`([{=")+1:]
	if len(name) > 0 && name[0] == '-' {
		return true
	}
	word, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t"), []byte(" "))
	switch string(word) {
	case "ENV", "set", "setenv", "machine":
		return true
	}
	return false
}

// partOfName reports whether text ends in the middle of a name of several parts:
// arn:aws:secretsmanager:eu-west-1:1:secret:NAME.
func partOfName(text []byte) bool {
	colons := 0
	for i := len(text) - 1; i >= max(0, len(text)-nameMost); i-- {
		if text[i] == ':' {
			colons++
		} else if !(url | slash | dot).Has(text[i]) && text[i] != ';' && text[i] != '&' {
			break
		}
	}
	return colons > 2 && text[len(text)-1] == ':'
}

// cursor reads what stands behind a name.
type cursor struct {
	text []byte
	i    int
	from int  // where the value begins
	tag  bool // it stands between an element's tags
	bare bool // nothing but a space stands before it
	call bool // it is an argument
	flag bool // it is an option's, or needs no more than a space
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

// operator moves behind what gives a value to the name that holds text[at].
func (c *cursor) operator(at int) bool {
	closed := c.skip("\\\"'`[])", 4)
	spaces := c.skip(" \t", 20)
	ok := false
	switch c.peek() {
	case '=', ':', '?', '.', '+', '|':
		ok = c.assigns()
	case '<':
		ok = c.nextTag() || c.assigns()
	case '{':
		ok = c.initial() || closed > 0 && c.standard()
	case '>', '(':
		ok = spaces == 0 && c.opens(closed)
	case ',':
		ok = c.argument(c.text[c.i-spaces-1])
	case '\r', '\n': // - name: NAME, and its value on the next line
		c.skip(" \t\r\n", 60)
		ok = c.named("value")
	default:
		c.flag = spaces > 0 && (c.flag || bySpace(c.text, at))
		ok = spaces > 0 && (c.flag || c.follows(closed > 0))
	}
	c.skip(" \t", 40)
	return ok
}

// opens moves into an element or a call.
func (c *cursor) opens(closed int) bool {
	c.tag, c.call = c.peek() == '>', c.peek() == '('
	c.i++
	c.skip("\r\n", 2)
	return closed == 0 || c.tag
}

// argument moves to the argument behind one that is a literal.
func (c *cursor) argument(last byte) bool {
	c.skip(", \t\r\n", 40)
	c.call = true
	return isQuote(last) && (c.named("value") || isQuote(c.peek()))
}

// follows moves to what stands behind a name and a space.
func (c *cursor) follows(closed bool) bool {
	if closed && c.named("value") || c.declares() {
		return true
	}
	c.bare = !closed && (c.peek() == '\'' || c.peek() == '"')
	return c.bare
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
	c.take("?") // of a type that may be missing
	if c.take("::") || !c.take(":") {
		return false
	}
	c.skip(" \t", 20)
	if !c.declares() {
		c.scalar()
	}
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
	if c.take(`r#"`) {
		return true, c.quoted('"')
	}
	if c.take("[[") {
		return true, c.quoted(']')
	}
	c.otherwise()
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

// unquoted reports whether a value may stand without quotes: in settings, in a
// literal, and in a text where it can be nothing else.
func (c *cursor) unquoted(class fileClass, what sense, at int) bool {
	switch class {
	case settings, made:
		return true
	case prose:
		value := bytes.TrimRight(c.text[c.from:c.i], ".")
		if what != password && len(value) >= 20 && random(value) && bytes.IndexByte(value, '.') < 0 {
			c.i = c.from + len(value)
			return true
		}
	}
	return c.inLiteral(at)
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
