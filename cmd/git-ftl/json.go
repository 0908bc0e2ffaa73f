package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// json prints one object on stdout. What could steer a terminal is escaped in
// JSON's own way, so that the values stay the same.
func (a *app) json(v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprint(a.stdout, jsonClean(out.String()))
	return err
}

func jsonClean(s string) string {
	unsafeText := func(r rune) bool { return r >= 0x7f && unsafe(r) }
	if !strings.ContainsFunc(s, unsafeText) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !unsafeText(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
