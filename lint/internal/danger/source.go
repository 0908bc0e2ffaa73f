package danger

import (
	"bytes"
	"strings"
)

// The kinds of a byte of source.
const (
	code byte = iota
	quoted
	comment
)

// source is a text with its comments blanked, and what each byte of it is.
type source struct {
	lang lang
	text []byte
	kind []byte
}

// read tells comments and strings from code, as well as that goes without the
// language's grammar. What is not closed is code.
func read(l lang, text []byte) *source {
	s := &source{lang: l, text: bytes.Clone(text), kind: make([]byte, len(text))}
	if l == page {
		s.lang, text = script, s.scripts()
	}
	l = s.lang
	x := lexer{syntax: l.syntax(), text: text}
	opens := x.opens()
	for i := 0; i < len(text); {
		if !opens[text[i]] {
			i++
			continue
		}
		end, kind := x.token(i)
		if kind != code {
			s.mark(i, end, kind)
		}
		i = end
	}
	return s
}

// scripts blanks what of a page is no script, and returns what is left.
func (s *source) scripts() []byte {
	at := 0
	for at < len(s.text) {
		open := index(s.text, at, "<script")
		body := open + bytes.IndexByte(s.text[open:], '>') + 1
		s.mark(at, body, comment)
		at = index(s.text, body, "</script")
	}
	return bytes.Clone(s.text)
}

// index is where a word in small letters stands, in any case; the end if nowhere.
func index(text []byte, from int, word string) int {
	for i := from; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], word[0])
		if n < 0 {
			return len(text)
		}
		if i += n; len(text)-i >= len(word) && bytes.EqualFold(text[i:i+len(word)], []byte(word)) {
			return i
		}
	}
	return len(text)
}

// mark gives a token its kind. The quotes of a string are code.
func (s *source) mark(start, end int, kind byte) {
	for i := start; i < end; i++ {
		s.kind[i] = kind
		if kind == comment && s.text[i] != '\n' {
			s.text[i] = ' '
		}
	}
	if kind == quoted {
		s.kind[start], s.kind[end-1] = code, code
	}
}

// lexer goes over a text once: of what opened and was never closed it remembers
// up to where it looked.
type lexer struct {
	syntax
	text   []byte
	closed struct{ quote, triple, block [128]int } // no end before here, by the opening character
}

// opens are the bytes that can begin anything but code.
func (x *syntax) opens() (set [256]bool) {
	for _, mark := range x.comment {
		set[mark[0]] = true
	}
	for i := range len(x.quotes) {
		set[x.quotes[i]] = true
	}
	set['/'] = set['/'] || x.block
	set['\''] = set['\''] || x.char || x.triple
	set['"'] = set['"'] || x.triple
	return set
}

// token returns the end and the kind of what begins at i.
func (x *lexer) token(i int) (end int, kind byte) {
	c := x.text[i]
	if x.comments(x.text, i) {
		if n := bytes.IndexByte(x.text[i:], '\n'); n >= 0 {
			return i + n, comment
		}
		return len(x.text), comment
	}
	switch {
	case x.block && bytes.HasPrefix(x.text[i:], []byte("/*")):
		if end := x.find(i, "/*", "*/", &x.closed.block[c]); end > 0 {
			return end, comment
		}
	case x.triple && (bytes.HasPrefix(x.text[i:], []byte(`"""`)) || bytes.HasPrefix(x.text[i:], []byte("'''"))):
		mark := string(x.text[i : i+3])
		if end := x.find(i, mark, mark, &x.closed.triple[c]); end > 0 {
			return end, documents(x.text[:i])
		}
		return i + 3, code
	case x.char && c == '\'':
		return charEnd(x.text, i), code
	case strings.IndexByte(x.quotes, c) >= 0 && i >= x.closed.quote[c]:
		return x.stringEnd(i)
	}
	return i + 1, code
}

// find returns the end of what open opens at i and shut closes, 0 if nothing does.
func (x *lexer) find(i int, open, shut string, none *int) int {
	if i < *none {
		return 0
	}
	if n := bytes.Index(x.text[i+len(open):], []byte(shut)); n >= 0 {
		return i + len(open) + n + len(shut)
	}
	*none = len(x.text)
	return 0
}

// stringEnd returns the end of the string that begins at i.
func (x *lexer) stringEnd(i int) (end int, kind byte) {
	c := x.text[i]
	long := strings.IndexByte(x.long, c) >= 0
	raw := strings.IndexByte(x.raw, c) >= 0
	j := i + 1
	for ; j < len(x.text) && (long || x.text[j] != '\n'); j++ {
		switch {
		case x.text[j] == '\\' && !raw:
			j++
		case x.text[j] == c:
			return j + 1, quoted
		}
	}
	x.closed.quote[c] = j
	return i + 1, code
}

// comments reports whether a comment to the end of the line begins at i.
func (x syntax) comments(text []byte, i int) bool {
	for _, mark := range x.comment {
		if text[i] == mark[0] && bytes.HasPrefix(text[i:], []byte(mark)) {
			inner := bytes.HasPrefix(text[i:], []byte("#{")) // Ruby's, in a string
			return !inner && (!x.spaced || i == 0 || text[i-1] <= ' ')
		}
	}
	return false
}

// documents tells a string that stands alone, which is documentation, from one
// that is used.
func documents(before []byte) byte {
	before = bytes.TrimRight(before[max(0, len(before)-256):], " \t")
	if len(before) == 0 || before[len(before)-1] == '\n' {
		return comment
	}
	return quoted
}

// charEnd is the end of a character literal. An apostrophe that begins none, as
// that of a lifetime, is alone.
func charEnd(text []byte, i int) int {
	for j := i + 1; j < min(len(text), i+12) && text[j] != '\n'; j++ {
		switch text[j] {
		case '\\':
			j++
		case '\'':
			return j + 1
		}
	}
	return i + 1
}
