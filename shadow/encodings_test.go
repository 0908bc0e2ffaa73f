package shadow

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// found reports whether a text holds a value in any of its encodings.
func found(value, text string) bool {
	for _, form := range Encodings(value) {
		if form != nil && bytes.Contains([]byte(text), form) {
			return true
		}
	}
	return false
}

func TestEncodings(t *testing.T) {
	const value = "p<ä\"s/ w0&rd+'\n$x"
	escaped, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, text string }{
		{"raw", "x" + value + "y"},
		{"json of Go", string(escaped)},
		{"json of JavaScript", `{"a":"p<ä\"s/ w0&rd+'\n$x"}`},
		{"json of Python", `{"a": "p<\u00e4\"s/ w0&rd+'\n$x"}`},
		{"json of PHP, ASCII apart", `{"a":"p<ä\"s\/ w0&rd+'\n$x"}`},
		{"query", "a=" + url.QueryEscape(value)},
		{"query in lower case", "a=p%3c%c3%a4%22s%2f+w0%26rd%2b%27%0a%24x"},
		{"path", "/" + url.PathEscape(value)},
		{"encodeURIComponent", "p%3C%C3%A4%22s%2F%20w0%26rd%2B'%0A%24x"},
		{"html of Go", "p&lt;ä&#34;s/ w0&amp;rd+&#39;\n$x"},
		{"html of Python", "p&lt;ä&quot;s/ w0&amp;rd+&#x27;\n$x"},
		{"hex", fmt.Sprintf("%x", value)},
		{"hex in upper case", fmt.Sprintf("%X", value)},
		{"UTF-16, little end first", "\xff\xfex\x00" + strings.Join(strings.Split("p<\xe4\"s/ w0&rd+'\n$x", ""), "\x00") + "\x00"},
		{"UTF-16, big end first", "\xfe\xff\x00" + strings.Join(strings.Split("p<\xe4\"s/ w0&rd+'\n$x", ""), "\x00")},
		{"reversed", reversed(value)},
		{"upper case", strings.ToUpper(value)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !found(value, test.text) {
				t.Errorf("%q is not found in %q", value, test.text)
			}
			if found("another-"+value, test.text) {
				t.Error("a longer value is found, too")
			}
		})
	}
}

// TestEncodingsBase64 puts a value at every place of a longer text.
func TestEncodingsBase64(t *testing.T) {
	value := "s3cr\xffet-\xfe\xfbvalue"
	for before := range 7 {
		for after := range 4 {
			text := []byte(strings.Repeat("b", before) + value + strings.Repeat("a", after))
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
				if encoded := e.EncodeToString(text); !found(value, encoded) {
					t.Errorf("%d bytes before, %d after: not found in %s", before, after, encoded)
				}
			}
		}
	}
}

// TestEncodingsPairUp: an index stands for one encoding, whatever the value.
func TestEncodingsPairUp(t *testing.T) {
	a, b := Encodings("plain-value-1"), Encodings("ä<\"&'/ \n$ Value")
	if len(a) != len(b) || len(a) != len(encoders()) {
		t.Fatalf("%d and %d encodings, want %d", len(a), len(b), len(encoders()))
	}
	for i, form := range b {
		if form == nil && a[i] != nil {
			t.Errorf("encoding %d has no form of the value that every escape changes", i)
		}
	}
	if got := Encodings("short"); got != nil {
		t.Errorf("a value under %d bytes has encodings: %q", MinLength, got)
	}
}

// TestEncodingsBase32 puts a value at every place of a longer text.
func TestEncodingsBase32(t *testing.T) {
	value := "s3cr\xffet-\xfe\xfbvalue"
	for before := range 11 {
		for after := range 6 {
			text := base32.StdEncoding.EncodeToString([]byte(strings.Repeat("b", before) + value + strings.Repeat("a", after)))
			for _, encoded := range []string{text, strings.ToLower(text), strings.TrimRight(text, "=")} {
				if !found(value, encoded) {
					t.Errorf("%d bytes before, %d after: not found in %s", before, after, encoded)
				}
			}
		}
	}
}
