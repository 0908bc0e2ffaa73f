package surface

import (
	"bytes"
	"sort"
)

// understood is a configuration as its reader understands it: escapes read, lines
// that go on joined. at gives the place of each byte in the file, and of the end.
type understood struct {
	text  []byte
	at    []int
	lines []line
}

// line is one line of a text that was understood.
type line struct {
	start, end int  // without white space at either end
	comment    bool // as a whole
}

// understand reads the escapes of double-quoted YAML wherever they stand, and
// joins a line that ends in a backslash with the next. Text that never was such a
// string loses nothing that a rule asks for.
func understand(text []byte) understood {
	u := understood{text: make([]byte, 0, len(text)), at: make([]int, 0, len(text)+1)}
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			u.text, u.at = append(u.text, text[i]), append(u.at, i)
			i++
			continue
		}
		if n := joined(text[i+1:]); n > 0 {
			i += 1 + n
			continue
		}
		r, n := escaped(text[i+1:])
		for _, b := range []byte(string(r)) {
			u.text, u.at = append(u.text, b), append(u.at, i)
		}
		i += 1 + n
	}
	u.at = append(u.at, len(text))
	u.split()
	return u
}

// joined is the length of the line end and the indentation that follow a
// backslash, 0 if it ends no line.
func joined(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\n")):
		return len(text) - len(bytes.TrimLeft(text[1:], " \t"))
	case bytes.HasPrefix(text, []byte("\r\n")):
		return len(text) - len(bytes.TrimLeft(text[2:], " \t"))
	}
	return 0
}

func (u *understood) split() {
	at := 0
	for text := range bytes.Lines(u.text) {
		body := bytes.TrimSpace(text)
		start := at + len(text) - len(bytes.TrimLeft(text, " \t\r\n\v\f"))
		u.lines = append(u.lines, line{start, start + len(body), bytes.HasPrefix(body, []byte("#"))})
		at += len(text)
	}
}

// set is the text's lines.
func (u *understood) set() map[string]bool {
	set := map[string]bool{}
	for _, l := range u.lines {
		set[string(u.text[l.start:l.end])] = true
	}
	return set
}

// around returns the lines that hold a match, or, where these are longer than
// anybody reads, what is next to it. comment says that the first is a comment.
func (u *understood) around(start, end int) (text string, comment bool) {
	first, last := u.line(start), u.line(max(start, end-1))
	from, to := min(first.start, start), max(last.end, end)
	if to-from > maxLine {
		from, to = max(from, start-64), min(to, min(end, start+maxLine)+64)
	}
	return string(u.text[from:to]), first.comment
}

// line is the line that holds an offset.
func (u *understood) line(offset int) line {
	i := sort.Search(len(u.lines), func(i int) bool { return u.lines[i].start > offset })
	return u.lines[max(i-1, 0)]
}
