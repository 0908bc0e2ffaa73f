//go:build linux

package workspace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// BenchmarkWarm times what a warm task pays for: a reset and a diff with ten
// changed files, by the size of the repository.
func BenchmarkWarm(b *testing.B) {
	for _, n := range []int{1_000, 27_000, 100_000} {
		s := newSpace(b)
		base := files{}
		for i := range n {
			base[fmt.Sprintf("src/package%d/folder%d/some_file_%d.go", i/100, i/10, i)] = fmt.Sprintf("644 package p%d\n", i)
		}
		resetAll(b, s, "b1", base)
		edit := func(b *testing.B) {
			b.StopTimer()
			for i := range 10 {
				at := i * n / 10
				name := fmt.Sprintf("src/package%d/folder%d/some_file_%d.go", at/100, at/10, at)
				must(b, os.WriteFile(filepath.Join(s.Root, name), []byte("changed\n"), 0o644))
			}
			b.StartTimer()
		}
		b.Run(fmt.Sprintf("reset/%d", n), func(b *testing.B) {
			for b.Loop() {
				edit(b)
				reseti(b, s, wire.Reset{ID: "b1", From: "b1"})
			}
		})
		b.Run(fmt.Sprintf("diff/%d", n), func(b *testing.B) {
			for b.Loop() {
				edit(b)
				c, err := s.Scan()
				must(b, err)
				var out bytes.Buffer
				must(b, c.Write(&out, 1<<30))
				c.Close()
			}
		})
		b.Run(fmt.Sprintf("manifest/%d", n), func(b *testing.B) {
			for b.Loop() {
				_, err := s.loadManifest()
				must(b, err)
			}
		})
	}
}
