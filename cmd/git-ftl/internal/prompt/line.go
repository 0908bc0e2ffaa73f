package prompt

import (
	"slices"
	"unicode"
)

// line is the text that is edited, and where the cursor stands in it.
type line struct {
	text  []rune
	pos   int
	taken []rune // what was cut last
	most  int    // characters that it may have
	over  bool   // it has lost some to that bound
}

// edit does what a key means for the text.
func (l *line) edit(k key) {
	switch k.name {
	case keyText:
		l.insert(k.r)
	case keyNewline:
		l.insert('\n')
	case keyBack:
		l.cut(1, 0)
	case keyDelete:
		l.cut(0, 1)
	case keyLeft:
		l.pos = max(l.pos-1, 0)
	case keyRight:
		l.pos = min(l.pos+1, len(l.text))
	case keyHome:
		l.pos = l.lineStart(l.pos)
	case keyLast:
		l.pos = l.lineEnd(l.pos)
	case keyWordLeft:
		l.pos -= l.wordLeft()
	case keyWordRight:
		l.pos += l.wordRight()
	case keyCutWord:
		l.take(l.wordLeft(), 0)
	case keyCutWordRight:
		l.take(0, l.wordRight())
	case keyCutLeft:
		l.take(l.pos-l.lineStart(l.pos), 0)
	case keyCutRight:
		l.take(0, l.lineEnd(l.pos)-l.pos)
	case keyYank:
		l.insert(l.taken...)
	}
}

func (l *line) insert(text ...rune) {
	if len(l.text)+len(text) > l.most {
		l.over = true
		return
	}
	l.text = slices.Insert(l.text, l.pos, text...)
	l.pos += len(text)
}

// set replaces the whole text.
func (l *line) set(text string) {
	l.text = []rune(text)
	l.pos = len(l.text)
}

// cut removes characters on both sides of the cursor, as many as there are.
func (l *line) cut(left, right int) (cut []rune) {
	from, to := max(l.pos-left, 0), min(l.pos+right, len(l.text))
	cut = slices.Clone(l.text[from:to])
	l.text = slices.Delete(l.text, from, to)
	l.pos = from
	return cut
}

// take is cut for text that may be wanted elsewhere.
func (l *line) take(left, right int) {
	if cut := l.cut(left, right); len(cut) > 0 {
		l.taken = cut
	}
}

func (l *line) lineStart(pos int) int {
	for pos > 0 && l.text[pos-1] != '\n' {
		pos--
	}
	return pos
}

func (l *line) lineEnd(pos int) int {
	for pos < len(l.text) && l.text[pos] != '\n' {
		pos++
	}
	return pos
}

// wordLeft counts the characters back to the beginning of a word.
func (l *line) wordLeft() int {
	i := l.pos
	for i > 0 && unicode.IsSpace(l.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(l.text[i-1]) {
		i--
	}
	return l.pos - i
}

// wordRight counts the characters on to the end of a word.
func (l *line) wordRight() int {
	i := l.pos
	for i < len(l.text) && unicode.IsSpace(l.text[i]) {
		i++
	}
	for i < len(l.text) && !unicode.IsSpace(l.text[i]) {
		i++
	}
	return i - l.pos
}

// vertical moves the cursor to another line of the text; false where there is
// none in that direction.
func (l *line) vertical(by int) bool {
	start, end := l.lineStart(l.pos), l.lineEnd(l.pos)
	column := l.pos - start
	switch {
	case by < 0 && start > 0:
		above := l.lineStart(start - 1)
		l.pos = min(above+column, start-1)
	case by > 0 && end < len(l.text):
		l.pos = min(end+1+column, l.lineEnd(end+1))
	default:
		return false
	}
	return true
}
