package registry

import (
	"slices"
	"strings"
)

// machine is an entry of a netrc.
type machine struct {
	host string
	login
	at where
}

// netrc reads the logins of hosts that the tools which ask it are configured
// with. Its default, which is for every host, is never taken over.
func (r *reader) netrc() {
	names := []string{r.path("NETRC", ".netrc")}
	if r.env["NETRC"] == "" {
		names = append(names, r.path("", "_netrc"))
	}
	var lines []string
	for _, name := range names {
		text, at := r.read(name)
		for _, m := range parseNetrc(text, at) {
			lines = append(lines, r.machine(m)...)
		}
	}
	r.write(".netrc", lines)
}

// machine writes one entry for the sandbox, where it is for a registry.
func (r *reader) machine(m machine) []string {
	r.signIn(m)
	var l login
	for _, p := range r.named[strings.ToLower(m.host)] {
		if hidden := r.hide("netrc", p, m.login, m.at); hidden != (login{}) {
			l = hidden
		}
	}
	switch {
	case l == login{}:
		return nil
	case strings.ContainsAny(l.user, "\"'\\# \t"):
		r.note(m.at, "credential left out: its login has characters that a netrc would have to quote")
		return nil
	}
	return []string{"machine " + strings.ToLower(m.host) + " login " + l.user + " password " + l.password}
}

// asks reports whether a tool reads netrc: go can be told not to.
func (r *reader) asks(tool string) bool {
	auth := r.env["GOAUTH"]
	return tool == "pip" || tool == "uv" || tool == "go" && (auth == "" || slices.Contains(strings.Split(auth, ";"), "netrc"))
}

// netrcReader goes through a netrc word by word.
type netrcReader struct {
	all   []machine
	want  string // what the next word is
	macro bool   // up to a blank line
}

// parseNetrc reads machine, login and password; account and macros are skipped.
func parseNetrc(text string, at where) []machine {
	var n netrcReader
	for i, line := range strings.Split(text, "\n") {
		if n.macro && strings.TrimSpace(line) != "" {
			continue
		}
		n.macro = false
		for _, word := range netrcWords(line) {
			n.word(word, where{at.file, i + 1})
		}
	}
	return slices.DeleteFunc(n.all, func(m machine) bool { return m.host == "" || m.password == "" })
}

func (n *netrcReader) word(word string, at where) {
	want := n.want
	n.want = ""
	switch {
	case want == "machine":
		n.all = append(n.all, machine{host: word, at: at})
	case want == "login" && len(n.all) > 0:
		n.all[len(n.all)-1].user = word
	case want == "password" && len(n.all) > 0:
		n.all[len(n.all)-1].password = word
	case want != "": // an account, or the name of a macro
	case word == "default":
		n.all = append(n.all, machine{}) // of no host, so that what follows is nobody's
	default:
		n.want, n.macro = word, word == "macdef"
	}
}

// netrcWords are the words of a line, which may be in quotes. A comment begins
// where a word would.
func netrcWords(line string) []string {
	var all []string
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			if end := closingQuote(line); end > 0 {
				all = append(all, strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(line[1:end]))
				line = line[end+1:]
				continue
			}
		}
		end := strings.IndexAny(line, " \t\r")
		if end < 0 {
			end = len(line)
		}
		all = append(all, line[:end])
		line = line[end:]
	}
	return all
}

func closingQuote(line string) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
