package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/internal/needle"
)

func testNeedles(t testing.TB) (*needle.Set, []*credential) {
	t.Helper()
	var all []*credential
	for _, c := range []shadow.Credential{
		modelCredential(),
		{Name: "OTHER", Shadow: otherShad, Real: shadow.NewSecret(otherReal)},
		{Name: "PEM", Shadow: "ftl_shadow_pem_00", Real: shadow.NewSecret("-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG9w0B\r\nQEFAASCAUAwggE8AgEAAkEAtR5yLZ0mW2pVxN8bC4dF6gH1\n-----END KEY-----\n")},
		{Name: "URL", Shadow: "https://bob:ftl_shadow_url_00@h.test", Real: shadow.NewSecret("https://bob:part-of-a-URL-8@h.test"), Binding: shadow.Binding{Hosts: []string{"a.test"}}},
		{Name: "URL", Shadow: "ftl_shadow_url_00", Real: shadow.NewSecret("part-of-a-URL-8"), Binding: shadow.Binding{Hosts: []string{"a.test"}}},
		{Name: "WORD", Shadow: "ftl_shadow_word_00", Real: shadow.NewSecret("postgres")},
		{Name: "CHOSEN", Shadow: "ftl_shadow_chosen_00", Real: shadow.NewSecret("tangerine"), Chosen: true},
	} {
		made, err := newCredential(c)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made)
	}
	return newNeedles(all, []*credential{all[0], all[3], all[4]}), all
}

// parted gives its parts one at a read.
type parted struct{ parts [][]byte }

func (p *parted) Read(b []byte) (int, error) {
	if len(p.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.parts[0])
	if p.parts[0] = p.parts[0][n:]; len(p.parts[0]) == 0 {
		p.parts = p.parts[1:]
	}
	return n, nil
}

// TestScrubEverySplit cuts a text with each encoding at every border.
func TestScrubEverySplit(t *testing.T) {
	n, _ := testNeedles(t)
	swapped := shadow.Encodings(shadowKey)
	for i, form := range shadow.Encodings(realKey) {
		if form == nil {
			continue
		}
		to := swapped[i]
		if to == nil {
			to = []byte(shadowKey)
		}
		text := []byte("data: <" + string(form) + ">\n\n")
		want := "data: <" + string(to) + ">\n\n"
		for cut := range text {
			got, err := io.ReadAll(newScrubber(&parted{[][]byte{text[:cut], text[cut:]}}, n, -1))
			if err != nil || string(got) != want {
				t.Fatalf("encoding %d cut at %d: %q, want %q, %v", i, cut, got, want, err)
			}
		}
		got, err := io.ReadAll(iotest.OneByteReader(newScrubber(iotest.OneByteReader(bytes.NewReader(text)), n, -1)))
		if err != nil || string(got) != want {
			t.Errorf("encoding %d byte by byte: %q, %v", i, got, err)
		}
	}
}

