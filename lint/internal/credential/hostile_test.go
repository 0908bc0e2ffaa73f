package credential_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/credential"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/linear"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// TestHostileTexts: the work is in proportion to the bytes, whatever they are.
func TestHostileTexts(t *testing.T) {
	for _, test := range []struct{ name, piece string }{
		{"one line", "a"}, {"quotes", `"`}, {"empty literals", `"" + `}, {"literals and remarks", `"//`}, {"open remarks", `"/*`},
		{"keywords", "datadog heroku token aws_secret "}, {"names", `password="a1b2c3d4e5";`}, {"near", "heroku=key "}, {"assignments", "pass:"},
		{"headers of keys", "-----BEGIN PRIVATE KEY-----"}, {"headers behind words", "a-b ----BEGIN PRIVATE KEY- "}, {"headers of keys in lines", "a-b ----BEGIN PRIVATE KEY-\n"},
		{"PuTTY", "PuTTY-User-Key-File-3: Private-Lines: "}, {"web tokens", "eyJhbGciOiJIUzI1NiJ9.eyJ9."}, {"web tokens of nothing", " eyJ.eyJ.eyJ"},
		{"prefixes", "ABSK"}, {"parted prefixes", "/EAA"}, {"open prefixes", "sk-proj-"}, {"fly", " fm2_" + strings.Repeat("a", 200)},
		{"URLs", "a://b:c@"}, {"data sources", "a:bc@tcp("}, {"headers", "Authorization: Basic "}, {"telegram", "1234567890:AA"}, {"gaps", "\"\\\n"}, {"folds", "abcdefgh\n"},
		{"templates", "${\"a\"}"}, {"slack", "xoxb-1234567890123-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			linear.Check(t, func(size int) func() {
				d := doc.New("a.yaml", git.Entry{}, git.Entry{}, bytes.Repeat([]byte(test.piece), size/len(test.piece)), nil)
				return func() { rules.Hits(d) }
			})
		})
	}
}

// TestManyTokensHideNone: what comes behind more tokens than are listed is said.
func TestManyTokensHideNone(t *testing.T) {
	found := hits("a.txt", strings.Repeat("x "+pat(t)+"\n", 20_000))
	last := found[len(found)-1]
	if len(found) != 10_001 || last.Rule != "credential/too-many" || !last.Anywhere || last.Severity != doc.Block {
		t.Errorf("%d hits, the last %+v", len(found), last)
	}
}

func FuzzHits(f *testing.F) {
	for _, s := range corpus.Samples(11, 1) {
		f.Add(s.Path, []byte(s.Text))
	}
	for _, s := range corpus.Clean(11, 1) {
		f.Add(s.Path, []byte(s.Text))
	}
	r := credential.New(credential.Options{Now: time.Unix(1e9, 0)})
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		d := doc.New(path, git.Entry{}, git.Entry{}, text, nil)
		last := 0
		for _, h := range r.Hits(d) {
			if h.Start < 0 || h.Start > h.End || h.End > len(d.Text) {
				t.Fatalf("%s covers %d to %d of %d", h.Rule, h.Start, h.End, len(d.Text))
			}
			if h.Rule == "" || h.Message == "" || h.Severity == "" || h.Remedy == "" || !h.Secret {
				t.Fatalf("%+v", h)
			}
			if h.End > 0 && h.Start < last {
				t.Fatalf("%s overlaps the one before", h.Rule)
			}
			last = h.End
		}
		r.HitsIn(text, true)
	})
}
