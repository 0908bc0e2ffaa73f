package surface

import (
	"unicode"
	"unicode/utf8"
)

// pen goes over the characters of one line and knows enough of what came before
// to tell a family emoji from a hidden message.
type pen struct {
	top         bool // at the beginning of a file
	prev        rune // just before
	base        rune // the last that has a shape of its own
	flag        int  // tags since a black flag, from 1; 0 outside of one
	rightToLeft bool // the line has letters of a right-to-left script
}

// judge tells the class of a rune that rest follows.
func (p *pen) judge(r rune, rest []byte) class {
	c := p.class(r, rest)
	p.flag = p.nextFlag(r)
	p.prev, p.top = r, false
	if c == shown && !selector(r) && r != 0x200d {
		p.base = r
	}
	if r >= 0x590 && r < 0x900 && unicode.IsLetter(r) { // Hebrew, Arabic, Syriac, Thaana, N'Ko
		p.rightToLeft = true
	}
	return c
}

func (p *pen) class(r rune, rest []byte) class {
	if r < 0xa0 {
		return basic(r)
	}
	switch {
	case r == 0xfeff && p.top:
		return shown
	case r >= 0x200b && r <= 0x200d, r == 0x2060:
		return p.joins(r, rest)
	case r == 0x200e, r == 0x200f, r == 0x61c:
		return mark
	case r == 0xad, r == 0x2028, r == 0x2029:
		return soft
	case selector(r):
		return p.selects(r)
	case p.flag > 0 && p.nextFlag(r) > 0, r == 0xe007f && p.flag > 1, r == blank && (dots(p.base) || drawn(rest)):
		return shown
	case unicode.Is(invisible, r):
		return hidden
	}
	return shown
}

// basic judges ASCII and the control characters behind it.
func basic(r rune) class {
	switch {
	case r == 0x1b, r == 0x90, r == 0x9b, r == 0x9d:
		return escape
	case r == '\t', r == '\f':
		return shown
	case r < ' ', r >= 0x7f:
		return control
	}
	return shown
}

// joins judges the joiners: part of an emoji, or of a script that needs them.
func (p *pen) joins(r rune, rest []byte) class {
	next, _ := utf8.DecodeRune(rest)
	switch {
	case r == 0x200d && pictures(p.base) && pictures(next):
		return shown
	case p.prev != r && unicode.In(p.base, joining()...):
		return joiner
	}
	return hidden
}

// selects judges a variation selector: one, after what it can vary. Runs of them
// carry hidden bytes.
func (p *pen) selects(r rune) class {
	var ok bool
	switch {
	case r == 0xfe0e || r == 0xfe0f:
		ok = pictures(p.prev) || keycap(p.prev)
	case r <= 0x180f:
		ok = unicode.Is(unicode.Mongolian, p.prev) && !selector(p.prev)
	case r <= 0xfe0f:
		ok = unicode.In(p.prev, unicode.Han, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa) || p.prev >= 0x3001 && p.prev <= 0x3002 || p.prev >= 0xff01 && p.prev <= 0xff1f
	default:
		ok = unicode.Is(unicode.Han, p.prev)
	}
	if ok {
		return shown
	}
	return hidden
}

// blank is the cell of Braille without a dot. Spinners and pictures are drawn with
// it, among cells that have some.
const blank = 0x2800

func dots(r rune) bool { return r > blank && r <= 0x28ff }

// drawn reports whether the cells that follow end in one with dots.
func drawn(rest []byte) bool {
	rest = rest[:min(len(rest), 120)]
	for len(rest) > 0 {
		r, n := utf8.DecodeRune(rest)
		if r != blank {
			return dots(r)
		}
		rest = rest[n:]
	}
	return false
}

// nextFlag follows the flag of a region: a black flag, up to six tags, an end.
func (p *pen) nextFlag(r rune) int {
	switch {
	case r == 0x1f3f4:
		return 1
	case p.flag > 0 && p.flag <= 6 && r >= 0xe0030 && r <= 0xe007a:
		return p.flag + 1
	}
	return 0
}

func selector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180f
}

// pictures reports whether a rune can be part of an emoji.
func pictures(r rune) bool {
	switch r {
	case 0xa9, 0xae, 0x203c, 0x2049, 0x2139, 0x3030, 0x303d, 0x24c2, 0x3297, 0x3299:
		return true
	}
	return r >= 0x2190 && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk)
}

func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// joining are the scripts whose spelling needs joiners and zero-width spaces.
func joining() []*unicode.RangeTable {
	return []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	}
}

// invisible are the code points with no shape or with power over others. Source:
// Unicode's Default_Ignorable_Code_Point and Bidi_Control, and the blank letters.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x202a, Hi: 0x202e, Stride: 1}, // direction embeddings and overrides
		{Lo: 0x2061, Hi: 0x206f, Stride: 1}, // invisible operators, isolates, deprecated
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark inside
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1}, // interlinear annotation
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, // shorthand controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, // musical controls
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}, // tags and what is reserved beside them
	},
}
