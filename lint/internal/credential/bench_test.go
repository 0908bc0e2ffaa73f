package credential_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/credential"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// goroot is where Go's own source is.
func goroot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// sources reads the files below a folder that end in one of some names.
func sources(t testing.TB, dir string, ends ...string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		for _, end := range ends {
			if strings.HasSuffix(path, end) {
				out[path], err = os.ReadFile(path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func BenchmarkHits(b *testing.B) {
	files := sources(b, filepath.Join(goroot(b), "src", "net"), ".go")
	size := int64(0)
	for _, text := range files {
		size += int64(len(text))
	}
	r := credential.New(credential.Options{})
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for path, text := range files {
			r.Hits(doc.New(path, git.Entry{}, git.Entry{}, text, nil))
		}
	}
}

func BenchmarkFirst(b *testing.B) {
	b.ReportAllocs()
	d := doc.New("a.go", git.Entry{}, git.Entry{}, bytes.Repeat([]byte("x := 1\n"), 100), nil)
	for b.Loop() {
		credential.New(credential.Options{}).Hits(d)
	}
}
