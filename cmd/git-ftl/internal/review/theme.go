package review

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review/syntax"
)

// theme is how things look. Colours are the terminal's own sixteen; only the ground
// of changed lines needs more, and to know whether the terminal is dark. Nothing is
// said by colour alone.
type theme struct {
	profile colorprofile.Profile
	known   bool // whether the terminal is dark
	dark    bool

	plain, bold, dim, bar, number, head, file ink
	warning, remark, accepted, rejected, here ink
	code                                      [3][syntax.Classes]ink // by ground and class
	sign                                      [3]ink                 // of lines, by ground
	hit                                       ink
}

// ink is a style as the codes around a text: a screen has a thousand texts.
type ink struct{ before, after string }

func inkOf(s lipgloss.Style) ink {
	before, after, _ := strings.Cut(s.Render("x"), "x")
	return ink{before, after}
}

// Render writes a text, which is one line without tabs.
func (i ink) Render(text string) string {
	if text == "" {
		return ""
	}
	return i.before + text + i.after
}

// The grounds of lines.
const (
	kept = iota
	added
	removed
)

func groundOf(op byte) int {
	switch op {
	case '+':
		return added
	case '-':
		return removed
	}
	return kept
}

// newTheme makes the styles for a terminal.
func newTheme(profile colorprofile.Profile, known, dark bool) *theme {
	style := lipgloss.NewStyle()
	fore := func(c color.Color) lipgloss.Style { return style.Foreground(c) }
	t := &theme{
		profile: profile, known: known, dark: dark,
		plain: inkOf(style), bold: inkOf(style.Bold(true)), dim: inkOf(style.Faint(true)), bar: inkOf(style.Reverse(true)),
		number: inkOf(fore(lipgloss.BrightBlack)), head: inkOf(fore(lipgloss.Cyan)), file: inkOf(fore(lipgloss.Blue).Bold(true)),
		warning: inkOf(fore(lipgloss.Yellow)), remark: inkOf(fore(lipgloss.Magenta).Italic(true)),
		accepted: inkOf(fore(lipgloss.Green).Bold(true)), rejected: inkOf(fore(lipgloss.Red).Bold(true)),
		here: inkOf(style.Reverse(true)), hit: inkOf(style.Reverse(true)),
	}
	classes := [syntax.Classes]lipgloss.Style{
		syntax.Plain: style, syntax.Comment: fore(lipgloss.BrightBlack), syntax.Keyword: fore(lipgloss.Magenta), syntax.Type: fore(lipgloss.Cyan),
		syntax.Function: fore(lipgloss.Blue), syntax.String: fore(lipgloss.Yellow), syntax.Number: fore(lipgloss.Yellow), syntax.Tag: fore(lipgloss.Blue),
	}
	for ground := range t.code {
		t.inks(ground, classes)
	}
	return t
}

// inks makes those of code on a ground.
func (t *theme) inks(ground int, classes [syntax.Classes]lipgloss.Style) {
	back := t.ground(ground)
	sign := classes[syntax.Plain]
	if ground != kept {
		sign = sign.Foreground(signColour(ground)).Bold(true)
		if back == nil { // the line itself has to say it
			classes[syntax.Plain] = classes[syntax.Plain].Foreground(signColour(ground))
		} else {
			sign = sign.Background(back)
			classes[syntax.Comment] = classes[syntax.Plain].Italic(true) // grey cannot be read upon it
		}
	}
	t.sign[ground] = inkOf(sign)
	for i, style := range classes {
		if back != nil {
			style = style.Background(back)
		}
		t.code[ground][i] = inkOf(style)
	}
}

// ground is the colour behind changed lines, nil where the terminal shows none
// that can be read upon.
func (t *theme) ground(ground int) color.Color {
	if ground == kept || !t.known || t.profile < colorprofile.ANSI256 {
		return nil
	}
	switch {
	case t.dark && ground == added:
		return lipgloss.Color("22")
	case t.dark:
		return lipgloss.Color("52")
	case ground == added:
		return lipgloss.Color("194")
	}
	return lipgloss.Color("224")
}

// signColour is that of what is added or removed.
func signColour(ground int) color.Color {
	if ground == added {
		return lipgloss.Green
	}
	return lipgloss.Red
}

// draw writes text in a window with the looks of code on a ground, filled up.
func (t *theme) draw(runs []run, fill, ground int) string {
	var b strings.Builder
	for _, r := range runs {
		style := t.code[ground][r.look.class]
		if r.look.hit {
			style = t.hit
		}
		b.WriteString(style.Render(r.text))
	}
	if fill > 0 {
		b.WriteString(t.code[ground][syntax.Plain].Render(strings.Repeat(" ", fill)))
	}
	return b.String()
}
