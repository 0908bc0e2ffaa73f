package surface

import (
	"bytes"
	"path"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// maxLine is the longest line that somebody reads, in bytes.
const maxLine = 4096

// text looks at the characters of each new line: what a terminal or an editor
// does not show as a compiler reads it. Source: Unicode TR 36 and TR 39; Boucher
// and Anderson, "Trojan Source" (2021).
func (s *scan) text() {
	if s.Binary && !plainText(s.Text) {
		return
	}
	prose, code := s.isProse(), s.isCode()
	for start := 0; start < len(s.Text); {
		odd := start + oddByte(s.Text[start:])
		if odd == len(s.Text) {
			break
		}
		start += 1 + bytes.LastIndexByte(s.Text[start:odd], '\n')
		end := lineEnd(s.Text, odd)
		s.line(start, end, prose)
		if code {
			s.lookalikes(start, end)
		}
		start = end + 1
	}
	s.longLine()
}

func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

// oddByte is where something else stands than printable ASCII, tabs and the ends
// of lines; the length of the text if nowhere.
func oddByte(text []byte) int {
	for i, b := range text {
		if (b < ' ' || b >= 0x7f) && b != '\n' && b != '\t' && b != '\f' && (b != '\r' || i+1 < len(text) && text[i+1] != '\n') {
			return i
		}
	}
	return len(text)
}

// longLine tells the first new line that is too long to be read.
func (s *scan) longLine() {
	for start := 0; len(s.Text)-start > maxLine; {
		if n := bytes.LastIndexByte(s.Text[start:start+maxLine+1], '\n'); n >= 0 {
			start += n + 1
			continue
		}
		end := lineEnd(s.Text, start)
		if s.Added(start, end) {
			s.list.Add(doc.Hit{
				Rule: "text/long-line", Severity: doc.Warn, Start: start, End: end,
				Message: "a line of more than 4,096 bytes: nobody reads to its end", Remedy: "look at the end of the line too",
			})
			return
		}
		start = end + 1
	}
}

// line tells the hidden characters of one line: of each kind one hit, which spans
// from the first to the last of it.
func (s *scan) line(start, end int, prose bool) {
	line := bytes.TrimSuffix(s.Text[start:end], []byte("\r"))
	var from, to [classes]int
	p := pen{top: start == 0 && s.FirstLine == 1}
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		c := p.judge(r, line[i+n:])
		if to[c] == 0 {
			from[c] = i
		}
		i += n
		to[c] = i
	}
	for c := joiner; c < classes; c++ {
		if to[c] > 0 {
			h := c.hit(prose, p.rightToLeft)
			h.Start, h.End = start+from[c], start+to[c]
			s.list.Add(h)
		}
	}
}

// class is what a character does to somebody who reads.
type class int

const (
	shown   class = iota
	joiner        // shapes the letters of a script that needs it
	mark          // a direction mark
	soft          // a hyphen or a break that is sometimes shown
	control       // other control characters
	escape        // begins a command to a terminal
	hidden        // not shown, or shows other text elsewhere
	classes
)

// hit says what a class means. A text, in code as well, may use what its script
// needs.
func (c class) hit(prose, rightToLeft bool) doc.Hit {
	switch {
	case c == control:
		return doc.Hit{Rule: "text/control", Severity: doc.Warn, Message: "control characters in text", Remedy: "write them as escapes"}
	case c == escape:
		return doc.Hit{Rule: "text/escape", Severity: doc.Warn, Message: "a terminal escape: printed, it can hide or change other lines", Remedy: "write it as an escape of the language"}
	case c == joiner, c == mark && rightToLeft, c == soft && prose:
		return doc.Hit{Rule: "text/joiner", Severity: doc.Warn, Message: "characters without a shape of their own, as some scripts need them", Remedy: "make sure that the text is in such a script"}
	}
	return doc.Hit{
		Rule: "text/bidi", Severity: doc.Block,
		Message: "invisible or direction-changing characters: the text is not what it looks like", Remedy: "remove them, or write them as escapes",
	}
}

// prose are the files that hold text for people in their own language.
var prose = sync.OnceValue(func() globs {
	return paths(`*.md *.markdown *.mdx *.rst *.txt *.adoc *.org *.tex *.po *.pot *.xliff *.xlf *.arb *.strings *.xcstrings *.ftl *.srt *.vtt *.properties *.resx *.html *.htm *.svg
		locale/ locales/ i18n/ l10n/ lang/ langs/ languages/ translations/ translation/ messages/ intl/ values-*/ *.lproj/`)
})

func (s *scan) isProse() bool { return prose().match(s.names, false) }

// isCode reports whether identifiers are to be expected.
func (s *scan) isCode() bool {
	switch path.Ext(s.names[len(s.names)-1]) {
	case ".go", ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp",
		".cs", ".rs", ".rb", ".php", ".swift", ".m", ".mm", ".dart", ".lua", ".pl", ".sh", ".bash", ".zsh", ".ps1", ".sql", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".vue", ".svelte", ".zig", ".sol":
		return true
	}
	return bytes.HasPrefix(s.Text, []byte("#!"))
}

// letter reports whether a rune can stand in an identifier.
func letter(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
