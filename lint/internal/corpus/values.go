package corpus

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
)

// ValueSample is a made-up secret as a user may keep one.
type ValueSample struct {
	Kind, Text string
}

// typed is what a person can type.
const typed = alnum + "!#$%&*+-./:;<=>?@^_~"

// ValueSamples makes n secrets of a dozen kinds in turn, all of 12 bytes and more.
func ValueSamples(r *rand.Rand, n int) []ValueSample {
	of := func(alphabet string, n int) string { return valueText(r, alphabet, n) }
	kinds := []struct {
		kind string
		make func() string
	}{
		{"token of Anthropic", func() string { return "sk-" + "ant-api03-" + of(alnum+"-_", 93) + "AA" }},
		{"token of GitHub", func() string { return "gh" + "p_" + of(alnum, 36) }},
		{"AWS secret key", func() string { return of(alnum+"/+", 40) }},
		{"hex, 32 digits", func() string { return of(lowerHex, 32) }},
		{"hex, 64 digits", func() string { return of(lowerHex, 64) }},
		{"UUID", func() string {
			return fmt.Sprintf("%s-%s-%s-%s-%s", of(lowerHex, 8), of(lowerHex, 4), of(lowerHex, 4), of(lowerHex, 4), of(lowerHex, 12))
		}},
		{"JWT", func() string {
			return valueBase64(`{"alg":"HS256","typ":"JWT"}`) + "." + valueBase64(`{"sub":"`+of(alnum, 24)+`"}`) + "." + of(alnum+"-_", 43)
		}},
		{"base64, 32 bytes", func() string { return base64.StdEncoding.EncodeToString([]byte(of(alnum, 32))) }},
		{"typed password", func() string { return of(typed, 14+r.IntN(12)) }},
		{"12 characters", func() string { return of(alnum, 12) }},
		{"URL with a password", func() string {
			return "postgres://app:" + of(alnum, 20) + "@db.internal.example.com:5432/production?sslmode=require"
		}},
		{"token of Stripe", func() string { return "sk" + "_live_" + of(alnum, 24) }},
		{"connection string", func() string {
			return "DefaultEndpointsProtocol=https;AccountName=store;AccountKey=" + of(alnum+"+/", 86) + "=="
		}},
		{"private key", func() string { return valueKey(r, r.IntN(2) == 0) }},
		{"service account", func() string { return valueAccount(of(lowerHex, 40), of("0123456789", 21), valueKey(r, false)) }},
	}
	all := make([]ValueSample, n)
	for i := range all {
		k := kinds[i%len(kinds)]
		all[i] = ValueSample{k.kind, k.make()}
	}
	return all
}

