package review

import (
	"fmt"
	"maps"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// kind is what a row of the document shows.
type kind uint8

const (
	prose kind = iota
	title
	fileRow
	hunkRow
	codeRow
	warning // what lint, tests or a reviewer say
	remark  // what the person says
)

// row is one line of the document. Where it has code it names lines of its hunk: in
// one column left is all there is; side by side left is the old file.
type row struct {
	kind        kind
	file, hunk  int // -1 for none
	left, right int // -1 for none
	text        string
}

// document is the whole change from top to bottom.
type document struct {
	rows    []row
	files   []int // rows where each begins; the first is what comes before all
	hunks   []int
	sizes   []size         // of the files of the change
	found   map[string]int // findings by path
	highest int            // number of a line
}

// size counts the lines of a file's change.
type size struct{ added, removed int }

// String writes it as git does.
func (s size) String() string { return fmt.Sprintf("+%d -%d", s.added, s.removed) }

// shape is what the rows depend on beside the change.
type shape struct {
	width  int
	split  bool
	method ansi.Method
}

// builder lays a document out.
type builder struct {
	document
	shape
	change Change
	hunked []hunk
	said   map[place]string
	byPath map[string][]Finding
	loose  map[int][]Finding // of the file at hand, by lines that have not been met yet
}

// place is a line of a hunk.
type place struct{ hunk, line int }

// layOut makes the rows of a change.
func layOut(c Change, hunks []hunk, d *Decisions, s shape) document {
	b := &builder{shape: s, change: c, hunked: hunks, said: map[place]string{}, byPath: map[string][]Finding{}}
	b.found = map[string]int{}
	for _, f := range c.Findings {
		b.byPath[f.Path] = append(b.byPath[f.Path], f)
		b.found[f.Path]++
	}
	lines := 0
	for i := range hunks {
		lines += 1 + len(hunks[i].lines)
	}
	b.rows = make([]row, 0, lines+lines/8+4*len(c.Files))
	for _, c := range d.Comments {
		if i := slices.IndexFunc(hunks, func(h hunk) bool { return h.key == c.Hunk }); i >= 0 {
			b.said[place{i, hunks[i].index(c.Line)}] = c.Text
		}
	}
	b.overview()
	next := 0
	for i := range c.Files {
		end := next
		for end < len(hunks) && hunks[end].file == i {
			end++
		}
		b.fileRows(i, next, end)
		next = end
	}
	return b.document
}

func (b *builder) add(r row) { b.rows = append(b.rows, r) }

// at is a row without code, of a file and a hunk or of none.
func at(k kind, file, hunk int) row { return row{kind: k, file: file, hunk: hunk, left: -1, right: -1} }

// maxProse bounds a text that is shown in words, in bytes.
const maxProse = 16 << 10

// say adds rows of text, broken to the width. What is no text of a person or a model,
// nor a program's output, is one line: a name with another in it would look like more
// than one statement.
func (b *builder) say(r row, indent, text string) {
	if r.kind == title || r.kind == warning {
		text = escape.Text(text)
	}
	if len(text) > maxProse {
		text = text[:maxProse] + " …"
	}
	for _, l := range wrap(text, b.width-gutter, b.method, indent) {
		r.text = l
		b.add(r)
	}
}

// overview is what is to be known before the first file.
func (b *builder) overview() {
	b.files = append(b.files, 0)
	c := b.change
	b.say(at(title, -1, -1), "", c.ID+"  "+c.About)
	for _, line := range c.Touched {
		b.say(at(warning, -1, -1), "! ", line)
	}
	b.blank(-1)
	b.say(at(prose, -1, -1), "  ", c.Task)
	for _, note := range c.Notes {
		b.say(at(warning, -1, -1), "", note)
	}
	if c.Tests.Status != "" {
		b.blank(-1)
		b.say(at(title, -1, -1), "", "tests: "+c.Tests.words())
		b.tests()
	}
	if c.Summary != "" {
		b.blank(-1)
		b.say(at(title, -1, -1), "", "review")
		b.say(at(prose, -1, -1), "  ", c.Summary)
	}
	if len(c.Findings) > 0 {
		b.blank(-1)
		words := "findings"
		if c.Blocked {
			words += ": this change cannot be applied as it is"
		}
		b.say(at(title, -1, -1), "", words)
		for _, f := range c.Findings {
			b.say(at(warning, -1, -1), "  ", f.Place()+"  "+f.words())
		}
	}
	b.blank(-1)
}

func (b *builder) blank(file int) { b.add(at(prose, file, -1)) }

func (v Verdict) words() string {
	if v.Detail == "" {
		return v.Status
	}
	return v.Status + ", " + v.Detail
}

// Place is the path, and the line where there is one; not escaped.
func (f Finding) Place() string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	return f.Path
}

