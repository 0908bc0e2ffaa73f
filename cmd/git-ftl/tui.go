package main

// The rules of the terminal, all of them:
//
//   - Results go to stdout; everything else, the agent's output included, to
//     stderr. With --json stdout carries one object and nothing else.
//   - An error is one line "git-ftl: error: …" in lower case, its details
//     indented by two below it, then "git-ftl: hint: …" with the next command.
//   - A stage is one line: its name, what came of it, the time it took. A result
//     is one line of its ID, then its files.
//   - What came from a sandbox, a model or the repository is shown with control
//     characters, bidirectional and invisible ones escaped, wherever it goes.
//   - Colour only on a terminal, never with NO_COLOR or TERM=dumb.

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

// ui writes for people.
type ui struct {
	out, err io.Writer
	env      []string
	colour   bool
	quiet    bool // nothing on stderr but errors
	verbose  bool // every stage gets its line

	mu    sync.Mutex // of lines and what they hold: output comes from several streams
	lines []*lineWriter
}

func newUI(a *app) *ui {
	colour := isTerminal(a.stderr) && lookup(a.env, "NO_COLOR") == "" && lookup(a.env, "TERM") != "dumb"
	return &ui{out: a.stdout, err: a.stderr, env: a.env, colour: colour}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func lookup(env []string, name string) string {
	i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	if i < 0 {
		return ""
	}
	return env[i][len(name)+1:]
}

// fail prints an error and returns its exit code.
func (u *ui) fail(err error) int {
	e := explain(err, u.env)
	if e.quiet {
		return e.code
	}
	first, rest, _ := strings.Cut(e.Error(), "\n") // errors that were joined
	fmt.Fprintf(u.err, "git-ftl: %s %s\n", u.paint(red, "error:"), clean(first))
	details := e.details
	if rest != "" {
		details = append(strings.Split(rest, "\n"), details...)
	}
	for _, d := range details {
		fmt.Fprintf(u.err, "  %s\n", clean(d))
	}
	for _, h := range e.hints {
		fmt.Fprintf(u.err, "git-ftl: %s %s\n", u.paint(bold, "hint:"), clean(h))
	}
	return e.code
}

// Codes of colours.
const (
	red  = "31"
	bold = "1"
	dim  = "2"
)

func (u *ui) paint(code, s string) string {
	if !u.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Begin implements session.Reporter.
func (u *ui) Begin(o session.Outcome) {
	at := "a repository without commits"
	if o.Head != "" {
		at = o.Head[:7]
		if o.Branch != "" {
			at = o.Branch + " " + at
		}
	}
	if o.Dirty > 0 {
		at += fmt.Sprintf(" + %s", plural(o.Dirty, "dirty file"))
	}
	u.status(o.ID, at+leftOut(o))
	for _, l := range o.LeftOut {
		if strings.HasPrefix(l.Why, "larger than") {
			u.status("left out", l.Path+": "+l.Why)
		}
	}
}

// leftOut names the first few files that the agent does not see.
func leftOut(o session.Outcome) string {
	if len(o.LeftOut) == 0 {
		return ""
	}
	const most = 4
	var names []string
	for i, l := range o.LeftOut {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(o.LeftOut)-most))
			break
		}
		names = append(names, l.Path)
	}
	return "; left out: " + strings.Join(names, ", ")
}

// Stage implements session.Reporter.
func (u *ui) Stage(name, result string, d time.Duration) {
	u.flush()
	if name == "boot" {
		name = "sandbox"
	}
	if result == "" {
		if !u.verbose {
			return
		}
		result = "done"
	}
	u.statusTook(name, result, took(d))
}

// status prints a line of a name and what is to be said of it.
func (u *ui) status(name, text string) { u.statusTook(name, text, "") }

// statusTook adds the time that it took.
func (u *ui) statusTook(name, text, time string) {
	if u.quiet {
		return
	}
	text = clean(text)
	if time != "" {
		text = fmt.Sprintf("%-22s %s", text, u.paint(dim, time))
	}
	fmt.Fprintf(u.err, "%s %s\n", u.paint(bold, fmt.Sprintf("%-9s", clean(name))), text)
}

// Note implements session.Reporter.
func (u *ui) Note(text string) {
	if !u.quiet {
		fmt.Fprintf(u.err, "git-ftl: %s\n", clean(text))
	}
}

// Agent implements session.Reporter: whole lines, indented and escaped.
func (u *ui) Agent() (stdout, stderr io.Writer) {
	if u.quiet {
		return io.Discard, io.Discard
	}
	a, b := &lineWriter{ui: u}, &lineWriter{ui: u}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lines = append(u.lines, a, b)
	return a, b
}

// flush ends the last lines that the agent left without a newline.
func (u *ui) flush() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, l := range u.lines {
		if len(l.buf) > 0 {
			l.show(l.buf)
			l.buf = l.buf[:0]
		}
	}
	u.lines = nil
}

// lineWriter shows an agent's stream line by line.
type lineWriter struct {
	ui  *ui
	buf []byte
}

// maxLine is where a line without an end is broken, in bytes.
const maxLine = 4096

// Write implements io.Writer. It never fails: a closed terminal must not end
// the agent.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.ui.mu.Lock()
	defer l.ui.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			i = len(p)
		}
		l.buf = append(l.buf, p[:i]...)
		for len(l.buf) > maxLine {
			l.show(l.buf[:maxLine])
			l.buf = append(l.buf[:0], l.buf[maxLine:]...)
		}
		if i == len(p) {
			break
		}
		l.show(l.buf)
		l.buf, p = l.buf[:0], p[i+1:]
	}
	return n, nil
}

func (l *lineWriter) show(line []byte) {
	text := string(bytes.TrimSuffix(line, []byte("\r")))
	if i := strings.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:] // a progress bar: what a terminal would show at the end
	}
	fmt.Fprintf(l.ui.err, "  %s\n", clean(text))
}

// clean escapes what could steer a terminal or mislead its reader: C0 and C1
// controls but tab, bidirectional and invisible characters, invalid UTF-8.
func clean(s string) string {
	if !strings.ContainsFunc(s, unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unsafe(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff && unsafe(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case unsafe(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func unsafe(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t'
	case r >= 0x7f && r < 0xa0, r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// took writes a duration as people read it: 0.03s, 1.2s, 1m48s.
func took(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// fileLine writes files as git status does: " M path  A path".
func fileLine(files []session.File) string {
	parts := make([]string, len(files))
	for i, f := range files {
		parts[i] = letter(patch.Kind(f.Change)) + " " + clean(f.Path)
	}
	return firstParts(parts)
}

func writtenLine(files []patch.Written) string {
	parts := make([]string, len(files))
	for i, f := range files {
		parts[i] = letter(f.Change) + " " + clean(f.Path)
	}
	return firstParts(parts)
}

func firstParts(parts []string) string {
	const most = 12
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most:most], fmt.Sprintf("and %d more", more))
	}
	return " " + strings.Join(parts, "  ")
}

func letter(change patch.Kind) string {
	switch change {
	case patch.Added:
		return "A"
	case patch.Deleted:
		return "D"
	case patch.Type:
		return "T"
	}
	return "M"
}
