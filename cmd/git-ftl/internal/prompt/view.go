package prompt

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// view is a text laid out in the rows of a terminal, and where its cursor is.
type view struct {
	cols     int
	rows     []string
	widths   []int // of the rows, in columns
	row, col int
	height   int // rows of the terminal that it takes
}

// cell is how a character is shown and how many columns it takes.
func cell(r rune) (shown string, columns int) {
	switch {
	case r == '\t':
		return "    ", 4
	case escape.Unsafe(r):
		shown = escape.Text(string(r))
		return shown, len(shown)
	case unicode.In(r, unicode.Mn, unicode.Me):
		return string(r), 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return string(r), 2
	}
	return string(r), 1
}

// paper is a view that is being written.
type paper struct {
	view
	row strings.Builder
	at  int // columns of the row
}

// feed begins another row.
func (p *paper) feed() {
	p.rows, p.widths = append(p.rows, p.row.String()), append(p.widths, p.at)
	p.row.Reset()
	p.at = 0
}

// put writes a character, in the next row where this one has no room.
func (p *paper) put(r rune) {
	shown, columns := cell(r)
	if p.at+columns > p.cols {
		p.feed()
	}
	p.row.WriteString(shown)
	p.at += columns
}

// lay breaks a text into rows. Lines after the first stand below the label.
func lay(label string, text []rune, pos, cols int) view {
	p := paper{view: view{cols: max(cols, 8)}}
	for _, r := range label {
		p.put(r)
	}
	indent := min(p.at, p.cols/2)
	for i, r := range text {
		if i == pos {
			p.view.row, p.col = len(p.rows), p.at
		}
		if r != '\n' {
			p.put(r)
			continue
		}
		p.feed()
		for range indent {
			p.put(' ')
		}
	}
	if pos == len(text) {
		if p.at == p.cols {
			p.feed()
		}
		p.view.row, p.col = len(p.rows), p.at
	}
	p.feed()
	if p.col == p.cols { // before a character that has no room in this row
		p.view.row, p.col = p.view.row+1, 0
	}
	p.height = len(p.rows)
	return p.view
}

// clip keeps the rows around the cursor that a screen has room for.
func (v *view) clip(height int) {
	if height <= 0 || len(v.rows) <= height {
		return
	}
	top := min(max(0, v.row-height/2), len(v.rows)-height)
	v.rows, v.widths = v.rows[top:top+height], v.widths[top:top+height]
	v.row, v.height = v.row-top, height
}

// reflow guesses where things are once the terminal is as wide as cols: those of
// today break rows anew that are too long by then.
func (v *view) reflow(cols int) {
	cols = max(cols, 1)
	row, height := v.col/cols, 0
	for i, w := range v.widths {
		if i == v.row {
			row += height
		}
		height += 1 + max(0, w-1)/cols
	}
	v.row, v.height = row, height
}

// draw puts the text in place of what is shown; p.mu is held. Each row is cleared
// by itself: a terminal such as tmux would take the end of the whole screen for
// something to scroll back to.
func (p *Prompt) draw() {
	v := lay(p.label, p.line.text, p.line.pos, p.cols)
	v.clip(p.rows)
	var b strings.Builder
	up(&b, p.view.row)
	for i, row := range v.rows {
		if i > 0 {
			b.WriteString("\n")
		}
		if rest, ok := strings.CutPrefix(row, p.label); ok && i == 0 && p.Style != nil {
			row = p.Style(p.label) + rest
		}
		b.WriteString("\r\x1b[K" + row)
	}
	for range p.view.height - v.height {
		b.WriteString("\n\r\x1b[K")
	}
	up(&b, max(p.view.height, v.height)-1-v.row)
	b.WriteString("\r")
	if v.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", v.col)
	}
	p.view = v
	p.put(b.String())
}

func up(b *strings.Builder, rows int) {
	if rows > 0 {
		fmt.Fprintf(b, "\x1b[%dA", rows)
	}
}