func (f Finding) words() string { return fmt.Sprintf("%s %s: %s", f.Severity, f.Rule, f.Message) }

// fileRows adds a file with its hunks, begin to end.
func (b *builder) fileRows(i, begin, end int) {
	f := b.change.Files[i]
	b.files, b.sizes = append(b.files, len(b.rows)), append(b.sizes, sizeOf(b.hunked[begin:end]))
	b.add(at(fileRow, i, -1))
	if f.Summary != "" {
		b.say(at(prose, i, -1), "  ", f.Summary)
	}
	if f.Touched {
		b.say(at(warning, i, -1), "! ", "one of the project's own tests, or what can say which of them run")
	}
	if f.Tests.Status != "" {
		b.say(at(warning, i, -1), "  ", "tests: "+f.Tests.words())
	}
	b.loose = map[int][]Finding{}
	for _, x := range b.byPath[f.Path] {
		b.loose[x.Line] = append(b.loose[x.Line], x)
	}
	top := len(b.rows)
	for h := begin; h < end; h++ {
		b.hunkRows(h)
	}
	if len(b.loose) > 0 {
		b.looseRows(i, top, begin, end)
	}
	b.blank(i)
}

// looseRows puts the findings of the file, and of lines that are not left, above its
// hunks, begin to end, whose rows begin at top.
func (b *builder) looseRows(i, top, begin, end int) {
	below := slices.Clone(b.rows[top:])
	b.rows = b.rows[:top]
	for _, line := range slices.Sorted(maps.Keys(b.loose)) {
		for _, x := range b.loose[line] {
			b.say(at(warning, i, -1), "! ", x.Place()+"  "+x.words())
		}
	}
	for h := begin; h < end; h++ {
		b.hunks[h] += len(b.rows) - top
	}
	b.rows = append(b.rows, below...)
}

func sizeOf(hunks []hunk) (s size) {
	for _, h := range hunks {
		for _, l := range h.lines {
			switch l.op {
			case '+':
				s.added++
			case '-':
				s.removed++
			}
		}
	}
	return s
}

// hunkRows adds a hunk with what was said about it.
func (b *builder) hunkRows(n int) {
	h := &b.hunked[n]
	b.hunks = append(b.hunks, len(b.rows))
	b.add(at(hunkRow, h.file, n))
	b.remarks(n, -1)
	for i := 0; i < len(h.lines); {
		if !b.split || h.lines[i].op == ' ' || h.lines[i].op == 0 {
			b.code(n, i, i)
			i++
			continue
		}
		i = b.pairs(n, i)
	}
}

// pairs sets the removed lines from i on beside the added ones below them, and
// returns where they end.
func (b *builder) pairs(n, i int) int {
	lines := b.hunked[n].lines
	removed := i
	for i < len(lines) && lines[i].op == '-' {
		i++
	}
	added := i
	for i < len(lines) && lines[i].op == '+' {
		i++
	}
	for k := range max(added-removed, i-added) {
		left, right := removed+k, added+k
		if left >= added {
			left = -1
		}
		if right >= i {
			right = -1
		}
		b.code(n, left, right)
	}
	return i
}

// code adds a row of lines, and what is said about them.
func (b *builder) code(n, left, right int) {
	h := &b.hunked[n]
	b.add(row{kind: codeRow, file: h.file, hunk: n, left: left, right: right})
	for _, i := range sides(left, right) {
		l := h.lines[i]
		b.highest = max(b.highest, l.old, l.new)
		b.findings(n, l)
		b.remarks(n, i)
	}
}

// sides are the lines of a row.
func sides(left, right int) []int {
	switch {
	case left == right, right < 0:
		return []int{left}
	case left < 0:
		return []int{right}
	}
	return []int{left, right}
}

// findings adds those of a line.
func (b *builder) findings(n int, l line) {
	if l.new == 0 {
		return
	}
	for _, f := range b.loose[l.new] {
		b.say(at(warning, b.hunked[n].file, n), "! ", f.words())
	}
	delete(b.loose, l.new)
}

// remarks adds what the person said about a line.
func (b *builder) remarks(n, line int) {
	if said := b.said[place{n, line}]; said != "" {
		b.say(at(remark, b.hunked[n].file, n), "> ", said)
	}
}

// matches reports whether a search finds something in a row.
func (r row) matches(q query, c Change, hunks []hunk) bool {
	switch r.kind {
	case fileRow:
		return q.in(c.Files[r.file].Path)
	case hunkRow:
		return q.in(hunks[r.hunk].title())
	case codeRow:
		return slices.ContainsFunc(sides(r.left, r.right), func(i int) bool { return q.in(hunks[r.hunk].lines[i].text) })
	}
	return q.in(r.text)
}
