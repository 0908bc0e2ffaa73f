package decode

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// margin is how much plain text may stand between two escapes, and is read with
// them: a token of which one letter is escaped.
const margin = 128

// escape reads the escape at the beginning of b, which is not empty. It gives
// what this stands for, appended to out, and its length, 0 where it is none.
type escape func(out, b []byte) ([]byte, int)

// escaped is text with escapes, as far as it has been read.
type escaped struct {
	Layer
	least int // escapes that make a stretch worth keeping
	read  escape

	buf   run
	meant [utf8.UTFMax]byte
	seen  int // escapes in buf
	done  int // how far the text is in there
}

// meet takes what may be the beginning of an escape.
func (e *escaped) meet(text []byte, i int) {
	if i < e.done {
		return
	}
	meant, n := e.read(e.meant[:0], text[i:])
	if n == 0 {
		return
	}
	if e.seen > 0 && i-e.done > margin {
		e.end(text)
	}
	e.buf.copy(text, max(e.done, i-margin), i)
	for _, c := range meant {
		e.buf.add(c, i)
	}
	e.seen++
	e.done = i + n
}

// end takes what stands behind the last escape.
func (e *escaped) end(text []byte) {
	if e.seen == 0 {
		return
	}
	end := min(e.done+margin, len(text))
	e.buf.copy(text, e.done, end)
	if e.seen >= e.least {
		e.keep(&e.buf)
	}
	e.buf.reset()
	e.seen, e.done = 0, end
}

func (r *run) copy(text []byte, start, end int) {
	for i := start; i < end; i++ {
		r.add(text[i], i)
	}
}

// anyEscape reads \x67, \x{67}, \u0067, \u{67}, \U00000067, \147, %67, &#103;,
// &#x67; and the five names of XML.
func anyEscape(out, b []byte) ([]byte, int) {
	switch {
	case len(b) < 3:
		return out, 0
	case b[0] == '%':
		n, size := number(b[1:min(len(b), 3)], 16)
		if size != 2 {
			return out, 0
		}
		return append(out, byte(n)), 3
	case b[0] == '&':
		return entity(out, b)
	case b[1] >= '0' && b[1] <= '3':
		n, size := number(b[1:min(len(b), 4)], 8)
		if size != 3 {
			return out, 0
		}
		return append(out, byte(n)), 4
	}
	return backslash(out, b)
}

// backslash reads the escapes whose letter tells how many digits follow.
func backslash(out, b []byte) ([]byte, int) {
	width := 0
	switch b[1] {
	case 'x':
		width = 2
	case 'u':
		width = 4
	case 'U':
		width = 8
	default:
		return out, 0
	}
	if b[2] == '{' {
		n, size := number(b[3:min(len(b), 11)], 16)
		if end := 3 + size; size > 0 && end < len(b) && b[end] == '}' {
			return utf8.AppendRune(out, rune(n)), end + 1
		}
		return out, 0
	}
	n, size := number(b[2:min(len(b), 2+width)], 16)
	switch {
	case size != width:
		return out, 0
	case width == 2:
		return append(out, byte(n)), 4
	}
	return utf8.AppendRune(out, rune(n)), 2 + width
}

// entity reads a character reference of HTML or XML.
func entity(out, b []byte) ([]byte, int) {
	end := bytes.IndexByte(b[:min(len(b), 12)], ';')
	if end < 3 {
		return out, 0
	}
	name := b[1:end]
	switch string(name) {
	case "lt":
		return append(out, '<'), end + 1
	case "gt":
		return append(out, '>'), end + 1
	case "amp":
		return append(out, '&'), end + 1
	case "quot":
		return append(out, '"'), end + 1
	case "apos":
		return append(out, '\''), end + 1
	}
	base, digits := 10, name[1:]
	if name[0] != '#' {
		return out, 0
	}
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	n, size := number(digits, base)
	if size == 0 || size != len(digits) {
		return out, 0
	}
	return utf8.AppendRune(out, rune(n)), end + 1
}

// quoted reads an escape of quoted-printable: "=3D", or "=" at the end of a line,
// which stands for nothing.
func quoted(out, b []byte) ([]byte, int) {
	switch {
	case len(b) > 1 && b[1] == '\n':
		return out, 2
	case len(b) > 2 && b[1] == '\r' && b[2] == '\n':
		return out, 3
	}
	n, size := number(b[1:min(len(b), 3)], 16)
	if size != 2 {
		return out, 0
	}
	return append(out, byte(n)), 3
}

// number reads the digits at the beginning of b, of which there are at most
// eight, and tells how many there are.
func number(b []byte, base int) (n uint32, size int) {
	const digits = "0123456789abcdef"
	for size < len(b) {
		d := strings.IndexByte(digits[:base], b[size]|0x20)
		if b[size] <= '9' {
			d = int(b[size]) - '0'
		}
		if d < 0 || d >= base {
			break
		}
		n = n*uint32(base) + uint32(d)
		size++
	}
	return n, size
}