func TestScrubTexts(t *testing.T) {
	n, _ := testNeedles(t)
	for _, test := range []struct{ name, in, want string }{
		{"nothing", "hello", "hello"},
		{"a run of a bound value", "x" + realKey[10:20] + "y", "x**********y"},
		{"a run of seven", "x" + realKey[10:17] + "y", "x" + realKey[10:17] + "y"},
		{"a known prefix alone", "sk-real-not", "sk-real-not"},
		{"a run of a value that is bound elsewhere", otherReal[2:14], otherReal[2:14]},
		{"the whole of one", otherReal, otherShad},
		{"twice", realKey + realKey, shadowKey + shadowKey},
		{"cut off at the end", realKey[:len(realKey)-1], strings.Repeat("*", len(realKey)-1)},
		{"the start twice", realKey[:12] + realKey, strings.Repeat("*", 0) + realKey[:12] + shadowKey},
		{"a line of a PEM", "MIIBVgIBADANBgkqhkiG9w0B", "ftl_shadow_pem_00"},
		{"the password of a URL that is bound too", "x part-of-a-URL-8 y", "x ftl_shadow_url_00 y"},
		{"the whole URL", "<https://bob:part-of-a-URL-8@h.test>", "<https://bob:ftl_shadow_url_00@h.test>"},
		{"what every URL begins with", "https://docs.test", "https://docs.test"},
		{"a word that stands for no secret", "host=db user=postgres", "host=db user=postgres"},
		{"a word that the user gave as one", "a tangerine", "a ftl_shadow_chosen_00"},
		{"its frame", "-----BEGIN KEY-----", "-----BEGIN KEY-----"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, n.Text(test.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestScrubHoldsNothingBack: an event goes on as it comes, whatever it holds.
func TestScrubHoldsNothingBack(t *testing.T) {
	n, _ := testNeedles(t)
	for _, event := range []string{"data: x\n\n", "data: " + realKey[:9] + "\n\n", "data: " + realKey + "\n\n", `data: {"a":"s"}` + "\n\n", "\r\n\r\n", ": -----BEGIN KEY-----\n\n"} {
		s := newScrubber(&parted{[][]byte{[]byte(event)}}, n, -1)
		s.fill()
		if got, want := string(s.out), n.Text(event); got != want {
			t.Errorf("%q: at once %q, want %q", event, got, want)
		}
	}
}

func TestScrubBrokenOff(t *testing.T) {
	n, _ := testNeedles(t)
	broken := errors.New("broken")
	got, err := io.ReadAll(newScrubber(io.MultiReader(strings.NewReader("a"+realKey[:18]), iotest.ErrReader(broken)), n, -1))
	if !errors.Is(err, broken) || string(got) != "a"+strings.Repeat("*", 18) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestScrubChangesNothingElse: this package's own source stays as it is.
func TestScrubChangesNothingElse(t *testing.T) {
	n, _ := testNeedles(t)
	for _, file := range []string{"proxy.go", "needles.go", "attack_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), n.Text(string(text))); diff != "" {
			t.Error(diff)
		}
	}
}

// FuzzScrub: no cut lets a form through, and what holds none comes out as it went in.
func FuzzScrub(f *testing.F) {
	f.Add([]byte("abc"), []byte("def"), uint8(0), uint16(5))
	f.Add([]byte(realKey[:7]), []byte(realKey[3:]), uint8(11), uint16(20))
	n, _ := testNeedles(f)
	forms := shadow.Encodings(realKey)
	f.Fuzz(func(t *testing.T, before, after []byte, which uint8, cut uint16) {
		form := forms[int(which)%len(forms)]
		text := append(append(append([]byte{}, before...), form...), after...)
		at := int(cut) % (len(text) + 1)
		got, err := io.ReadAll(newScrubber(&parted{[][]byte{text[:at], text[at:]}}, n, -1))
		if err != nil {
			t.Fatal(err)
		}
		whole := n.Text(string(text))
		if string(got) != whole {
			t.Fatalf("cut at %d: %q, whole %q", at, got, whole)
		}
		if form != nil && bytes.Contains(got, form) {
			t.Fatalf("form %d came through in %q", which, got)
		}
	})
}

func FuzzHost(f *testing.F) {
	for _, seed := range []string{"api.example.com:443", "[::1]:80", "bücher.test", "127.1", "a..b", "x:0", "::ffff:1.2.3.4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, port, ok := splitHost(text, 443)
		if !ok {
			return
		}
		if again, ok := normalise(host); !ok || again != host || port < 1 || port > 65535 {
			t.Errorf("%q: %q becomes %q", text, host, again)
		}
		if strings.ContainsAny(host, " \r\n\x00/@%") {
			t.Errorf("%q gives %q", text, host)
		}
	})
}

// TestWitness: shadows are seen over any cut of a body.
func TestWitness(t *testing.T) {
	_, all := testNeedles(t)
	n := shadowNeedles(all)
	text := []byte(strings.Repeat("a", 100) + shadowKey + strings.Repeat("b", 500))
	for cut := range text {
		for _, size := range []int{1, 7, 1000} {
			var l leak
			w := &witness{ReadCloser: io.NopCloser(&parted{[][]byte{text[:cut], text[cut:]}}), needles: n, seen: l.add}
			if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{w}, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(l.names(nil)); got != "[MODEL_KEY]" {
				t.Fatalf("cut at %d, reads of %d: %s", cut, size, got)
			}
		}
	}
}

// BenchmarkScrub is the replacing reader alone, with 20 credentials.
func BenchmarkScrub(b *testing.B) {
	var all []*credential
	for i := range 20 {
		c, err := newCredential(shadow.Credential{Name: fmt.Sprint(i), Shadow: fmt.Sprintf("ftl_shadow_%032d", i), Real: shadow.NewSecret(fmt.Sprintf("value-%d-of-a-secret-%030d", i, i*7919))})
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, c)
	}
	n := newNeedles(all, all[:2])
	text := bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog, 0123456789 times.\n"), 1<<14)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := io.Copy(io.Discard, newScrubber(bytes.NewReader(text), n, -1)); err != nil {
			b.Fatal(err)
		}
	}
}
