package credential

import (
	"bytes"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// Bounds of a name and a value, in bytes.
const (
	nameMost  = 60
	valueMost = 256
)

// assignedHit judges the value of a name that has a word for a secret at
// text[at:end]: key = "value", "key": "value", <key>value</key>, --key value and
// what else assigns.
func assignedHit(text []byte, at, end int, class fileClass) (doc.Hit, bool) {
	start := at
	for start > 0 && at-start < nameMost && url.Has(text[start-1]) {
		start--
	}
	c := cursor{text: text, i: end}
	c.i += url.run(text[end:], nameMost)
	name := simple(text[start:c.i])
	flag := bytes.HasPrefix(text[start:], []byte("--"))
	if !c.operator(flag) {
		return doc.Hit{}, false
	}
	what := meaning(name)
	if what == nothing {
		return doc.Hit{}, false
	}
	quoted, ok := c.value()
	value := text[c.from:c.i]
	if !ok || !quoted && class == code && !flag && !c.inLiteral(at) {
		return doc.Hit{}, false
	}
	return judge(name, what, value, c.from, c.i, !quoted && c.i < len(text) && text[c.i] == ';')
}

func judge(name string, what sense, value []byte, from, to int, setting bool) (doc.Hit, bool) {
	if placeholder(value) || simple(value) == name {
		return doc.Hit{}, false
	}
	h := doc.Hit{Severity: doc.Warn, Start: from, End: to, Secret: true,
		Remedy: "read it from the environment, and keep it with git ftl auth set " + strings.ToUpper(name)}
	switch {
	case what == password && wordlike(value):
		return h, false
	case what == password && setting:
		h.Rule, h.Message = "credential/connection-string", "password in a connection string"
	case what == password:
		h.Rule, h.Message = "credential/password", "password"
	case !random(value):
		return h, false
	default:
		h.Rule, h.Message = "credential/generic", "value of a name that says it is secret"
	}
	return h, true
}

// sense is what a name says of its value.
type sense uint8

const (
	nothing sense = iota
	secret
	password
)

// simple is a name in lower case without what parts its words.
func simple(name []byte) string {
	out := make([]byte, 0, nameMost)
	for _, b := range bytes.ToLower(name) {
		if b != '_' && b != '-' {
			out = append(out, b)
		}
	}
	return string(out)
}

// meaning tells what a simple name promises. A name that ends in what is said of a
// secret, such as its file or its length, promises none.
func meaning(name string) sense {
	for _, end := range []string{
		"id", "ids", "url", "uri", "name", "names", "type", "types", "path", "file", "files", "endpoint", "arn", "hash", "sum", "ref", "count", "length", "len",
		"size", "regex", "pattern", "field", "header", "prefix", "suffix", "format", "label", "title", "text", "message", "error", "policy", "class", "index",
		"expiry", "expires", "ttl", "at", "in", "version", "kind", "status", "state", "scope", "mode", "env", "param", "template", "source", "provider", "public", "enabled",
	} {
		if strings.HasSuffix(name, end) && !strings.HasSuffix(name, "pass"+end) && len(name) > len(end) {
			return nothing
		}
	}
	for _, no := range []string{"publickey", "publictoken", "tokenize", "bypass", "compass", "passthrough", "passive", "passport", "keyboard", "csrf", "xsrf"} {
		if strings.Contains(name, no) {
			return nothing
		}
	}
	if strings.Contains(name, "passw") || strings.Contains(name, "passphrase") || strings.Contains(name, "pwd") || strings.HasSuffix(name, "pass") {
		return password
	}
	for _, yes := range []string{
		"secret", "token", "apikey", "accesskey", "authkey", "privatekey", "signingkey", "encryptionkey", "masterkey", "sharedkey", "accountkey", "credential",
	} {
		if strings.Contains(name, yes) {
			return secret
		}
	}
	return nothing
}

// cursor reads what stands behind a name.
type cursor struct {
	text []byte
	i    int
	from int // where the value begins
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
	case '=', ':', '?':
		ok = c.assigns()
	case '>', '(':
		c.i++
		ok = closed == 0 && spaces == 0
	case ',':
		c.skip(", \t\r\n", 40)
		c.named("value")
		ok = closed > 0
	case '\r', '\n': // - name: NAME, and its value on the next line
		c.skip(" \t\r\n", 60)
		ok = c.named("value")
	default:
		ok = spaces > 0 && (flag || closed > 0 && c.named("value") || c.declares())
	}
	c.skip(" \t", 40)
	return ok
}

// assigns moves behind an operator that gives a name its value, not one that
// compares or qualifies.
func (c *cursor) assigns() bool {
	switch {
	case c.take("=="), c.take("=~"), c.take("::"):
		return false
	case c.take(":="), c.take("=>"), c.take("?="), c.take("="):
		return true
	case c.take(":"):
		c.skip(" \t", 20)
		c.declares()
		return true
	}
	return false
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
	for c.i < len(c.text) && c.i-c.from < valueMost && !endsValue(c.text[c.i]) && !c.parameter() {
		c.i++
	}
	return false, c.i > c.from && c.i-c.from < valueMost
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
	ends := "\"'`;&<"
	if c.text[c.from-1] == '=' {
		ends += " " // key=value key=value
	}
	if c.peek() == 0 || strings.IndexByte(ends, c.peek()) < 0 {
		return false
	}
	line := c.text[max(0, at-300):at]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	return c.peek() == '<' || bytes.Count(line, []byte(`"`))%2 == 1 || bytes.Count(line, []byte("'"))%2 == 1
}
