package credential

import "bytes"

// The forms of single languages that give a name its value.

// scalar moves to the first line of a block of YAML: | or >-, and its line.
func (c *cursor) scalar() {
	save := c.i
	if c.skip("|>", 1) == 1 {
		c.skip("+-123456789", 2)
		c.skip(" \t", 20)
		if c.skip("\r\n", 2) > 0 {
			c.skip(" \t", 40)
			return
		}
	}
	c.i = save
}

// initial moves into the braces by which C++ initializes.
func (c *cursor) initial() bool {
	if c.i+1 < len(c.text) && c.text[c.i+1] == '"' {
		c.i++
		return true
	}
	return false
}

// standardMost is how far behind the name of a variable its default may stand.
const standardMost = 400

// standard moves to the default of a variable of Terraform.
func (c *cursor) standard() bool {
	window := c.text[c.i:min(len(c.text), c.i+standardMost)]
	if i := bytes.IndexByte(window, '}'); i >= 0 {
		window = window[:i]
	}
	i := bytes.Index(window, []byte("default"))
	if i < 0 {
		return false
	}
	c.i += i + len("default")
	c.skip(" \t", 20)
	return c.take("=")
}

// nextTag moves into the element behind the one that is a name, as in a plist.
func (c *cursor) nextTag() bool {
	save := c.i
	if c.take("</key>") {
		c.skip(" \t\r\n", 60)
		if c.take("<string>") {
			c.tag = true
			return true
		}
	}
	c.i = save
	return false
}

// otherwiseMost is how far into an expression its other value may stand.
const otherwiseMost = 120

// otherwise moves to the literal that is taken where an expression has no value:
// process.env.NAME || 'value'.
func (c *cursor) otherwise() {
	window := c.text[c.i:min(len(c.text), c.i+otherwiseMost)]
	if i := bytes.IndexAny(window, "\r\n;,"); i >= 0 {
		window = window[:i]
	}
	for _, sign := range []string{"|| ", "?? ", " or "} {
		if i := bytes.Index(window, []byte(sign)) + len(sign); i >= len(sign) && i < len(window) && isQuote(window[i]) {
			c.i += i
			return
		}
	}
}
