package registry

import (
	"strconv"
	"strings"
)

// tomlEntry is one value of a TOML document: a text, number or word has one
// value, a list of them any number. A table in a list has its number, from 0, in
// the path.
type tomlEntry struct {
	path   []string
	values []string
	line   int
}

// tomlReader reads as much of TOML v1.0.0 as configuration of registries uses.
type tomlReader struct {
	text    string
	at      int
	line    int
	depth   int
	table   []string
	lists   map[string]int // tables in a list so far
	entries []tomlEntry
}

// maxTables bounds how deep tables and lists lie in each other.
const maxTables = 16

// parseTOML reads a document. A line other than 0 is where it could not go on;
// then nothing of the document counts.
func parseTOML(text string) ([]tomlEntry, int) {
	t := &tomlReader{text: text, line: 1, lists: map[string]int{}}
	for {
		t.space(true)
		if t.at == len(t.text) {
			return t.entries, 0
		}
		ok := false
		if t.text[t.at] == '[' {
			ok = t.header()
		} else {
			ok = t.pair(t.table)
		}
		if !ok || !t.lineEnd() {
			return nil, t.line
		}
	}
}

// space skips blanks and, with lines, line ends and comments.
func (t *tomlReader) space(lines bool) {
	for ; t.at < len(t.text); t.at++ {
		switch c := t.text[t.at]; {
		case c == ' ' || c == '\t':
		case lines && c == '\n':
			t.line++
		case lines && c == '\r':
		case lines && c == '#':
			for t.at+1 < len(t.text) && t.text[t.at+1] != '\n' {
				t.at++
			}
		default:
			return
		}
	}
}

// lineEnd reports whether nothing but a comment follows on the line.
func (t *tomlReader) lineEnd() bool {
	t.space(false)
	return t.at == len(t.text) || strings.IndexByte("\r\n#", t.text[t.at]) >= 0
}

// take goes over a text that must follow.
func (t *tomlReader) take(s string) bool {
	if !strings.HasPrefix(t.text[t.at:], s) {
		return false
	}
	t.at += len(s)
	return true
}

// header reads [table] or [[list of tables]].
func (t *tomlReader) header() bool {
	closing := "]"
	t.at++
	if t.take("[") {
		closing = "]]"
	}
	key, ok := t.key()
	if !ok || !t.take(closing) {
		return false
	}
	if closing == "]]" {
		name := strings.Join(key, "\x00")
		key = append(key, strconv.Itoa(t.lists[name]))
		t.lists[name]++
	}
	t.table = key
	return true
}

// key reads a.b."c", and the blanks behind it.
func (t *tomlReader) key() ([]string, bool) {
	var all []string
	for {
		t.space(false)
		part, ok := t.keyPart()
		if !ok || len(all) == maxTables {
			return nil, false
		}
		all = append(all, part)
		t.space(false)
		if !t.take(".") {
			return all, true
		}
	}
}

func (t *tomlReader) keyPart() (string, bool) {
	if t.at < len(t.text) && (t.text[t.at] == '"' || t.text[t.at] == '\'') {
		return t.quoted()
	}
	return t.bare("_-")
}

// bare reads letters, digits and those.
func (t *tomlReader) bare(others string) (string, bool) {
	start := t.at
	for ; t.at < len(t.text); t.at++ {
		c := t.text[t.at]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			break
		}
	}
	return t.text[start:t.at], t.at > start
}

// pair reads key = value below a table.
func (t *tomlReader) pair(table []string) bool {
	line := t.line
	key, ok := t.key()
	if !ok || !t.take("=") {
		return false
	}
	t.space(false)
	full := append(append([]string(nil), table...), key...)
	if len(full) <= maxTables && t.take("{") {
		return t.inline(full)
	}
	values, ok := t.value(full)
	if !ok || len(full) > maxTables {
		return false
	}
	t.entries = append(t.entries, tomlEntry{full, values, line})
	return true
}

// inline reads the rest of { key = value, … }.
func (t *tomlReader) inline(table []string) bool {
	for {
		t.space(false)
		if t.take("}") {
			return true
		}
		if !t.pair(table) {
			return false
		}
		t.space(false)
		if !t.take(",") {
			return t.take("}")
		}
	}
}

// value reads a text, a list, or a word.
func (t *tomlReader) value(path []string) ([]string, bool) {
	if t.at == len(t.text) {
		return nil, false
	}
	switch t.text[t.at] {
	case '[':
		return t.list(path)
	case '"', '\'':
		s, ok := t.quoted()
		return []string{s}, ok
	}
	s, ok := t.bare("_-+.:")
	return []string{s}, ok
}

// list reads [ … ], over any number of lines. Lists in a list become one.
func (t *tomlReader) list(path []string) ([]string, bool) {
	if t.depth++; t.depth > maxTables {
		return nil, false
	}
	defer func() { t.depth-- }()
	t.at++
	all := []string{}
	for number := 0; ; number++ {
		t.space(true)
		if t.take("]") {
			return all, true
		}
		values, ok := t.element(path, number)
		if !ok {
			return nil, false
		}
		all = append(all, values...)
		t.space(true)
		if !t.take(",") {
			return all, t.take("]")
		}
	}
}

// element reads one of a list: a value, or a table that gets its number.
func (t *tomlReader) element(path []string, number int) ([]string, bool) {
	if len(path) < maxTables && t.take("{") {
		return nil, t.inline(append(append([]string(nil), path...), strconv.Itoa(number)))
	}
	return t.value(path)
}

// quoted reads a text in one or three quotes of either kind.
func (t *tomlReader) quoted() (string, bool) {
	quote := t.text[t.at : t.at+1]
	long := strings.Repeat(quote, 3)
	if strings.HasPrefix(t.text[t.at:], long) {
		return t.long(long)
	}
	t.at++
	start := t.at
	for ; t.at < len(t.text) && t.text[t.at] != '\n'; t.at++ {
		switch {
		case t.text[t.at] == quote[0]:
			t.at++
			return unquoteTOML(t.text[start:t.at-1], quote)
		case t.text[t.at] == '\\' && quote == `"`:
			t.at++
			if t.at < len(t.text) && t.text[t.at] == '\n' {
				return "", false
			}
		}
	}
	return "", false
}

// long reads a text in three quotes; those of several lines name no registry, so
// that a backslash before a line end stays.
func (t *tomlReader) long(quotes string) (string, bool) {
	t.at += 3
	start := t.at
	for ; t.at < len(t.text); t.at++ {
		switch {
		case strings.HasPrefix(t.text[t.at:], quotes):
			t.at += 3
			return strings.TrimPrefix(t.text[start:t.at-3], "\n"), true
		case t.text[t.at] == '\n':
			t.line++
		case t.text[t.at] == '\\' && quotes[0] == '"' && t.at+1 < len(t.text) && t.text[t.at+1] != '\n':
			t.at++
		}
	}
	return "", false
}

// unquoteTOML puts characters in the place of escapes, all of which are Go's too.
func unquoteTOML(text, quote string) (string, bool) {
	if quote == "'" || !strings.Contains(text, `\`) {
		return text, true
	}
	s, err := strconv.Unquote(`"` + text + `"`)
	return s, err == nil
}
