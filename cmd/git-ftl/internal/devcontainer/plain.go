package devcontainer

import "bytes"

// plain turns JSON with comments and trailing commas into JSON. Both become blanks,
// so that what stood beside them stays apart and an error names the right place.
func plain(data []byte) []byte {
	out := bytes.Clone(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	comma := -1 // one that nothing but blanks has followed
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma, i = -1, afterString(out, i)
		case bytes.HasPrefix(out[i:], []byte("//")):
			i = blank(out, i, "\n")
		case bytes.HasPrefix(out[i:], []byte("/*")):
			i = blank(out, i, "*/")
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
		default:
			if comma >= 0 && (c == '}' || c == ']') {
				out[comma] = ' '
			}
			if comma = -1; c == ',' {
				comma = i
			}
			i++
		}
	}
	return out
}

// afterString is the place after a string that begins at i.
func afterString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// blank writes blanks over a comment from i to its end, and gives the place after it.
func blank(text []byte, i int, end string) int {
	n := bytes.Index(text[i+2:], []byte(end))
	stop := len(text)
	if n >= 0 {
		stop = i + 2 + n + len(end)
	}
	for ; i < stop; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return stop
}