func valueText(r *rand.Rand, alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

func valueBase64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// valueKey is a private key, whose number comes from r.
func valueKey(r *rand.Rand, edwards bool) string {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(r.Uint32())
	}
	var key any = ed25519.NewKeyFromSeed(seed)
	if !edwards {
		seed[0] = 1 // below the order of the curve: it is a key
		key, _ = ecdsa.ParseRawPrivateKey(elliptic.P256(), seed)
	}
	der, _ := x509.MarshalPKCS8PrivateKey(key) // both kinds can be written
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func valueAccount(id, client, key string) string {
	return valueJSON(map[string]string{
		"type": "service_account", "project_id": "sample-project", "private_key_id": id, "private_key": key,
		"client_email": "robot@sample-project.iam.gserviceaccount.com", "client_id": client,
		"auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": "https://oauth2.googleapis.com/token",
	})
}

// ValueMutation is a way in which a secret gets into a file.
type ValueMutation struct {
	Name  string
	Write func(value string) string // the whole file
}

// ValueMutations are those that the linter finds.
func ValueMutations() []ValueMutation {
	return slices.Concat(valuePlain(), valueBase64s(), valueEscapes())
}

// valuePlain are without an encoding, or with one, in one piece or several.
func valuePlain() []ValueMutation {
	return []ValueMutation{
		{"raw", valueQuoted},
		{"in a URL", func(s string) string { return valueIn("https://example.com/?key=" + url.QueryEscape(s) + "&x=1") }},
		{"JSON", func(s string) string { return valueIn(valueJSON(map[string]string{"key": s})) }},
		{"hex", func(s string) string { return valueQuoted(hex.EncodeToString([]byte(s))) }},
		{"hex in capitals", func(s string) string { return valueQuoted(strings.ToUpper(hex.EncodeToString([]byte(s)))) }},
		{"reversed", func(s string) string {
			b := []byte(s)
			slices.Reverse(b)
			return valueQuoted(string(b))
		}},
		{"upper case", func(s string) string { return valueQuoted(strings.ToUpper(s)) }},
		{"first 80 %", func(s string) string { return valueQuoted(s[:(len(s)*8+9)/10]) }},
		{"concatenated over lines", func(s string) string {
			return valueIn(`"` + strings.Join(valueCut(s, (len(s)+3)/4), "\" +\n\t\"") + `"`)
		}},
		{"concatenated in small pieces", func(s string) string { return valueIn("'" + strings.Join(valueCut(s, 3), "' . '") + "'") }},
		{"YAML folded", func(s string) string { return valueIn(">-\n  " + strings.Join(valueCut(s, 10), "\n  ")) }},
		{"characters", valueEach("'%c'", ", ")},
		{"UTF-16", func(s string) string { return "\xff\xfe" + valueWide(valueQuoted(s)) }},
		{"UTF-16 amid other data", func(s string) string { return "\x01\x02\x03" + valueWide(s) + "\xff" }},
	}
}

// valueBase64s are in base64, alone, with other text, in lines, with more encodings.
func valueBase64s() []ValueMutation {
	std := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return []ValueMutation{
		{"base64", func(s string) string { return valueQuoted(std(s)) }},
		{"base64 of user and password", func(s string) string { return valueIn("Authorization: Basic " + std("user:"+s)) }},
		{"base64 of JSON", func(s string) string { return valueQuoted(std(valueJSON(map[string]string{"a": "b", "key": s}))) }},
		{"base64 in lines", func(s string) string {
			return valueIn("|\n  " + strings.Join(valueCut(std(strings.Repeat("padding ", 7)+s), 76), "\n  "))
		}},
		{"base64 twice", func(s string) string { return valueQuoted(std(std(s))) }},
		{"base64 twice, in lines", func(s string) string { return valueIn(strings.Join(valueCut(std(std(s)), 76), "\n")) }},
		{"base64 of UTF-16", func(s string) string { return valueIn("powershell -EncodedCommand " + std(valueWide("$key='"+s+"'"))) }},
		{"hex of base64", func(s string) string { return valueQuoted(hex.EncodeToString([]byte(std(s)))) }},
	}
}

// valueEscapes write each character by its number.
func valueEscapes() []ValueMutation {
	return []ValueMutation{
		{`\xHH`, valueEach(`\x%02x`, "")},
		{`\uHHHH`, valueEach(`\u%04x`, "")},
		{"octal", valueEach(`\%03o`, "")},
		{"percent", valueEach("%%%02x", "")},
		{"entities", valueEach("&#%d;", "")},
		{"integers", valueEach("%d", ", ")},
		{"hex integers", valueEach("0x%02x", ",\n")},
		{"calls of chr", valueEach("chr(%d)", " + ")},
	}
}

func valueIn(text string) string { return "first line\nkey = " + text + "\nlast line\n" }

func valueQuoted(text string) string { return valueIn(`"` + text + `"`) }

func valueEach(format, between string) func(string) string {
	return func(s string) string {
		var all []string
		for i := range len(s) {
			all = append(all, fmt.Sprintf(format, s[i]))
		}
		return valueIn("[" + strings.Join(all, between) + "]")
	}
}

func valueJSON(v map[string]string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // texts can be written
	return strings.TrimSuffix(out.String(), "\n")
}

// valueCut cuts a text into parts of so many bytes.
func valueCut(s string, n int) []string {
	var parts []string
	for part := range slices.Chunk([]byte(s), n) {
		parts = append(parts, string(part))
	}
	return parts
}

// valueWide is ASCII as UTF-16, little end first.
func valueWide(s string) string {
	out := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		out = append(out, s[i], 0)
	}
	return string(out)
}
