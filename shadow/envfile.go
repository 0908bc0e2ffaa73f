package shadow

import (
	"bytes"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Line is an assignment of an env file, or a place that could not be read.
// Several lines of a file may belong to it.
type Line struct {
	Number   int      // of the first line, from 1
	Name     string   // "" where the line could not be read
	Value    Secret   // as compose-go reads it, without expansion
	Readings []Secret // what other readers make of it, without Value; of a bad line its text
	Plain    bool     // the value is no secret and stays as it is
	Shadow   string   // what stands for the value; "" where Plain or bad
}

// Bad reports whether the line could not be read. Nothing of its text is shown
// anywhere.
func (l Line) Bad() bool { return l.Name == "" }

// ParseEnv reads the assignments of an env file: export, CRLF, a byte order
// mark, quotes of three kinds over several lines, comments, "KEY: value", keys
// of PEM without quotes. A line that cannot be read costs itself alone.
func ParseEnv(file []byte) []Line {
	var lines []Line
	for _, s := range segments(file) {
		if s.kind != comment {
			lines = append(lines, s.line())
		}
	}
	return lines
}

// Shadowed writes an env file for a sandbox: the same names, order, comments and
// lines, with shadowOf in place of every value that is a secret by name or looks, or
// whose name the user chose, and says what each line became. What reads like a secret in a comment is replaced as well; a
// line that cannot be read becomes a comment that says so.
func Shadowed(file []byte, chosen func(name string) bool, shadowOf func(name, value string) string) ([]byte, []Line) {
	lines := ParseEnv(file)
	for i, l := range lines {
		if l.Plain && chosen(l.Name) && !l.Value.IsZero() {
			l.Plain, lines[i].Plain = false, false
		}
		if !l.Plain && !l.Bad() {
			lines[i].Shadow = shadowOf(l.Name, l.Value.Reveal())
		}
	}
	w := envWriter{shadowOf: shadowOf, known: lines}
	var out bytes.Buffer
	i := 0
	for _, s := range segments(file) {
		switch s.kind {
		case comment:
			out.WriteString(w.comment(s.raw))
			continue
		case bad:
			out.WriteString(unread + lineEnds(s.raw))
		case assignment:
			out.WriteString(w.assignment(s, lines[i]))
		}
		i++
	}
	return out.Bytes(), lines
}

// Added gives the names that one env file assigns and an earlier one does not,
// in order.
func Added(before, after []byte) []string {
	var names []string
	had := ParseEnv(before)
	for _, l := range ParseEnv(after) {
		if !l.Bad() && !slices.Contains(names, l.Name) && !slices.ContainsFunc(had, func(h Line) bool { return h.Name == l.Name }) {
			names = append(names, l.Name)
		}
	}
	return names
}

// segment is a run of whole lines: an assignment, comments and blank lines, or
// what could not be read. All of them together are the file.
type segment struct {
	kind   segmentKind
	number int
	raw    string // with its line ends

	name  string
	head  string // up to the value, quote left out
	quote byte   // 0, ' " or `
	value string // as it is written, between the quotes
	tail  string // behind the value, quote left out
}

type segmentKind int

const (
	comment segmentKind = iota
	assignment
	bad
)

// assigned finds the name. What follows may be on several lines.
var assigned = lazyregexp.New(`^([ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.\[\]-]*)[ \t]*(?:=|:(?:[ \t]|$))[ \t]*)`)

// inherited is a name without a value, taken from where the file is read.
// Small letters could be a value that lost its name.
var inherited = lazyregexp.New(`^[ \t]*(?:export[ \t]+)?[A-Z_][A-Z0-9_]*[ \t]*$`)

func segments(file []byte) []segment {
	var all []segment
	text, number := string(file), 1
	if strings.HasPrefix(text, "\ufeff") {
		all = append(all, segment{raw: "\ufeff", number: 1})
		text = text[len("\ufeff"):]
	}
	for text != "" {
		s := next(text)
		s.number = number
		number += strings.Count(s.raw, "\n")
		text = text[len(s.raw):]
		all = append(all, s)
	}
	return all
}

// next takes one segment off the text.
func next(text string) segment {
	first := firstLine(text)
	bare := strings.TrimRight(first, "\r\n")
	trimmed := strings.TrimSpace(bare)
	if trimmed == "" || trimmed[0] == '#' {
		return segment{kind: comment, raw: first}
	}
	if inherited.MatchString(bare) && !looksRandom(trimmed) {
		return segment{kind: comment, raw: first}
	}
	m := assigned.FindStringSubmatch(bare)
	if m == nil || looksRandom(m[2]) {
		return segment{kind: bad, raw: first}
	}
	s := segment{kind: assignment, head: m[1], name: m[2]}
	rest := text[len(m[1]):]
	switch {
	case rest != "" && strings.IndexByte("'\"`", rest[0]) >= 0:
		return s.quoted(rest, first)
	case strings.HasPrefix(rest, "-----BEGIN "):
		return s.unquotedKey(rest)
	}
	return s.unquoted(bare[len(m[1]):], first)
}

// firstLine is the first line with its end.
func firstLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// lineEnds are the ends of the lines of a text, without the lines.
func lineEnds(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return r
		}
		return -1
	}, text)
}

