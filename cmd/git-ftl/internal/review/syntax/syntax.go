// Package syntax says what the parts of source lines are, so that they can be
// shown in colours. It knows some fifty languages by their file names.
//
// Text is hostile: it is bounded in size and in time, and what no language
// understands stays plain. Nothing is read before the first call.
//
// The languages in lexers are chroma's (v2.27.0, lexers/embedded, licence in
// COPYING); go.xml and markdown.xml are its own Marshal of lexers/go.go and
// lexers/markdown.go, without the languages inside their strings. Its package of
// them is not used, since it reads them all at the start of every program.
package syntax

import (
	"context"
	"embed"
	"io/fs"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

//go:embed lexers/*.xml
var lexers embed.FS

// Class is what a part of a line is.
type Class uint8

// The classes that a screen tells apart.
const (
	Plain Class = iota
	Comment
	Keyword
	Type
	Function
	String
	Number
	Tag // names of attributes, tags, keys and headings
	classes
)

// Classes is how many there are.
const Classes = int(classes)

// Span is the next part of a line.
type Span struct {
	Len   int // bytes
	Class Class
}

// Bounds of what is looked at: a lexer is a set of regular expressions, which a
// text can be made to slow down.
const (
	maxText = 1 << 20 // bytes
	maxLine = 4 << 10 // bytes, beyond which a file is not written by people
	maxTime = 2 * time.Second
)

// Highlighter is safe for concurrent use; its zero value is ready.
type Highlighter struct {
	once     sync.Once
	registry *chroma.LexerRegistry
}

// Lines parts lines of a file, which come without their ends, into spans. A line
// for which there are none, or not enough, is plain: all are where the language
// is unknown, the text too large or no UTF-8.
func (h *Highlighter) Lines(ctx context.Context, path string, lines []string) (spans [][]Span) {
	h.once.Do(h.load)
	lexer := h.registry.Match(path)
	if lexer == nil || !fits(lines) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	c := &cutter{lines: lines, spans: make([][]Span, len(lines))}
	defer func() {
		if recover() != nil { // of a lexer, which panics where its rules are at odds
			spans = c.spans
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, strings.Join(lines, "\n")+"\n")
	if err != nil {
		return nil
	}
	for t := next(); t != chroma.EOF && ctx.Err() == nil; t = next() {
		c.add(t.Value, classOf(t.Type))
	}
	return c.spans
}

// load reads the names of the languages; their rules are read when they are used.
func (h *Highlighter) load() {
	h.registry = chroma.NewLexerRegistry()
	names, _ := fs.Glob(lexers, "lexers/*.xml") // the pattern is a fixed one
	for _, name := range names {
		if lexer, err := chroma.NewXMLLexer(lexers, name); err == nil {
			h.registry.Register(lexer)
		}
	}
}

func fits(lines []string) bool {
	n := 0
	for _, line := range lines {
		n += len(line) + 1
		if len(line) > maxLine || n > maxText || !utf8.ValidString(line) {
			return false
		}
	}
	return n > 0
}

// cutter hands the tokens of a text out to its lines.
type cutter struct {
	lines []string
	spans [][]Span
	line  int
}

func (c *cutter) add(text string, class Class) {
	for first := true; text != "" || first; first = false {
		part, rest, ends := strings.Cut(text, "\n")
		if c.line >= len(c.lines) {
			return
		}
		if part != "" {
			c.span(len(part), class)
		}
		if ends {
			c.line++
		}
		text = rest
	}
}

func (c *cutter) span(n int, class Class) {
	spans := &c.spans[c.line]
	if last := len(*spans) - 1; last >= 0 && (*spans)[last].Class == class {
		(*spans)[last].Len += n
		return
	}
	*spans = append(*spans, Span{n, class})
}

// classOf sorts chroma's hundred types.
func classOf(t chroma.TokenType) Class {
	switch {
	case t.InCategory(chroma.Comment):
		return Comment
	case t == chroma.KeywordType, t == chroma.NameBuiltin, t == chroma.NameBuiltinPseudo, t == chroma.NameClass, t == chroma.NameException:
		return Type
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return Keyword
	case t.InSubCategory(chroma.NameFunction), t == chroma.NameDecorator:
		return Function
	case t.InSubCategory(chroma.LiteralString):
		return String
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.Literal, t == chroma.NameConstant:
		return Number
	case t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.NameProperty, t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return Tag
	}
	return Plain
}
