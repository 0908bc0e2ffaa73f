package proxy

import (
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/internal/needle"
)

const (
	maxValue = 8 << 10 // bytes of a value that are looked for
	minLine  = 16      // of a value of many lines
)

// newNeedles looks for the real values of all credentials as a whole, and for any
// run of eight bytes of those that are bound. One that is not, and that every text
// may have, did not come from here. Of a URL whose password is a credential of its
// own, runs of that one are enough: others, such as "https://", are everywhere.
func newNeedles(all, bound []*credential) *needle.Set {
	var forms []needle.Form
	for _, c := range all {
		if !slices.Contains(bound, c) && !c.Telling() {
			continue
		}
		for _, part := range parts(c.Real.Reveal()) {
			forms = append(forms, formsOf(c.Name, part, c.Shadow, slices.Contains(bound, c) && !hasPart(bound, c))...)
		}
	}
	return needle.New(forms)
}

// hasPart reports whether a part of a credential's shadow is one itself.
func hasPart(all []*credential, c *credential) bool {
	return slices.ContainsFunc(all, func(o *credential) bool { return o != c && strings.Contains(c.Shadow, o.Shadow) })
}

// shadowNeedles looks for whole shadows.
func shadowNeedles(all []*credential) *needle.Set {
	var forms []needle.Form
	for _, c := range all {
		forms = append(forms, formsOf(c.Name, c.Shadow, c.Shadow, false)...)
	}
	return needle.New(forms)
}

// parts are a value as it is, or its lines if it has many: no needle holds a line
// feed, so that an event of a stream never waits for the next.
func parts(value string) []string {
	if len(value) > maxValue {
		value = value[:maxValue]
	}
	if !strings.ContainsAny(value, "\r\n") {
		return []string{value}
	}
	lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\r' || r == '\n' })
	return slices.DeleteFunc(lines, func(line string) bool {
		return len(strings.TrimSpace(line)) < minLine || strings.HasPrefix(line, "-----")
	})
}

var knownPrefix = lazyregexp.New(`^[a-z][a-z0-9]{1,9}([_-][a-z0-9]{2,8}){0,2}[_-]`)

// formsOf are the encodings of a value, each with the same one of its replacement.
// What a replacement has in common with the value is no secret.
func formsOf(name, value, replacement string, runs bool) []needle.Form {
	var forms []needle.Form
	swapped := shadow.Encodings(replacement)
	shared := len(knownPrefix.FindString(value))
	for i, text := range shadow.Encodings(value) {
		if len(text) < needle.Window {
			continue
		}
		f := needle.Form{Name: name, Text: text, To: []byte(replacement), Least: len(text), Common: swapped}
		if i < len(swapped) && swapped[i] != nil {
			f.To = swapped[i]
		}
		if runs {
			f.Least = min(len(text), (needle.Window*len(text)+len(value)-1)/len(value))
			f.Prefix = shared * len(text) / len(value)
		}
		forms = append(forms, f)
	}
	return forms
}
