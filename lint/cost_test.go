package lint

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/linear"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// TestManyHits: what is done with hits grows with their number, and with the text
// that is removed beside them.
func TestManyHits(t *testing.T) {
	for _, test := range []struct {
		name string
		hit  func(i, n int) doc.Hit // of n, each of 16 bytes in a line
		line string
	}{
		{"apart", func(i, _ int) doc.Hit { return doc.Hit{Start: 16 * i, End: 16*i + 12} }, "a secret, no %4d\n"},
		{"in one line", func(i, _ int) doc.Hit { return doc.Hit{Start: 16 * i, End: 16*i + 12} }, "a secret, no %4d "},
		{"over each other", func(i, n int) doc.Hit { return doc.Hit{Start: 16 * i, End: min(16*i+1024, 16*n)} }, "a secret, no %4d\n"},
		{"the same", func(i, _ int) doc.Hit { return doc.Hit{Start: 16 * i, End: 16*i + 9} }, "a secret, no %4d\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			linear.Check(t, func(size int) func() {
				n := size / 64
				var text bytes.Buffer
				hits := make([]doc.Hit, n)
				for i := range hits {
					fmt.Fprintf(&text, "%.16s", fmt.Sprintf(test.line, i%10_000))
					hits[i] = test.hit(i, n)
					hits[i].Rule, hits[i].Secret, hits[i].Severity = "credential/x", true, Severity([]string{"block", "warn"}[i%2])
				}
				removed := bytes.Replace(text.Bytes(), []byte("no"), []byte("On"), -1)
				d := doc.New("a.txt", git.Entry{Mode: filemode.Regular}, git.Entry{Mode: filemode.Executable}, text.Bytes(), removed)
				c := &check{Linter: New(Options{}), seen: map[string]bool{}}
				return func() {
					c.take(d, hits)
					c.dropHeld(removed)
				}
			})
		})
	}
}
