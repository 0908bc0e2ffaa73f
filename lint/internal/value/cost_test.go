package value

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/linear"
	"github.com/git-ftl/git-ftl/shadow"
)

// TestCleanSource looks for fifty secrets in Go's own source.
func TestCleanSource(t *testing.T) {
	_, ix := samples(t)
	root := filepath.Join(goroot(t), "src")
	if testing.Short() {
		root = filepath.Join(root, "crypto")
	}
	size := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		size += len(text)
		for _, h := range ix.Hits(fresh(path, string(text))) {
			t.Errorf("%s: %s %s", path, h.Rule, h.Message)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if size < 1<<20 {
		t.Fatalf("only %d bytes of source", size)
	}
	t.Logf("%d bytes", size)
}

// TestHitsBounded takes texts that match everywhere, or nearly.
func TestHitsBounded(t *testing.T) {
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "."
	values := []Value{
		{Name: "PERIOD", Needles: shadow.Needles(strings.Repeat("ab", 500), true)},
		{Name: "LETTER", Needles: shadow.Needles(strings.Repeat("a", 64), true)},
		{Name: "KEY", Needles: shadow.Needles(secret, true)},
	}
	for _, s := range corpus.ValueSamples(seeded(3), 300) {
		if s.Kind == "JWT" {
			values = append(values, Value{Name: "JWT", Needles: shadow.Needles(s.Text, true)})
		}
	}
	ix := New(values)
	for _, test := range []struct{ name, unit string }{
		{"one letter", "a"},
		{"the period of a value", "ab"},
		{"a part of it", "babababab "},
		{"a value", secret},
		{"windows of a value", secret[:8] + " " + secret[2:10] + "\n"},
		{"what many share", header},
		{"shadows", "ftl_shadow_"},
		{"shadows in capitals", "AKIA" + "FTLSHADOW"},
		{"long names of shadows", "ftl_shadow_" + strings.Repeat("a_", 90)},
		{"values in base64", base64.StdEncoding.EncodeToString([]byte(secret + "x"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := func(n int) *doc.Document {
				return fresh("a", string(bytes.Repeat([]byte(test.unit), n/len(test.unit)+1)[:n]))
			}
			linear.Check(t, func(n int) func() {
				d := text(n)
				return func() { ix.Hits(d) }
			})
			if hits := ix.Hits(text(1 << 17)); len(hits) > 10*maxSpots {
				t.Errorf("%d hits", len(hits))
			}
		})
	}
}

// TestIndexMemory bounds what fifty secrets take.
func TestIndexMemory(t *testing.T) {
	_, ix := samples(t)
	size := len(ix.text) + len(ix.needles)*72 + cap(ix.windows)*12 + len(ix.heads)*4 + len(ix.seen)*8
	t.Logf("%d needles, %d windows, %d bytes", len(ix.needles), len(ix.windows), size)
	if size > 8<<20 {
		t.Errorf("an index of fifty secrets has %d bytes", size)
	}
}

func FuzzHits(f *testing.F) {
	all := corpus.ValueSamples(seeded(2), 15)
	values := []Value{{Name: "KEY", Needles: shadow.Needles(secret, true)}}
	for _, s := range all {
		values = append(values, Value{Name: "OTHER", Needles: shadow.Needles(s.Text, true)})
	}
	ix := New(values)
	for _, m := range corpus.ValueMutations() {
		f.Add([]byte(m.Write(secret)), []byte(m.Write(all[0].Text)))
	}
	f.Add([]byte("ftl_shadow_key_"+strings.Repeat("0a", 16)), []byte("AKIA"+"FTLSHADOW"))
	f.Fuzz(func(t *testing.T, text, more []byte) {
		d := fresh(string(more), string(text))
		for _, h := range ix.Hits(d) {
			if h.Start < 0 || h.Start > h.End || h.End > len(d.Text) || h.End == 0 && len(h.Match) == 0 {
				t.Fatalf("%s at %d to %d of %d", h.Message, h.Start, h.End, len(d.Text))
			}
			if strings.Contains(h.Message+h.Remedy, secret) {
				t.Fatal("a message tells the value")
			}
		}
		planted := bytes.Join([][]byte{text, more}, []byte("\n"+secret+"\n"))
		if d := fresh("a", string(planted)); bytes.Contains(d.Text, []byte(secret)) && !named(ix.Hits(d), "KEY,") {
			t.Fatal("a value is not found")
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

// source is Go source that somebody else wrote, some MB of it.
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

func BenchmarkHits(b *testing.B) {
	_, ix := samples(b)
	all := string(source(b))
	for _, test := range []struct {
		name  string
		index *Index
		text  string
	}{{"50 secrets", ix, all}, {"no secrets", New(nil), all}, {"50 secrets, 4 KB", ix, all[:4096]}} {
		b.Run(test.name, func(b *testing.B) {
			d := fresh("a.go", test.text)
			b.SetBytes(int64(len(d.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if hits := test.index.Hits(d); len(hits) > 0 {
					b.Fatalf("hits in clean source: %v", rules(hits))
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	all := corpus.ValueSamples(seeded(1), 50)
	values := make([]Value, len(all))
	for i, s := range all {
		values[i] = Value{Name: "KEY", Needles: shadow.Needles(s.Text, false)}
	}
	b.Run("index", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			New(values)
		}
	})
	b.Run("needles", func(b *testing.B) {
		for b.Loop() {
			for _, s := range all {
				shadow.Needles(s.Text, false)
			}
		}
	})
	b.Run("no values", func(b *testing.B) {
		for b.Loop() {
			New(nil)
		}
	})
}
