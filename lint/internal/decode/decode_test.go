package decode

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"mime/quotedprintable"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/linear"
)

const sample = "a plain sentence: x=1; y='2' & more"

func each(text, format string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, format, text[i])
	}
	return out.String()
}

func wrap(text string, width int, between string) string {
	var lines []string
	for part := range slices.Chunk([]byte(text), width) {
		lines = append(lines, string(part))
	}
	return strings.Join(lines, between)
}

func wide(text string) string {
	return each(text, "%c\x00")
}

func printed(text string) string {
	var out bytes.Buffer
	w := quotedprintable.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.String()
}

func TestLayers(t *testing.T) {
	std := base64.StdEncoding.EncodeToString([]byte(sample))
	raw := base64.RawURLEncoding.EncodeToString([]byte(sample))
	long := strings.Repeat(sample+"\n", 9)
	for _, test := range []struct{ name, text, how, want string }{
		{"base64", "x = '" + std + "'", "base64", sample},
		{"base64 of URLs", "x=" + raw, "base64", sample},
		{"UTF-16 amid other bytes", "a line\n" + wide(sample) + "\xff", "UTF-16", sample},
		{"big-endian UTF-16 amid other bytes", "a line\n\x00" + wide(sample) + "\xff", "UTF-16", sample},
		{"UTF-32", each(sample, "%c\x00\x00\x00"), "UTF-16", sample},
		{"base64 behind a letter", "x" + std, "base64", sample[2:]},
		{"base64 behind two letters", "xy" + std, "base64", sample[1:]},
		{"base64 behind three letters", "x/y" + std, "base64", sample[2:]},
		{"base64 over lines", wrap(base64.StdEncoding.EncodeToString([]byte(long)), 76, "\r\n    "), "base64", long},
		{"base64 over literals", `"` + wrap(std, 18, `" + `+"\n\t"+`"`) + `"`, "base64", sample},
		{"base64 over escaped lines", `"` + wrap(std, 20, `\n`) + `"`, "base64", sample},
		{"base64 in binary data", base64.StdEncoding.EncodeToString([]byte("\xff\x00\x01" + sample + "\x80\x81")), "base64", sample},
		{"base64 of UTF-16", base64.StdEncoding.EncodeToString([]byte(wide(sample))), "base64", wide(sample)},
		{"base64 of other letters", base64.StdEncoding.EncodeToString([]byte("größer als ein Wort")), "base64", "größer als ein Wort"},
		{"base32", base32.StdEncoding.EncodeToString([]byte(sample)), "base32", sample},
		{"base32 in small letters", strings.ToLower(base32.HexEncoding.EncodeToString([]byte(sample)) + " " + base32.StdEncoding.EncodeToString([]byte(sample))), "base32", sample},
		{"hex", "0x" + hex.EncodeToString([]byte(sample)), "hex", sample},
		{"hex in capitals", strings.ToUpper(hex.EncodeToString([]byte(sample))), "hex", sample},
		{"hex behind a digit", "key_1" + hex.EncodeToString([]byte(sample)), "hex", sample},
		{"hex over lines", wrap(hex.EncodeToString([]byte(sample)), 32, "\n"), "hex", sample},
		{`\x67`, `"` + each(sample, `\x%02x`) + `"`, "escapes", sample},
		{`\X capitals`, `"` + each(sample, `\x%02X`) + `"`, "escapes", sample},
		{`\u0067`, `"` + each(sample, `\u%04x`) + `"`, "escapes", sample},
		{`\u{67}`, `"` + each(sample, `\u{%x}`) + `"`, "escapes", sample},
		{`\U00000067`, `"` + each(sample, `\U%08x`) + `"`, "escapes", sample},
		{"octal", `$'` + each(sample, `\%03o`) + `'`, "escapes", sample},
		{"escaped escapes", `"` + each(sample, `\\x%02x`) + `"`, "escapes", strings.Join(strings.Split(sample, ""), `\`)},
		{"one letter", `"` + strings.Replace(sample, "p", `\x70`, 1) + `"`, "escapes", sample},
		{"percent", each(sample, "%%%02X"), "escapes", sample},
		{"percent as in URLs", url.PathEscape(sample), "escapes", sample},
		{"entities", html.EscapeString(sample), "escapes", sample},
		{"decimal entities", each(sample, "&#%d;"), "escapes", sample},
		{"hex entities", each(sample, "&#x%X;"), "escapes", sample},
		{"quoted-printable", printed(sample + "=" + strings.Repeat(" and more", 9)), "quoted-printable", sample + "=" + strings.Repeat(" and more", 9)},
		{"every letter quoted", each(sample, "=%02X"), "quoted-printable", sample},
		{"decimal numbers", "[" + each(sample, "%d, ") + "]", "numbers", sample},
		{"hex numbers", "{" + each(sample, "0x%02x,\n") + "}", "numbers", sample},
		{"binary numbers", "{" + each(sample, "0b%08b,\n") + "}", "numbers", sample},
		{"numbers of a type", "[" + each(sample, "%du8, ") + "]", "numbers", sample},
		{"characters of numbers", each(sample, "chr(%d).") + `""`, "numbers", sample},
		{"calls", each(sample, "String.fromCharCode(%d) + "), "numbers", sample},
		{"base64 of base64", base64.StdEncoding.EncodeToString([]byte(std)), "base64 of base64", sample},
		{"hex of base64", hex.EncodeToString([]byte(std)), "hex of base64", sample},
		{"base64 of escapes", base64.StdEncoding.EncodeToString([]byte(each(sample, `\x%02x`))), "base64 of escapes", sample},
		{"numbers of hex", each(hex.EncodeToString([]byte(sample)), "%d "), "numbers of hex", sample},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, l := range Layers([]byte(test.text)) {
				if i := bytes.Index(l.Text, []byte(test.want)); l.How == test.how && i >= 0 {
					checkSpan(t, test.text, l, i, i+len(test.want))
					return
				}
			}
			t.Errorf("%q is in no layer %s of %s: %v", test.want, test.how, test.text, shown(Layers([]byte(test.text))))
		})
	}
}

// checkSpan looks whether the part that a layer names decodes to the same, but for
// the first bytes, which may begin amid a group.
func checkSpan(t *testing.T, text string, l Layer, i, j int) {
	t.Helper()
	start, end := l.Span(i, j)
	if start != l.At(i) {
		t.Errorf("a span begins at %d, its first byte at %d", start, l.At(i))
	}
	for _, part := range Layers([]byte(text[start:end])) {
		if part.How == l.How && bytes.Contains(part.Text, l.Text[i+2:j]) {
			return
		}
	}
	t.Errorf("the span %q does not decode to %q", text[start:end], l.Text[i:j])
}

func shown(all []Layer) []string {
	var out []string
	for _, l := range all {
		out = append(out, fmt.Sprintf("%s %q", l.How, l.Text))
	}
	return out
}

func TestLayersOfNothing(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"empty", ""},
		{"words", strings.Repeat("some words of a sentence, as it were. ", 50)},
		{"short base64", base64.StdEncoding.EncodeToString([]byte("eleven byte"))},
		{"random bytes in base64", "3q2+78r+ur7erb7vyv66vt6tvu/K/rq+3q2+78r+ur4="},
		{"formats", `fmt.Printf("%d %s\n", a, b) && x == 100 & y`},
		{"large numbers", "1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 1001, 1002, 1003, 1004"},
		{"names with digits", strings.Repeat("a103 ", 20)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Layers([]byte(test.text)); got != nil {
				t.Errorf("layers: %v", shown(got))
			}
		})
	}
}

func TestSqueeze(t *testing.T) {
	for _, test := range []struct{ name, text, want, span string }{
		{"pieces", "a := \"one\" +\n\t\"two\"", "onetwo", "one\" +\n\t\"two"},
		{"characters", "['o', 'n', 'e', 't', 'w', 'o']", "onetwo", "o', 'n', 'e', 't', 'w', 'o"},
		{"folded", "key: >-\n  one\n  two\n", "onetwo", "one\n  two"},
		{"wide", "\x00o\x00n\x00e\x00t\x00w\x00o", "onetwo", "o\x00n\x00e\x00t\x00w\x00o"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Squeeze([]byte(test.text))
			i := bytes.Index(l.Text, []byte(test.want))
			if i < 0 {
				t.Fatalf("%q has no %q", l.Text, test.want)
			}
			if start, end := l.Span(i, i+len(test.want)); test.text[start:end] != test.span {
				t.Errorf("span %q, want %q", test.text[start:end], test.span)
			}
		})
	}
}

// TestLayersBounded takes texts that are all encoding.
func TestLayersBounded(t *testing.T) {
	nested := []byte(sample)
	for len(nested) < 1<<16 {
		nested = []byte(base64.StdEncoding.EncodeToString(nested))
	}
	for _, test := range []struct{ name, unit string }{
		{"base64", base64.StdEncoding.EncodeToString([]byte(sample + sample[:1]))},
		{"base64 that is text at every place", "ICAg"},
		{"nested base64", string(nested)},
		{"short words", "YWJjZGVmZ2hpamts \n"},
		{"literals", "\"YWJjZGVmZ2hpamts\" + \n"},
		{"hex", "20"},
		{"escapes", `\x41%41&#65;=41`},
		{"escapes far apart", `\x41` + strings.Repeat("=41abc %4 ", 12)},
		{"escapes of escapes", `%5cx41`},
		{"numbers", "65,"},
		{"entities that do not end", "&#00000000"},
		{"gaps", strings.Repeat("a", minWord) + strings.Repeat("\n", maxGap)},
		{"NULs", "\x00"},
		{"one letter", "A"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := func(n int) []byte { return bytes.Repeat([]byte(test.unit), n/len(test.unit)+1)[:n] }
			const size = 1 << 17
			sum := 0
			for _, l := range Layers(text(size)) {
				sum += len(l.Text)
			}
			if sum > 8*size {
				t.Errorf("%d bytes decode to %d", size, sum)
			}
			linear.Check(t, func(n int) func() {
				text := text(n)
				return func() { Layers(text) }
			})
		})
	}
}

func FuzzLayers(f *testing.F) {
	f.Add([]byte("x = '" + base64.StdEncoding.EncodeToString([]byte(sample)) + "'"))
	f.Add([]byte(each(sample, `\x%02x`) + each(sample, "%d,") + printed(sample+"=") + each(sample, "&#x%x;")))
	f.Add([]byte(hex.EncodeToString([]byte(base32.StdEncoding.EncodeToString([]byte(sample))))))
	f.Fuzz(func(t *testing.T, text []byte) {
		sum := 0
		for _, l := range Layers(text) {
			sum += len(l.Text)
			for i := range l.Text {
				start, end := l.Span(i, len(l.Text))
				if start < 0 || start >= end || end > len(text) || start != l.At(i) {
					t.Fatalf("%s: %d to the end is %d to %d of %d", l.How, i, start, end, len(text))
				}
			}
		}
		if sum > 31*len(text) {
			t.Fatalf("%d bytes decode to %d", len(text), sum)
		}
		pieces := Squeeze(text)
		for i, at := 0, 0; i < len(pieces.Text); i++ {
			for strings.IndexByte(joints, text[at]) >= 0 {
				at++
			}
			if start, end := pieces.Span(i, i+1); start != at || end != at+1 || text[at] != pieces.Text[i] {
				t.Fatalf("piece %d is %d to %d, want %d", i, start, end, at)
			}
			at++
		}
	})
}

func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// source is Go source that somebody else wrote, some 5 MB.
func source(b *testing.B) []byte {
	b.Helper()
	var all []byte
	root := filepath.Join(goroot(b), "src")
	for _, dir := range []string{"net", "net/http", "go/types", "runtime", "encoding/json", "crypto/tls"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			b.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, text...)
		}
	}
	if len(all) < 1<<20 {
		b.Fatalf("%d bytes of source", len(all))
	}
	return all
}

func BenchmarkLayers(b *testing.B) {
	text := source(b)
	for _, test := range []struct {
		name string
		text []byte
	}{
		{"source", text},
		{"base64", []byte(base64.StdEncoding.EncodeToString(text[:1<<20]))},
		{"noise in base64", []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff, 1, 0x80, 7}, 1<<18)))},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(test.text)))
			b.ReportAllocs()
			for b.Loop() {
				Layers(test.text)
			}
		})
	}
}

func BenchmarkSqueeze(b *testing.B) {
	text := source(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Squeeze(text)
	}
}
