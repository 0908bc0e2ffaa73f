package decode

import "bytes"

// inWide undoes UTF-16 and UTF-32 of ASCII amid other bytes: characters with one or
// three NULs between them, in either order.
func inWide(text []byte) []Layer {
	layer := Layer{How: "UTF-16", step: 4}
	var buf run
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], 0)
		if n < 0 {
			break
		}
		at := i + n
		step := 1 + nuls(text[at:])
		i = at + step - 1
		if n == 0 || step != 2 && step != 4 {
			continue
		}
		for p := at - 1; p < len(text) && text[p] != 0; p += step {
			buf.add(text[p], p)
			if i = p + 1; nuls(text[i:]) != step-1 {
				break
			}
		}
		layer.keep(&buf)
		buf.reset()
	}
	return filled([]Layer{layer})
}

// nuls is how many NULs a text begins with; of more than four, five.
func nuls(text []byte) (n int) {
	for n < min(len(text), 5) && text[n] == 0 {
		n++
	}
	return n
}

// Plain is the ASCII of bytes that were read as something else, of which size bytes
// are left. Where it is in what is left is told roughly.
func Plain(raw []byte, size int) []Layer {
	layer := Layer{How: "its bytes", step: 4, size: size}
	var buf run
	for i := 0; i < len(raw); i++ {
		if c := raw[i]; c >= ' ' && c < 0x7f || c == '\t' || c == '\n' || c == '\r' {
			buf.add(c, i*size/len(raw))
			continue
		}
		layer.keep(&buf)
		buf.reset()
	}
	layer.keep(&buf)
	return filled([]Layer{layer})
}
