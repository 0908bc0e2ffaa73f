package value

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// found is a hit as a test compares it.
type found struct{ Rule, At, Message string }

// at says where each hit is: its text, or the path.
func at(d *doc.Document, hits []doc.Hit) []found {
	var all []found
	for _, h := range hits {
		where := string(d.Text[h.Start:h.End])
		if h.End == 0 {
			where = "path: " + string(h.Match)
		}
		all = append(all, found{h.Rule, where, h.Message})
	}
	return all
}

const secret = "kV7qz0TpW3mXs9RbLd2Y"

func one(name, value string) *Index {
	return New([]Value{{Name: name, Needles: shadow.Needles(value, true)}})
}

func TestHits(t *testing.T) {
	based := base64.StdEncoding.EncodeToString([]byte(secret))
	half, rest := secret[:10], secret[10:]
	for _, test := range []struct {
		name      string
		path      string
		text, was string
		want      []found
	}{
		{"nothing", "a.txt", "no secret\n", "", nil},
		{"raw", "a.txt", "key=" + secret + "\n", "", []found{{"value/real", secret, "value of KEY, raw"}}},
		{"two times", "a.txt", secret + "\n" + strings.Repeat("x\n", 50) + secret, "", []found{{"value/real", secret, "value of KEY, raw"}, {"value/real", secret, "value of KEY, raw"}}},
		{"half", "a.txt", "key=" + half + "\n", "", []found{{"value/part", half, "part of the value of KEY, raw"}}},
		{"a third", "a.txt", "key=" + secret[:7] + "\n", "", nil},
		{"two halves, apart", "a.go", "a := " + half + "\nb := 1\nc := " + rest + "\n", "", []found{{"value/real", half + "\nb := 1\nc := " + rest, "value of KEY, raw"}}},
		{"joined", "a.go", `"` + half + "\" +\n\t\"" + rest + `"`, "", []found{{"value/real", half + "\" +\n\t\"" + rest, "value of KEY, raw in pieces"}}},
		{"joined in small pieces", "a.go", "'" + strings.Join(strings.Split(secret, ""), "', '") + "'", "", []found{{"value/real", strings.Join(strings.Split(secret, ""), "', '"), "value of KEY, raw in pieces"}}},
		{"base64", "a.txt", based, "", []found{{"value/real", strings.TrimRight(based, "="), "value of KEY, base64"}}},
		{"hex", "a.txt", "0x" + hex.EncodeToString([]byte(secret)), "", []found{{"value/real", hex.EncodeToString([]byte(secret)), "value of KEY, hex"}}},
		{"in the path", "conf/" + secret + ".txt", "", "", []found{{"value/real", "path: " + secret, "value of KEY, raw"}}},
		{"in the path, in hex", "conf/" + hex.EncodeToString([]byte(secret)), "", "", []found{{"value/real", "path: " + hex.EncodeToString([]byte(secret)), "value of KEY, hex"}}},
		{"in the base", "a.txt", secret + "\nmore\n", secret + "\n", nil},
		{"in the base in another form", "a.txt", secret + "\n", "x=" + based + "\n", nil},
		{"a part in the base", "a.txt", half + "\nmore\n", half + "\n", nil},
		{"all of it where the base has a part", "a.txt", secret + "\n", half + "\n", []found{{"value/real", secret, "value of KEY, raw"}}},
		{"made of old lines", "a.txt", half + "\n" + rest + "\n", rest[:5] + "\n" + half + "\nabc\n", []found{{"value/real", half + "\n" + rest, "value of KEY, raw in pieces"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := fresh(test.path, test.text)
			if test.was != "" {
				d = doc.New(test.path, entry(), entry(), []byte(test.text), []byte(test.was))
			}
			hits := one("KEY", secret).Hits(d)
			if diff := cmp.Diff(test.want, at(d, hits)); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
			for _, h := range hits {
				if !h.Secret || !h.Anywhere || h.Remedy != takeOut {
					t.Errorf("a hit of a value: %+v", h)
				}
			}
		})
	}
}

// TestHitsOfOldLines: each character of a value on a line that the base has, too, is
// still something new.
func TestHitsOfOldLines(t *testing.T) {
	was := strings.Join(strings.Split("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", ""), "\n")
	text := was + "\n" + strings.Join(strings.Split(secret, ""), "\n")
	d := doc.New("a.txt", entry(), entry(), []byte(text), []byte(was))
	hits := one("KEY", secret).Hits(d)
	if !named(hits, "KEY,") || !hits[0].Anywhere {
		t.Errorf("hits: %v", rules(hits))
	}
}

func TestHitsOfKinds(t *testing.T) {
	const url = "postgres://app:kV7qz0TpW3mX@db.example.com:5432/production"
	for _, test := range []struct {
		name, value, text string
		want              []string
	}{
		{"8 bytes", "hun!3r2z", "password: hun!3r2z\n", []string{"value/real: value of KEY, raw"}},
		{"8 bytes in base64", "hun!3r2z", base64.StdEncoding.EncodeToString([]byte("user:hun!3r2z")), []string{"value/real: value of KEY, base64"}},
		{"8 bytes, all but one", "hun!3r2z", "password: hun!3r2\n", nil},
		{"8 bytes in another case", "hun!3r2z", "password: HUN!3R2Z\n", nil},
		{"7 bytes", "hun!3r2", "password: hun!3r2\n", nil},
		{"11 bytes without its marks", "pass;word;1", "password1\n", nil},
		{"9 bytes behind a prefix", "sk-" + "a1b2c3d4e", "x = a1b2c3d4e", []string{"value/real: value of KEY, raw"}},
		{"a prefix alone", "sk_" + "live_" + secret, "sk_" + "live_", nil},
		{"password of a URL", url, "kV7qz0TpW3mX", []string{"value/real: value of KEY, raw"}},
		{"a URL without its password", url, "postgres://app:${PASSWORD}@db.example.com:5432/production", nil},
		{"a URL with it", url, url, []string{"value/real: value of KEY, raw"}},
		{"a document without its secrets", `{"type": "service_account", "name": "example", "pass": "kV7qz0TpW3mX"}`, `{"type": "service_account", "name": "example", "pass": ""}`, nil},
		{"marks in a value, in pieces", `a$b+c{d}e.f,g;h&i|j"klmno`, `"a$b+c{" + "d}e.f,g" + ";h&i|j\"klmno"`, []string{"value/real: value of KEY, raw in pieces"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, rules(one("KEY", test.value).Hits(fresh("a.txt", test.text)))); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHitsOfKeys: a private key is found by its lines, as one thing. Another key
// of its kind is not taken for it, though it may share a part of a line.
func TestHitsOfKeys(t *testing.T) {
	pkcs8 := func(key any, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	newEC := func(c elliptic.Curve) string { return pkcs8(ecdsa.GenerateKey(c, rand.Reader)) }
	newEd := func() (key any, err error) {
		_, key, err = ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	for _, test := range []struct {
		name string
		make func() string
	}{
		{"RSA", func() string { return pkcs8(rsa.GenerateKey(rand.Reader, 2048)) }},
		{"P-256", func() string { return newEC(elliptic.P256()) }},
		{"P-384", func() string { return newEC(elliptic.P384()) }},
		{"P-521", func() string { return newEC(elliptic.P521()) }},
		{"Ed25519", func() string { return pkcs8(newEd()) }},
		{"OpenSSH", func() string {
			key, err := newEd()
			if err != nil {
				t.Fatal(err)
			}
			block, err := ssh.MarshalPrivateKey(key, "")
			if err != nil {
				t.Fatal(err)
			}
			return string(pem.EncodeToMemory(block))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			key, others := test.make(), test.make()+test.make()+test.make()
			ix := one("KEY", key)
			for _, text := range []string{key, strings.ReplaceAll(key, "\n", `\n`), "key: |\n  " + strings.ReplaceAll(key, "\n", "\n  ")} {
				if hits := ix.Hits(fresh("a.pem", text)); len(hits) != 1 || !named(hits, "KEY,") {
					t.Errorf("hits in %d lines: %v", strings.Count(text, "\n"), rules(hits))
				}
			}
			lines := strings.Split(strings.TrimSpace(key), "\n")
			if hits := ix.Hits(fresh("a.txt", lines[max(1, len(lines)-3)])); !named(hits, "KEY,") {
				t.Errorf("a line is not found: %v", rules(hits))
			}
			if hits := ix.Hits(fresh("a.pem", others)); named(hits, "KEY,") {
				t.Errorf("another key is found: %v", rules(hits))
			}
		})
	}
}

func TestHitsOfShadows(t *testing.T) {
	const sum = "0123456789abcdef0123456789abcdef"
	token := "ftl_shadow_openai_api_key_" + sum
	named, plain := "the shadow of OPENAI_API_KEY, which is worth nothing outside a sandbox", "a shadow, which is worth nothing outside a sandbox"
	key := strings.ToUpper("akia" + "ftlshadow" + "abcdefg")
	for _, test := range []struct {
		name, path, text string
		want             []found
	}{
		{"token", "a.txt", "key=" + token + "\n", []found{{"value/shadow", token, named}}},
		{"behind a prefix", "a.txt", "key=sk-" + token + "\n", []found{{"value/shadow", token, named}}},
		{"capitals", "a.txt", strings.ToUpper(token), []found{{"value/shadow", strings.ToUpper(token), named}}},
		{"cut", "a.txt", "ftl_shadow_openai_api", []found{{"value/shadow", "ftl_shadow_", plain}}},
		{"in pieces", "a.txt", `"ftl_" + "shadow_openai_api_key_" + "` + sum + `"`, []found{{"value/shadow", `ftl_" + "shadow_openai_api_key_" + "` + sum, named}}},
		{"base64", "a.txt", base64.RawStdEncoding.EncodeToString([]byte(token)), []found{{"value/shadow", base64.RawStdEncoding.EncodeToString([]byte(token)), named}}},
		{"AWS", "a.txt", "id: " + key, []found{{"value/shadow", key, plain}}},
		{"AWS in small letters", "a.txt", strings.ToLower(key), []found{{"value/shadow", strings.ToLower(key), plain}}},
		{"AWS, cut", "a.txt", "FTLSHADOW", []found{{"value/shadow", "FTLSHADOW", plain}}},
		{"words", "a.txt", "run git ftl shadow add; type FtlShadow struct", nil},
		{"path", "keys/" + token, "", []found{{"value/shadow", "path: " + token, named}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := fresh(test.path, test.text)
			hits := New(nil).Hits(d)
			if diff := cmp.Diff(test.want, at(d, hits)); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
			if len(hits) > 0 && test.want[0].Message == named && hits[0].Remedy != "read OPENAI_API_KEY from the environment instead" {
				t.Errorf("remedy: %s", hits[0].Remedy)
			}
		})
	}
}

// TestHitsOfOldShadows: only a shadow on a new line counts.
func TestHitsOfOldShadows(t *testing.T) {
	was := strings.Repeat("ftl_shadow_a\n", 2*maxSpots)
	d := doc.New("a.txt", entry(), entry(), []byte(was+"b = ftl_shadow_b\n"), []byte(was))
	hits := New(nil).Hits(d)
	if len(hits) != 1 || d.Line(hits[0].Start) != 2*maxSpots+1 {
		t.Errorf("hits: %v", hits)
	}
}

// TestHitsOfPaths: a path counts once, when it is new.
func TestHitsOfPaths(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new git.Entry
		want     int
	}{
		{"added", git.Entry{}, entry(), 1},
		{"modified", entry(), entry(), 0},
		{"deleted", entry(), git.Entry{}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := doc.New(secret, test.old, test.new, nil, nil)
			if hits := one("KEY", secret).Hits(d); len(hits) != test.want {
				t.Errorf("hits: %v", rules(hits))
			}
		})
	}
}

// TestHitsInWindows cuts a file as large ones are, amid a value.
func TestHitsInWindows(t *testing.T) {
	const window, overlap = 1 << 20, 64 << 10
	line := strings.Repeat("x", 63) + "\n"
	text := strings.Repeat(line, window/len(line))[:window-8] + secret + "\n" + strings.Repeat(line, 100)
	ix := one("KEY", secret)
	lines := map[int]bool{}
	for start := 0; start < len(text); start += window - overlap {
		d := fresh("large", text[start:min(len(text), start+window)])
		d.Part, d.FirstLine = true, 1+strings.Count(text[:start], "\n")
		for _, h := range ix.Hits(d) {
			if h.Rule == "value/real" {
				lines[d.Line(h.Start)] = true
			}
		}
	}
	if want := map[int]bool{1 + strings.Count(text[:window-8], "\n"): true}; !cmp.Equal(want, lines) {
		t.Errorf("lines %v, want %v", lines, want)
	}
}

func TestNew(t *testing.T) {
	needles := shadow.Needles(secret, true)
	for _, test := range []struct {
		name   string
		values []Value
		empty  bool
		want   []string
	}{
		{"none", nil, true, nil},
		{"too short to look for", []Value{{Name: "A"}}, true, nil},
		{"the same twice", []Value{{Name: "A", Needles: needles}, {Name: "B", Needles: needles}}, false, []string{"value/real: value of A, raw"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ix := New(test.values)
			if ix.Empty() != test.empty {
				t.Errorf("empty: %v", ix.Empty())
			}
			if diff := cmp.Diff(test.want, rules(ix.Hits(fresh("a", secret)))); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIndexHidesValues prints an index in every way.
func TestIndexHidesValues(t *testing.T) {
	ix := one("KEY", secret)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, ix); got != "[values]" {
			t.Errorf("%s: %.100s", verb, got)
		}
	}
}
