package shadow

import (
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// envWriter writes the lines of an env file with shadows.
type envWriter struct {
	shadowOf func(name, value string) string
	known    []Line // of the same file: a comment may repeat a value
}

// unread stands where a line could not be read.
const unread = "# left out: this line could not be read"

// bareText needs no quotes in an env file.
var bareText = lazyregexp.New(`^[A-Za-z0-9_./:@?&=%+,;~-]+$`)

// joinedHash is a # that some readers take for a part of the value before it.
var joinedHash = lazyregexp.New(`^[ \t]+#[^\s#]`)

// assignment keeps the quotes where the shadow can stand in them, and takes
// double ones where not.
func (w envWriter) assignment(s segment, l Line) string {
	if l.Plain {
		return s.head + s.between(s.value) + w.comment(s.tail)
	}
	tail := lineEnds(s.tail)
	if s.plainBehind() && !(s.quote == 0 && joinedHash.MatchString(s.tail)) {
		tail = w.comment(s.tail)
	}
	text := l.Shadow
	switch {
	case s.quote == 0 && bareText.MatchString(text),
		s.quote == '\'' && !strings.ContainsAny(text, `'\`),
		s.quote == '`' && !strings.Contains(text, "`"):
		return s.head + s.between(text) + tail
	}
	text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`).Replace(text)
	if !strings.Contains(s.value, "\n") {
		text = strings.ReplaceAll(text, "\n", `\n`)
	}
	return s.head + `"` + text + `"` + tail
}

func (s segment) between(text string) string {
	if s.quote == 0 {
		return text
	}
	return string(s.quote) + text + string(s.quote)
}

// comment replaces the value of an assignment that was commented out, values of
// other lines, and every word that reads like a secret.
func (w envWriter) comment(text string) string {
	body := strings.TrimLeft(text, " \t#")
	marks := text[:len(text)-len(body)]
	switch {
	case strings.TrimSpace(body) == "":
		return text
	case !strings.Contains(marks, "#"): // a name alone
		if w.words(text) != text {
			return unread + lineEnds(text)
		}
		return text
	}
	s := next(body)
	if s.kind != assignment || s.raw != body {
		return w.words(text)
	}
	l := s.line()
	if l.Plain {
		return w.words(text)
	}
	l.Shadow = w.shadowOf(l.Name, l.Value.Reveal())
	return marks + w.assignment(s, l)
}

// word is a piece of a comment.
var word = lazyregexp.New("[^\\s'\"`<>()#]+")

func (w envWriter) words(text string) string {
	for _, l := range w.known {
		if value := l.Value.Reveal(); !l.Plain && !l.Bad() && worth(value) {
			text = strings.ReplaceAll(text, value, l.Shadow)
		}
	}
	return word.ReplaceAllStringFunc(text, func(piece string) string {
		if strings.Contains(piece, Marker) || isPublicURL(piece) {
			return piece
		}
		if looksRandom(piece) || providerPrefix(piece) != "" && len(piece) >= shortWord || splitURL(piece) != nil {
			return w.shadowOf("a comment", piece) // no name that a variable has
		}
		return piece
	})
}
