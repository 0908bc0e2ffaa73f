package shadow

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// MinLength is the length in bytes below which a value is never looked for: it
// would be found everywhere. Such a value is too short to protect.
const MinLength = 8

// Encodings are the forms in which a value may travel: raw, JSON, URL and HTML
// escaped, hex, base64 at three alignments, base32 at five, UTF-16, reversed, in both cases. An
// index stands for the same encoding whatever the value; nil stands where a form
// is that of an earlier index. A value under MinLength has none.
func Encodings(value string) [][]byte {
	if len(value) < MinLength {
		return nil
	}
	all := make([][]byte, 0, 32)
	seen := map[string]bool{}
	for _, e := range encoders() {
		form := e.encode(value)
		if seen[form] {
			all = append(all, nil)
			continue
		}
		seen[form] = true
		all = append(all, []byte(form))
	}
	return all
}

// encoder is one way to write a value down.
type encoder struct {
	name   string
	encode func(string) string
}

// encoders lists them all, in the order of the indexes of Encodings.
func encoders() []encoder {
	all := []encoder{
		{"raw", func(s string) string { return s }},
		{"json", func(s string) string { return jsonEscaped(s, false) }},
		{"json", func(s string) string { return jsonEscaped(s, true) }},
		{"json", func(s string) string { return asciiEscaped(jsonEscaped(s, false)) }},
		{"json", func(s string) string { return strings.ReplaceAll(jsonEscaped(s, false), "/", `\/`) }},
		{"url", url.QueryEscape},
		{"url", func(s string) string { return lowerPercent(url.QueryEscape(s)) }},
		{"url", url.PathEscape},
		{"url", uriComponent},
		{"html", html.EscapeString},
		{"html", func(s string) string { return namedEntities(html.EscapeString(s)) }},
		{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }},
		{"hex", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }},
	}
	for before := range 3 {
		all = append(all,
			encoder{"base64", func(s string) string { return base64At(base64.RawStdEncoding, s, before) }},
			encoder{"base64", func(s string) string { return base64At(base64.RawURLEncoding, s, before) }})
	}
	for before := range 5 {
		all = append(all,
			encoder{"base32", func(s string) string { return base32At(s, before) }},
			encoder{"base32", func(s string) string { return strings.ToLower(base32At(s, before)) }})
	}
	return append(all,
		encoder{"utf-16", func(s string) string { return wide(s, binary.LittleEndian) }},
		encoder{"utf-16", func(s string) string { return wide(s, binary.BigEndian) }},
		encoder{"reversed", reversed},
		encoder{"upper case", strings.ToUpper},
		encoder{"lower case", strings.ToLower})
}

// jsonEscaped is the inside of a JSON string, with < > & as they are or escaped.
func jsonEscaped(s string, forHTML bool) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(forHTML)
	if err := enc.Encode(s); err != nil {
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), `"`), `"`)
}

// asciiEscaped writes other letters than ASCII by their number, as Python does.
func asciiEscaped(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return out.String()
}

// lowerPercent writes the digits behind a % in lower case.
func lowerPercent(s string) string {
	out := []byte(s)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], bytes.ToLower(out[i+1:i+3]))
		}
	}
	return string(out)
}

// uriComponent escapes as JavaScript's encodeURIComponent.
func uriComponent(s string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(s))
}

// namedEntities writes quotes as Python and others do.
func namedEntities(s string) string {
	return strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(s)
}

// base64At is what of a value's base64 does not depend on its neighbours, with
// that many bytes before it in its group of three.
func base64At(e *base64.Encoding, s string, before int) string {
	text := e.EncodeToString(append(make([]byte, before), s...))
	return text[(8*before+5)/6 : 8*(before+len(s))/6]
}

// base32At is what of a value's base32 does not depend on its neighbours, with that
// many bytes before it in its group of five.
func base32At(s string, before int) string {
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(append(make([]byte, before), s...))
	return text[(8*before+4)/5 : 8*(before+len(s))/5]
}

// wide is a value in UTF-16, as editors and shells of Windows write it.
func wide(s string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func reversed(s string) string {
	all := []byte(s)
	slices.Reverse(all)
	return string(all)
}
