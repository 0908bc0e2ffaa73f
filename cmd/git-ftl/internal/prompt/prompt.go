// Package prompt reads what a person types at a terminal: one text at a time, of
// one line or several, with editing, history and completion.
//
// It reads nothing while no text is asked for, so that a pager or an editor can
// have the terminal in between. What is typed or pasted never steers the
// terminal: it is shown escaped. It draws by the sequences that every terminal of
// today knows, and asks the terminal for nothing.
package prompt

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
)

// Candidate is a way to go on with what is typed.
type Candidate struct {
	Word string // in place of the word before the cursor
	Help string // shown beside it where there are several
}

// Prompt reads texts. In and Out are a terminal in raw mode whenever Read runs.
// Its fields are set by the caller before the first Read.
type Prompt struct {
	In       io.Reader
	Out      io.Writer
	Size     func() (cols, rows int)                         // of the terminal, in characters; 0 where it cannot tell
	History  *History                                        // nil keeps none
	Complete func(before string) (from int, all []Candidate) // gets the text before the cursor, and says from which byte on its candidates stand; nil knows none
	Typing   func()                                          // told of the first key of each text; may be nil
	Suspend  func()                                          // stops the process until it may go on; nil where no terminal can
	Style    func(label string) string                       // adds colour to a label; nil for none

	left []byte // what was read after the end of the last text

	mu         sync.Mutex // of all below
	cols, rows int        // of the terminal
	label      string
	line       line
	pasting    bool
	carriage   bool // the last byte of a paste was a carriage return
	recall     recall
	tabbed     bool // the last key was a Tab that could not decide
	view       view // what the terminal shows
	reading    bool
	most       int // characters of a text; 0 for maxText
}

// maxText bounds a text, in characters: each key draws all of it anew.
const maxText = 1 << 20

// ErrLong says that a text is longer than a prompt takes.
var ErrLong = errors.New("the text is longer than 1,048,576 characters")

// errOver ends the handling of keys: the text is whole.
var errOver = errors.New("the text is whole")

// Sequences that ask a terminal to mark what is pasted.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// Read shows the label and returns the next text, which may have several lines.
// Errors: ErrLong, io.EOF at Ctrl-D where nothing is typed, and what the terminal
// says.
func (p *Prompt) Read(label string) (string, error) {
	p.begin(label)
	defer p.end()
	buf := make([]byte, 4096)
	data, typed := p.left, false
	for {
		if len(data) > 0 && !typed && p.Typing != nil {
			typed = true
			p.Typing()
		}
		rest, err := p.feed(data)
		if err != nil {
			p.left = slices.Clone(rest)
			return p.finish(err)
		}
		take := 1 // what follows the text is for whatever reads next
		if p.pasting {
			take = len(buf)
		}
		n, err := p.In.Read(buf[:take])
		if n == 0 && err != nil {
			return "", err
		}
		data = append(slices.Clone(rest), buf[:n]...)
	}
}

// Resized draws the text anew where the terminal has another size by now. It may
// be called at any time.
func (p *Prompt) Resized() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading && p.measure() {
		p.draw()
	}
}

// measure asks for the terminal's size, and reports whether it is another.
func (p *Prompt) measure() bool {
	cols, rows := 0, 0
	if p.Size != nil {
		cols, rows = p.Size()
	}
	if cols <= 0 {
		cols = 80
	}
	if cols == p.cols && rows == p.rows {
		return false
	}
	p.cols, p.rows = cols, rows
	p.view.reflow(cols)
	return true
}

func (p *Prompt) begin(label string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label, p.tabbed, p.pasting = label, false, false
	p.drop()
	p.view, p.reading = view{}, true
	p.measure()
	p.put(pasteOn)
	p.draw()
}

func (p *Prompt) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = false
	p.put(pasteOff)
}

// finish leaves the text as it stands, and the cursor below it.
func (p *Prompt) finish(err error) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.pos = len(p.line.text)
	p.draw()
	p.put("\r\n")
	if !errors.Is(err, errOver) {
		return "", err
	}
	text := string(p.line.text)
	if p.History != nil && strings.TrimSpace(text) != "" {
		p.History.Add(text)
	}
	return text, nil
}

// feed handles the keys in data and draws what came of them. It returns what is
// not a whole key yet, or, with an error, what follows the end.
func (p *Prompt) feed(data []byte) (rest []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.measure()
	for len(data) > 0 && err == nil {
		k, n := next(data, p.pasting)
		if n == 0 {
			break
		}
		data = data[n:]
		err = p.handle(k)
	}
	if err == nil && !p.pasting {
		p.draw()
	}
	return data, err
}

func (p *Prompt) handle(k key) error {
	if p.pasting {
		p.paste(k)
		return nil
	}
	tabbed := p.tabbed
	p.tabbed = false
	switch k.name {
	case keyEnter:
		if p.line.over {
			return ErrLong
		}
		return errOver
	case keyEnd: // of input
		if len(p.line.text) == 0 {
			return io.EOF
		}
		p.line.cut(0, 1)
	case keyDrop:
		p.drop()
	case keyTab:
		p.complete(tabbed)
	case keySuspend:
		p.suspend()
	case keyClear:
		p.put("\x1b[H\x1b[2J")
		p.view = view{}
	case keyPaste:
		p.pasting, p.carriage = true, false
	case keyUp, keyDown, keySearch:
		p.travel(k.name)
	default:
		p.recall.seek = false
		p.line.edit(k)
	}
	return nil
}

// drop begins the text anew.
func (p *Prompt) drop() {
	p.line, p.recall = line{most: p.most}, recall{}
	if p.most == 0 {
		p.line.most = maxText
	}
}

// paste takes what is pasted as text, whatever it is; the ends of its lines may
// be any.
func (p *Prompt) paste(k key) {
	carriage := p.carriage
	p.carriage = false
	switch {
	case k.name == keyPasted:
		p.pasting = false
	case k.r == '\r':
		p.line.insert('\n')
		p.carriage = true
	case k.r == '\n' && carriage:
	case k.r == '\n', k.r == '\t', k.r >= ' ' && k.r != 0x7f:
		p.line.insert(k.r)
	}
}

// suspend gives the terminal away for a while.
func (p *Prompt) suspend() {
	if p.Suspend == nil {
		return
	}
	p.draw()
	p.put(pasteOff + "\r\n")
	p.reading = false // the terminal is another's
	p.mu.Unlock()
	p.Suspend()
	p.mu.Lock()
	p.view, p.reading = view{}, true
	p.put(pasteOn)
}

func (p *Prompt) put(text string) { _, _ = io.WriteString(p.Out, text) } // a terminal that is gone fails the next Read
