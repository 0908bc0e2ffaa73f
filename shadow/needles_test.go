package shadow

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
)

func TestNeedles(t *testing.T) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	der, _ := x509.MarshalPKCS8PrivateKey(ed)
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	body := strings.Split(key, "\n")[1]
	for _, test := range []struct {
		name, value string
		chosen      bool
		raw         []string // the raw forms that are looked for
		exact       bool
	}{
		{"under 8 bytes", "hunt3r!", true, nil, false},
		{"8 bytes of entropy", "hun!3r2z", false, []string{"hun!3r2z"}, true},
		{"8 bytes of little", "aaaabbbb", false, nil, false},
		{"8 bytes that were chosen", "aaaabbbb", true, []string{"aaaabbbb"}, true},
		{"a word", "production", false, nil, false},
		{"a word that was chosen", "production", true, []string{"production"}, true},
		{"a host", "db.internal.example.com", false, nil, false},
		{"a number", "123456789012", false, nil, false},
		{"a passphrase", "correct-horse-battery", false, []string{"correct-horse-battery"}, false},
		{"a prefix", "sk_live_aB3dE6gH9jK2", false, []string{"aB3dE6gH9jK2"}, false},
		{"a URL", "postgres://u:s3cretpass1!@db.example.com/app", false, []string{"postgres://u:s3cretpass1!@db.example.com/app", "s3cretpass1!"}, false},
		{"a URL without a secret", "https://example.com/path", false, nil, false},
		{"a private key", key, false, []string{body}, false},
		{"a document", `{"type":"service_account","pass":"s3cretpass1!x"}`, false, []string{`{"type":"service_account","pass":"s3cretpass1!x"}`, "s3cretpass1!x"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var raw []string
			encodings := map[string]bool{}
			for _, n := range Needles(test.value, test.chosen) {
				encodings[n.Encoding] = true
				if n.Encoding == "raw" {
					raw = append(raw, n.Text.Reveal())
				}
				if n.Exact != test.exact {
					t.Errorf("%s is exact: %v", n.Encoding, n.Exact)
				}
				if text := n.Text.Reveal(); len(text) < MinLength {
					t.Errorf("%s of %d bytes", n.Encoding, len(text))
				}
			}
			if !slices.Equal(raw, test.raw) {
				t.Errorf("raw %q, want %q", raw, test.raw)
			}
			if test.exact && (len(encodings) != 2 || !encodings["base64"]) {
				t.Errorf("a short value is looked for as %v", encodings)
			}
			if !test.exact && test.raw != nil && !encodings["hex"] {
				t.Errorf("a long value is looked for as %v alone", encodings)
			}
		})
	}
}

// TestNeedlesOfKeyHeaders: what all private keys of a kind begin with is no needle.
func TestNeedlesOfKeyHeaders(t *testing.T) {
	for _, test := range []struct {
		name  string
		curve elliptic.Curve
		start int // of what is the key's own, in its first line
	}{
		{"P-256", elliptic.P256(), 48},
		{"P-384", elliptic.P384(), 46},
		{"P-521", elliptic.P521(), 47},
	} {
		t.Run(test.name, func(t *testing.T) {
			ec, err := ecdsa.GenerateKey(test.curve, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			der, err := x509.MarshalPKCS8PrivateKey(ec)
			if err != nil {
				t.Fatal(err)
			}
			key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
			want := strings.Split(key, "\n")[1][test.start:]
			if got := Needles(key, false)[0].Text.Reveal(); got != want {
				t.Errorf("the first needle has %d bytes, want %d", len(got), len(want))
			}
		})
	}
}
