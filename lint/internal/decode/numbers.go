package decode

// maxApart is how much may stand between two numbers of a row, as in
// "String.fromCharCode(103) + String.fromCharCode(104)".
const maxApart = 32

// numbers is rows of numbers of characters: [103, 104], {0x67, 0x68},
// chr(103).chr(104).
type numbers struct {
	Layer
	buf  run
	done int // behind the last number
}

// meet takes a digit.
func (n *numbers) meet(text []byte, i int) {
	if i < n.done || i > 0 && inWord(text[i-1]) {
		return
	}
	end := wordEnd(text, i)
	c, ok := byteNumber(text[i:end])
	if !ok || i-n.done > maxApart {
		n.end()
	}
	if ok {
		n.buf.add(c, i)
	}
	n.done = end
}

func (n *numbers) end() {
	n.keep(&n.buf)
	n.buf.reset()
}

func wordEnd(text []byte, i int) int {
	for i < len(text) && inWord(text[i]) {
		i++
	}
	return i
}

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// byteNumber reads a number up to 255, decimal, hex or binary, with what a
// language puts behind it to tell its type.
func byteNumber(word []byte) (n byte, ok bool) {
	base := 10
	if len(word) > 2 && word[0] == '0' {
		switch word[1] | 0x20 {
		case 'x':
			base, word = 16, word[2:]
		case 'b':
			base, word = 2, word[2:]
		}
	}
	value, size := number(word[:min(len(word), 8)], base)
	return byte(value), size > 0 && value <= 255 && (size == len(word) || !digit(word[size]))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
