package credential_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// TestGoSourceIsClean: the block tier finds nothing in Go's own source, but the
// private keys that its tests carry.
func TestGoSourceIsClean(t *testing.T) {
	dir := filepath.Join(goroot(t), "src")
	if testing.Short() {
		dir = filepath.Join(dir, "net")
	}
	lines, warned, keys := 0, 0, 0
	for path, text := range sources(t, dir, ".go", ".s", ".md", ".txt", ".json", ".js", ".html", ".mod", ".sum", ".pem", ".yaml", ".sh") {
		lines += bytes.Count(text, []byte("\n"))
		d := doc.New(path, git.Entry{}, git.Entry{}, text, nil)
		for _, h := range rules.Hits(d) {
			test := strings.Contains(path, "_test.go") || strings.Contains(path, "/testdata/") || strings.HasSuffix(path, "/crypto/x509/platform_root_key.pem")
			switch {
			case h.Rule == "credential/private-key" && test:
				keys++
				t.Logf("%s:%d: %s", path, d.Line(h.Start), h.Message)
			case h.Severity == doc.Block:
				t.Errorf("%s:%d: %s: %q", path, d.Line(h.Start), h.Rule, text[h.Start:h.End])
			default:
				warned++
				t.Logf("%s:%d: %s: %.80q", path, d.Line(h.Start), h.Rule, text[h.Start:h.End])
			}
		}
	}
	if warned*1000 > lines {
		t.Errorf("%d warnings in %d lines, want at most one in a thousand", warned, lines)
	}
	t.Logf("%d lines, %d warnings, %d private keys of tests", lines, warned, keys)
}
