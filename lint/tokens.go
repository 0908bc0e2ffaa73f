package lint

import (
	"slices"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// TokensVersion is another one where Tokens would say something else of the same
// bytes.
const TokensVersion = "2"

// Tokens names the first token of a provider in a file that nobody has accepted, ""
// where there is none. Private keys and what has no provider do not count: tests
// need their fixtures.
func (l *Linter) Tokens(path string, text []byte, a Acceptance) string {
	d := &doc.Document{Path: path, Text: doc.Decode(text), FirstLine: 1}
	hits := l.rules.HitsIn(d.Text, true)
	i := slices.IndexFunc(hits, func(h doc.Hit) bool {
		f, counts := a.judge(finding(d, h, matched(d, h), nil))
		return counts && f.Blocks() && !isKey(h.Rule)
	})
	if i < 0 {
		return ""
	}
	return hits[i].Message
}

// isKey reports whether a rule is about what has no provider.
func isKey(rule string) bool {
	return slices.Contains([]string{"credential/private-key", "credential/putty-key", "credential/jwt", "credential/too-many"}, rule)
}
