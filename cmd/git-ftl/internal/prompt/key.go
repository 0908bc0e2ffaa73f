package prompt

import (
	"bytes"
	"unicode/utf8"
)

// key is one key, or a character of a paste.
type key struct {
	name keyName
	r    rune // of keyText and while pasting
}

type keyName int

const (
	keyText keyName = iota // a character
	keyNone                // one that means nothing here
	keyEnter
	keyNewline // a new line of the same text
	keyTab
	keyBack
	keyDelete
	keyLeft
	keyRight
	keyUp
	keyDown
	keyHome
	keyLast // the end of the line
	keyWordLeft
	keyWordRight
	keyCutLeft
	keyCutRight
	keyCutWord
	keyCutWordRight
	keyYank
	keyDrop
	keyEnd // of input, or the character at the cursor deleted
	keyClear
	keySuspend
	keySearch
	keyPaste
	keyPasted
)

// next takes the first key off data; n is 0 where more of it has to come.
func next(data []byte, pasting bool) (k key, n int) {
	const pasted = "\x1b[201~"
	switch {
	case pasting && bytes.HasPrefix(data, []byte(pasted)):
		return key{name: keyPasted}, len(pasted)
	case pasting && bytes.HasPrefix([]byte(pasted), data):
		return key{}, 0
	case !pasting && data[0] == 0x1b:
		return escaped(data)
	case !pasting && (data[0] < ' ' || data[0] == 0x7f):
		return key{name: control(data[0])}, 1
	case !utf8.FullRune(data):
		return key{}, 0
	}
	r, n := utf8.DecodeRune(data)
	return key{r: r}, n
}

// control gives the meaning of a control character, as in every shell.
func control(b byte) keyName {
	names := map[byte]keyName{
		1: keyHome, 2: keyLeft, 3: keyDrop, 4: keyEnd, 5: keyLast, 6: keyRight, 8: keyBack, 9: keyTab, 10: keyEnter,
		11: keyCutRight, 12: keyClear, 13: keyEnter, 14: keyDown, 16: keyUp, 18: keySearch, 21: keyCutLeft, 23: keyCutWord,
		25: keyYank, 26: keySuspend, 0x7f: keyBack,
	}
	if name, ok := names[b]; ok {
		return name
	}
	return keyNone
}

// maxSequence is the length of the longest sequence of a key, in bytes.
const maxSequence = 32

// escaped reads a key that begins with an escape.
func escaped(data []byte) (key, int) {
	if len(data) == 1 {
		return key{}, 0
	}
	switch data[1] {
	case '[', 'O':
		return sequence(data)
	case '\r', '\n':
		return key{name: keyNewline}, 2
	case 'b':
		return key{name: keyWordLeft}, 2
	case 'f':
		return key{name: keyWordRight}, 2
	case 'd':
		return key{name: keyCutWordRight}, 2
	case 0x7f, 8:
		return key{name: keyCutWord}, 2
	}
	if data[1] < ' ' { // the escape was a key of its own
		return key{name: keyNone}, 1
	}
	return key{name: keyNone}, 2
}

// sequence reads ESC [ parameters letter, or ESC O letter.
func sequence(data []byte) (key, int) {
	i := 2
	for i < len(data) && data[i] >= 0x20 && data[i] < 0x40 {
		if i++; i == maxSequence {
			return key{name: keyNone}, i
		}
	}
	if i == len(data) {
		return key{}, 0
	}
	params, last := string(data[2:i]), data[i]
	if last != '~' {
		return key{name: lettered(params, last)}, i + 1
	}
	names := map[string]keyName{
		"1": keyHome, "3": keyDelete, "4": keyLast, "7": keyHome, "8": keyLast, "200": keyPaste,
		"3;3": keyCutWordRight, "3;5": keyCutWordRight,
	}
	if name, ok := names[params]; ok {
		return key{name: name}, i + 1
	}
	return key{name: keyNone}, i + 1
}

func lettered(params string, last byte) keyName {
	wide := params == "1;3" || params == "1;5" // with Alt or Ctrl
	switch {
	case last == 'C' && wide:
		return keyWordRight
	case last == 'D' && wide:
		return keyWordLeft
	}
	names := map[byte]keyName{'A': keyUp, 'B': keyDown, 'C': keyRight, 'D': keyLeft, 'H': keyHome, 'F': keyLast}
	if name, ok := names[last]; ok {
		return name
	}
	return keyNone
}