// quoted reads up to the closing quote and the end of its line. Without one the
// first line is bad, and reading goes on behind it; so it is where the quote that
// closes on a later line has more than a comment behind it, as one has that opens
// another value.
func (s segment) quoted(rest, first string) segment {
	s.quote = rest[0]
	end := closing(rest)
	if end < 0 {
		return segment{kind: bad, raw: first}
	}
	s.value = rest[1:end]
	s.tail = firstLine(rest[end+1:])
	s.raw = s.head + rest[:end+1] + s.tail
	if strings.Contains(s.value, "\n") && !s.plainBehind() {
		return segment{kind: bad, raw: first}
	}
	return s
}

// closing is the place of the quote that ends a quoted value, which begins with
// one; -1 without.
func closing(rest string) int {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && rest[0] != '`':
			i++
		case rest[i] == rest[0]:
			return i
		}
	}
	return -1
}

// unquotedKey takes a PEM block that nobody quoted.
func (s segment) unquotedKey(rest string) segment {
	_, behind, ok := strings.Cut(rest, "-----END ")
	s.raw = firstLine(s.head + rest)
	if ok {
		s.raw = s.head + rest[:len(rest)-len(behind)] + firstLine(behind)
	}
	s.value = strings.TrimRight(s.raw[len(s.head):], " \t\r\n")
	s.tail = s.raw[len(s.head)+len(s.value):]
	return s
}

// unquoted takes the rest of the line; a comment begins with # behind a blank.
func (s segment) unquoted(rest, first string) segment {
	value := rest
	if i := strings.Index(rest, " #"); i >= 0 {
		value = rest[:i]
	}
	if strings.HasPrefix(rest, "#") && strings.HasSuffix(s.head, " ") {
		value = ""
	}
	s.raw, s.value = first, strings.TrimRight(value, " \t")
	s.tail = first[len(s.head)+len(s.value):]
	return s
}

func (s segment) line() Line {
	if s.kind == bad {
		text := strings.TrimSpace(s.raw)
		_, value, _ := strings.Cut(text, "=")
		return Line{Number: s.number, Readings: secrets(text, strings.TrimSpace(value), strings.Trim(strings.TrimSpace(value), "'\"`"))}
	}
	value := s.injected()
	l := Line{Number: s.number, Name: s.name, Value: NewSecret(value), Readings: s.readings(value)}
	l.Plain = isPlain(s.name, value) && s.plainBehind()
	return l
}

// plainBehind reports whether what stands behind the value is a comment or
// nothing. Other readers take it for a part of the value.
func (s segment) plainBehind() bool {
	behind := strings.TrimSpace(s.tail)
	return behind == "" || behind[0] == '#' && strings.TrimLeft(s.tail, " \t") != s.tail
}

// secrets wraps texts, without empty ones.
func secrets(texts ...string) []Secret {
	var all []Secret
	for i, t := range texts {
		if t != "" && !slices.Contains(texts[:i], t) {
			all = append(all, NewSecret(t))
		}
	}
	return all
}
