package shadow

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestFinder: each form of each value, wherever it stands in a file.
func TestFinder(t *testing.T) {
	const secret, short = "correct/horse+battery\"staple", "hun!3r2z"
	f := testMint("project").Finder([]Sought{
		{"LONG", NewSecret(secret), false}, {"SHORT", NewSecret(short), false}, {"PLAIN", NewSecret("production"), false},
		{"CHOSEN", NewSecret("staging-environment"), true}, {"TINY", NewSecret("1234567"), true},
		{"WEAK", NewSecret("postgres://postgres:postgres@localhost:5432/app_dev"), false}, {"STRONG", NewSecret("postgres://u:s3cretpass1!@localhost:5432/app_dev"), false}, {"BIG", NewSecret(strings.Repeat("big secret ", 9000)), true},
	})
	for i, form := range Encodings(secret) {
		for _, at := range []int{0, 1, 32<<10 - 5, 32 << 10, findBlock - 3, findBlock + 32<<10 - 7, 3 * findBlock} {
			text := bytes.Repeat([]byte{'x'}, at)
			text = append(append(text, form...), " and more"...)
			for _, r := range []io.Reader{bytes.NewReader(text), iotest.HalfReader(bytes.NewReader(text)), iotest.DataErrReader(bytes.NewReader(text))} {
				got, err := f.Find(r)
				if want := []string{"LONG"}; len(form) > 0 && (err != nil || !slices.Equal(got, want)) {
					t.Errorf("encoding %d at %d: %v, %v", i, at, got, err)
				}
			}
		}
	}
	for _, row := range []struct {
		text string
		want []string
	}{
		{"password = " + short, []string{"SHORT"}},
		{"password = " + short[:7], nil},
		{"in production, 1234567 times", nil},
		{"url: postgres://postgres:postgres@localhost:5432/app_dev", nil},
		{"url: s3cretpass1!", []string{"STRONG"}},
		{"in staging-environment with " + short, []string{"CHOSEN", "SHORT"}},
		{strings.Repeat("big secret ", 9000), []string{"BIG"}},
		{"", nil},
	} {
		got, err := f.Find(strings.NewReader(row.text))
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("%.60q: %v %s", row.text, err, diff)
		}
	}
	if _, err := f.Find(iotest.ErrReader(fs.ErrPermission)); err == nil {
		t.Error("a file that cannot be read is clean")
	}
}

// TestFinderGeneration: it changes with values and names, and says nothing of them.
func TestFinderGeneration(t *testing.T) {
	one := []Sought{{"A", NewSecret("a-value-of-some-length"), true}}
	seen := map[string]string{}
	for name, f := range map[string]*Finder{
		"one": testMint("project").Finder(one), "none": testMint("project").Finder(nil),
		"name":  testMint("project").Finder([]Sought{{"B", one[0].Value, true}}),
		"value": testMint("project").Finder([]Sought{{"A", NewSecret("a-value-of-some-lengths"), true}}),
		"both":  testMint("project").Finder(append(one, Sought{"B", NewSecret("another-value-1"), true})),
		"key":   NewMint(NewSecret("another key"), "project").Finder(one),
	} {
		if other, ok := seen[f.Generation()]; ok {
			t.Errorf("%s and %s have the same", name, other)
		}
		seen[f.Generation()] = name
		if f.Empty() != (name == "none") {
			t.Errorf("%s: empty is %v", name, f.Empty())
		}
	}
	if again := testMint("project").Finder(one).Generation(); seen[again] != "one" {
		t.Error("it changes by itself")
	}
}

// BenchmarkFinder looks for 50 secrets in Go's own source.
func BenchmarkFinder(b *testing.B) {
	var all []Sought
	for i := range 50 {
		n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 200))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, Sought{fmt.Sprint("S", i), NewSecret("Key/" + n.Text(62)), true})
	}
	f := testMint("project").Finder(all)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	var text []byte
	_ = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src", "net"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(p)
			text = append(text, data...)
		}
		return nil
	})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if names, err := f.Find(bytes.NewReader(text)); err != nil || len(names) > 0 {
			b.Fatal(names, err)
		}
	}
}
