package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// complete goes on with the word before the cursor as far as every candidate
// does; again lists them.
func (p *Prompt) complete(again bool) {
	if p.Complete == nil {
		return
	}
	before := string(p.line.text[:p.line.pos])
	p.mu.Unlock() // it may take a while, and the terminal may change meanwhile
	from, all := p.Complete(before)
	p.mu.Lock()
	all = slices.DeleteFunc(all, func(c Candidate) bool { return !strings.HasPrefix(c.Word, before[from:]) })
	if len(all) == 0 {
		return
	}
	word := all[0].Word
	for _, c := range all[1:] {
		word = common(word, c.Word)
	}
	more := word[len(before)-from:]
	if len(all) == 1 && !strings.HasSuffix(word, "/") {
		more += " "
	}
	p.line.insert([]rune(more)...)
	if len(all) > 1 && more == "" {
		if p.tabbed = true; again {
			p.list(all)
		}
	}
}

// common is the longest beginning that two words share.
func common(a, b string) string {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return string(x[:n])
}

// list shows candidates below the text, which is drawn anew under them.
func (p *Prompt) list(all []Candidate) {
	const most = 40
	pos := p.line.pos
	p.line.pos = len(p.line.text)
	p.draw()
	p.line.pos = pos
	for _, c := range all[:min(len(all), most)] {
		text := fmt.Sprintf("  %-12s %s", c.Word, c.Help)
		p.put("\r\n" + fit(escape.Text(strings.ReplaceAll(text, "\t", " ")), p.cols))
	}
	if more := len(all) - most; more > 0 {
		p.put(fmt.Sprintf("\r\n  … %d more", more))
	}
	p.put("\r\n")
	p.view = view{}
}

// fit cuts a text to the columns of a row.
func fit(text string, cols int) string {
	at := 0
	for i, r := range text {
		_, columns := cell(r)
		if at += columns; at > cols {
			return text[:i]
		}
	}
	return strings.TrimRight(text, " ")
}
