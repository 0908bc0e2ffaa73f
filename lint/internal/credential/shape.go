package credential

// Class is a set of bytes that a part of a token is written in.
type Class uint16

// The smallest sets that alphabets of tokens differ in.
const (
	octal0 Class = 1 << iota // 0 1
	octal2                   // 2 to 7
	digit8                   // 8 9
	lowerF                   // a to f
	lowerZ                   // g to z
	upperF                   // A to F
	upperZ                   // G to Z
	under
	dash
	dot
	plus
	slash
	equals
	percent
	tilde
)

// The alphabets.
const (
	digit      = octal0 | octal2 | digit8
	hex        = digit | lowerF
	hexUpper   = digit | upperF
	anyHex     = hex | upperF
	lower      = lowerF | lowerZ
	upper      = upperF | upperZ
	letter     = lower | upper
	alnum      = letter | digit
	lowerAlnum = lower | digit
	upperAlnum = upper | digit
	base32     = upper | octal2
	word       = alnum | under
	url        = word | dash
	base64     = alnum | plus | slash
	padded     = base64 | equals
)

// classOf is the one small set that holds a byte; 0 for any other byte.
func classOf(b byte) Class {
	switch {
	case b >= 'a' && b <= 'f':
		return lowerF
	case b >= 'g' && b <= 'z':
		return lowerZ
	case b >= 'A' && b <= 'F':
		return upperF
	case b >= 'G' && b <= 'Z':
		return upperZ
	case b >= '0' && b <= '9':
		return digitOf(b)
	}
	return signOf(b)
}

func digitOf(b byte) Class {
	switch {
	case b < '2':
		return octal0
	case b < '8':
		return octal2
	}
	return digit8
}

func signOf(b byte) Class {
	switch b {
	case '_':
		return under
	case '-':
		return dash
	case '.':
		return dot
	case '+':
		return plus
	case '/':
		return slash
	case '=':
		return equals
	case '%':
		return percent
	case '~':
		return tilde
	}
	return 0
}

// Has reports whether a byte is in the set.
func (c Class) Has(b byte) bool { return classOf(b)&c != 0 }

// Bytes are the bytes of the set, in order.
func (c Class) Bytes() (out []byte) {
	for b := range byte(0x80) {
		if c.Has(b) {
			out = append(out, b)
		}
	}
	return out
}

// run is how many bytes at the start of text are in the set, at most limit.
func (c Class) run(text []byte, limit int) int {
	limit = min(limit, len(text))
	for i := range limit {
		if classOf(text[i])&c == 0 {
			return i
		}
	}
	return limit
}

// Part is a piece of a token: a literal, or Min to Max bytes of a class.
type Part struct {
	Literal  string
	Class    Class
	Min, Max int
}

// Shape is how a token is written, part after part.
type Shape []Part

// lit begins a shape with a literal.
func lit(s string) Shape { return Shape{{Literal: s}} }

// run begins a shape with n bytes of a class.
func run(c Class, n int) Shape { return Shape{}.n(c, n) }

// uuid is a shape of five groups of hexadecimal digits.
func uuid() Shape { return Shape{}.uuid() }

func (s Shape) lit(text string) Shape { return append(s, Part{Literal: text}) }

func (s Shape) n(c Class, n int) Shape { return s.span(c, n, n) }

func (s Shape) span(c Class, least, most int) Shape {
	return append(s, Part{Class: c, Min: least, Max: most})
}

func (s Shape) uuid() Shape {
	return s.n(anyHex, 8).lit("-").n(anyHex, 4).lit("-").n(anyHex, 4).lit("-").n(anyHex, 4).lit("-").n(anyHex, 12)
}

// match is the length of the token that text begins with, -1 where none does. The
// longest reading wins; more than one part of open length in a row costs their
// product, so rows have at most two, parted by a literal.
func (s Shape) match(text []byte) int {
	if len(s) == 0 {
		return 0
	}
	p := s[0]
	if p.Literal != "" {
		if len(text) < len(p.Literal) || string(text[:len(p.Literal)]) != p.Literal {
			return -1
		}
		if n := s[1:].match(text[len(p.Literal):]); n >= 0 {
			return len(p.Literal) + n
		}
		return -1
	}
	for k := p.Class.run(text, p.Max); k >= p.Min; k-- {
		if n := s[1:].match(text[k:]); n >= 0 {
			return k + n
		}
	}
	return -1
}

// anchor is the part that tells a token by itself: the longest literal.
func (s Shape) anchor() (part int, ok bool) {
	for i, p := range s {
		if len(p.Literal) > 1 && (!ok || len(p.Literal) > len(s[part].Literal)) {
			part, ok = i, true
		}
	}
	return part, ok
}

// start is where a token begins whose anchor part begins at an offset; -1 where it
// cannot. Only the part just before the anchor may be of open length.
func (s Shape) start(text []byte, part, at int) int {
	for i := part - 1; i >= 0; i-- {
		p := s[i]
		n := len(p.Literal)
		if n == 0 {
			for n < p.Max && n < at && p.Class.Has(text[at-n-1]) {
				n++
			}
			if n < p.Min {
				return -1
			}
		}
		if at -= n; at < 0 {
			return -1
		}
	}
	return at
}

// least and last say how short a token may be, and what it may end in.
func (s Shape) least() (n int) {
	for _, p := range s {
		n += len(p.Literal) + p.Min
	}
	return n
}

func (s Shape) last() Class {
	if p := s[len(s)-1]; p.Literal == "" {
		return p.Class
	}
	return 0
}

// varied is what of a token is not literal: what its maker drew.
func (s Shape) varied(token []byte) []byte {
	out := make([]byte, 0, len(token))
	for i, p := range s {
		if p.Literal != "" {
			token = token[min(len(p.Literal), len(token)):]
			continue
		}
		n := p.Class.run(token, p.Max)
		for ; n > p.Min && s[i+1:].match(token[n:]) < 0; n-- {
		}
		out = append(out, token[:n]...)
		token = token[n:]
	}
	return out
}
