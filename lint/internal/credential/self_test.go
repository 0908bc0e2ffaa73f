package credential_test

import (
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// TestItsOwnSourceIsClean: no token, and nothing like one, stands in the rules and
// in what tests them, where other scanners would find it.
func TestItsOwnSourceIsClean(t *testing.T) {
	for path, text := range sources(t, "..", ".go") {
		d := doc.New(path, git.Entry{}, git.Entry{}, text, nil)
		for _, h := range rules.Hits(d) {
			if h.Severity == doc.Block {
				t.Errorf("%s:%d: %s", path, d.Line(h.Start), h.Rule)
			}
		}
	}
}
