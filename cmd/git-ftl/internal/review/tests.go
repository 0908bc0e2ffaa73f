package review

import (
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
)

// maxTests bounds the tests that are listed.
const maxTests = 50

// tests lists the tests with a verdict, those that fail or say nothing with their
// output.
func (b *builder) tests() {
	for i, t := range b.change.Verdicts {
		if i == maxTests {
			b.say(at(prose, -1, -1), "  ", "and more: git ftl show --json "+b.change.ID)
			return
		}
		kind := prose
		if t.Status == "failed" || t.Status == "invalid" {
			kind = warning
		}
		b.say(at(kind, -1, -1), "  ", escape.Text(t.Status+"  "+t.Words()))
		if output := strings.Trim(t.Output, "\r\n"); kind == warning && output != "" {
			b.say(at(prose, -1, -1), "    ", output)
		}
	}
}

// Words names a test and what is to be said of it beside its status; not escaped.
func (t Test) Words() string {
	words := []string{t.Path}
	if t.Name != "" && t.Name != t.Path {
		words = append(words, t.Name)
	}
	if t.Own {
		words = append(words, "(the project's own)")
	}
	if t.Proves {
		words = append(words, "(failed before)")
	}
	if t.Detail != "" {
		words = append(words, t.Detail)
	}
	return strings.Join(words, "  ")
}
