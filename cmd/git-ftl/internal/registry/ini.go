package registry

import (
	"strings"
)

// setting is one assignment of a file.
type setting struct {
	section string
	key     string
	value   string
	at      where
}

// parseINI reads what npm's ini package and Python's configparser have in common:
// sections, "key = value", whole lines behind # or ; as comments. With folded a
// line that is indented goes on with the value before it, and : may stand for =.
// A line that is none of these is handed to bad.
func parseINI(text string, at where, folded bool, bad func(where)) []setting {
	var all []setting
	section := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r\t ")
		bare := strings.TrimSpace(line)
		s, ok := assign(bare, folded)
		s.section, s.at = section, where{at.file, i + 1}
		switch {
		case bare == "" || bare[0] == '#' || bare[0] == ';':
		case folded && bare[0] != line[0] && len(all) > 0:
			all[len(all)-1].value += "\n" + bare
		case bare[0] == '[' && strings.HasSuffix(bare, "]"):
			section = bare[1 : len(bare)-1]
		case ok:
			all = append(all, s)
		default:
			bad(s.at)
		}
	}
	return all
}

// assign cuts a line at the sign that comes first.
func assign(line string, colon bool) (setting, bool) {
	signs := "="
	if colon {
		signs = "=:"
	}
	at := strings.IndexAny(line, signs)
	if at < 1 {
		return setting{}, false
	}
	return setting{key: strings.TrimSpace(line[:at]), value: strings.TrimSpace(line[at+1:])}, true
}
