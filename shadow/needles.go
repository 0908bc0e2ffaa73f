package shadow

import (
	"encoding/json"
	"strings"
)

// Needle is a form of a secret that is worth looking for in what leaves a
// sandbox.
type Needle struct {
	Encoding string // "raw", "json", "url", "html", "hex", "base64", "base32", "utf-16", "reversed", "upper case", "lower case"
	Text     Secret
	Exact    bool // only the whole text counts, not a part of it
}

// Limits of what is worth looking for.
const (
	fullLength  = 12  // in bytes, from here on in every encoding and in parts
	needEntropy = 2.5 // in bits a byte, below fullLength
	pemLine     = 32  // in bytes: shorter lines of a key stand alone for nothing, and the last one of many is padding
)

// Needles are the forms of a value to look for. None for a value under MinLength,
// for one that is plain (a number, a host, a word) or too regular, unless the
// user chose it: then only the length counts. Of 8 to 11 bytes there are the raw
// and base64 forms, Exact. Of a URL the password counts as well as the whole, of
// a private key each line, of a JSON document each secret text in it; the prefix
// of a provider ("sk_live_") is left out, since it is in every example, and so is
// what every private key of a kind begins with.
func Needles(value string, chosen bool) []Needle {
	var all []Needle
	seen := map[string]bool{}
	for _, piece := range pieces(value) {
		if !chosen && isPlain("", piece) || !chosen && len(piece) < fullLength && entropy(piece) < needEntropy {
			continue
		}
		for _, n := range forms(piece) {
			if key := n.Text.Reveal(); !seen[key] {
				seen[key] = true
				all = append(all, n)
			}
		}
	}
	return all
}

// worth reports whether a value that the user did not choose would be looked for.
func worth(value string) bool { return len(Needles(value, false)) > 0 }

func forms(piece string) []Needle {
	short := len(piece) < fullLength
	text := piece
	if prefix := providerPrefix(piece); len(piece)-len(prefix) >= MinLength {
		text = piece[len(prefix):]
	}
	if short {
		text = piece
	}
	var all []Needle
	names := encoders()
	for i, form := range Encodings(text) {
		if name := names[i].name; len(form) >= MinLength && (!short || name == "raw" || name == "base64") {
			all = append(all, Needle{Encoding: name, Text: NewSecret(string(form)), Exact: short})
		}
	}
	return all
}

// pieces are the value itself and the parts that are secrets of their own.
func pieces(value string) []string {
	trimmed := strings.TrimSpace(value)
	var parts []string
	switch {
	case strings.HasPrefix(trimmed, "-----BEGIN "):
		for line := range strings.Lines(trimmed) {
			line = strings.TrimSpace(line)
			if line = line[keyHeader(line):]; len(line) >= fullLength && !strings.HasPrefix(line, "-----") {
				parts = append(parts, line)
			}
		}
		return parts // the whole is the lines, and its headers are in every key
	case strings.HasPrefix(trimmed, "{"):
		var doc any
		if json.Unmarshal([]byte(trimmed), &doc) == nil {
			return append([]string{value}, texts("", doc)...)
		}
	}
	for _, p := range splitURL(value) {
		if p.secret {
			parts = append(parts, p.text)
		}
	}
	return append([]string{value}, parts...)
}

// keyHeader is how much of a line every private key of its kind begins with: the
// names of format and algorithm. It is all of a line that is too short.
func keyHeader(line string) int {
	const rsa, rsaLength = "ADANBgkqhkiG9w0BAQEFAASC", 52 // of PKCS #8, behind its length
	switch {
	case len(line) < pemLine, strings.HasPrefix(line, "b3BlbnNzaC1rZXktdjE"): // "openssh-key-v1"
		return len(line)
	case len(line) > rsaLength && strings.HasPrefix(line, "MII") && strings.Contains(line[:rsaLength], rsa):
		return rsaLength
	}
	for _, ec := range []string{
		"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg", // P-256
		"MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBD",   // P-384
		"MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEI",  // P-521
	} {
		if strings.HasPrefix(line, ec) {
			return len(ec)
		}
	}
	return 0
}

// texts are the secret texts of a JSON document.
func texts(key string, v any) []string {
	var all []string
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			all = append(all, texts(k, inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, texts(key, inner)...)
		}
	case string:
		if !isPublicURL(v) && !isPlain(key, v) {
			all = pieces(v)
		}
	}
	return all
}
