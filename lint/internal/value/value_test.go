package value

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func entry() git.Entry { return git.Entry{Mode: filemode.Regular} }

// fresh is a document that the base lacks.
func fresh(path, text string) *doc.Document {
	return doc.New(path, git.Entry{}, entry(), []byte(text), nil)
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 7)) }

// samples are fifty secrets of many kinds and their names.
func samples(t testing.TB) ([]corpus.ValueSample, *Index) {
	t.Helper()
	all := corpus.ValueSamples(seeded(1), 50)
	values := make([]Value, len(all))
	for i, s := range all {
		values[i] = Value{Name: fmt.Sprintf("KEY_%d", i), Needles: shadow.Needles(s.Text, false)}
		if len(values[i].Needles) == 0 {
			t.Fatalf("%s is not looked for", s.Kind)
		}
	}
	return all, New(values)
}

func rules(hits []doc.Hit) []string {
	var all []string
	for _, h := range hits {
		all = append(all, h.Rule+": "+h.Message)
	}
	return all
}

// TestMutations writes each secret down in each way.
func TestMutations(t *testing.T) {
	all, ix := samples(t)
	for _, m := range corpus.ValueMutations() {
		t.Run(m.Name, func(t *testing.T) {
			for i, s := range all {
				hits := ix.Hits(fresh("config.txt", m.Write(s.Text)))
				if !named(hits, fmt.Sprintf("KEY_%d,", i)) {
					t.Errorf("%s is not found: %v", s.Kind, rules(hits))
				}
				for _, h := range hits {
					if h.Rule == "value/real" && !strings.HasPrefix(h.Message, fmt.Sprintf("value of KEY_%d,", i)) {
						t.Errorf("%s is found as %s", s.Kind, h.Message)
					}
				}
			}
		})
	}
}

// named reports whether a value blocks.
func named(hits []doc.Hit, name string) bool {
	for _, h := range hits {
		if h.Rule == "value/real" && h.Severity == doc.Block && h.Secret && strings.HasPrefix(h.Message, "value of "+name) {
			return true
		}
	}
	return false
}

func TestHide(t *testing.T) {
	const secret = "q7Rk2mZx9LwT4vBn8Yc3"
	ix := New([]Value{{Name: "KEY", Needles: shadow.Needles(secret, true)}})
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "a/b.txt", "a/b.txt"},
		{"all", secret, "*"},
		{"amid", "a/" + secret + "/b", "a/*/b"},
		{"twice", secret + secret + "x", "**x"},
		{"a part", "x " + secret[:10] + " y", "x * y"},
		{"too little of it", "x " + secret[:4] + " y", "x " + secret[:4] + " y"},
		{"in pieces", `"` + secret[:9] + `" + "` + secret[9:] + `"`, `"*"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := ix.Hide(test.text, "*"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := New(nil).Hide(secret, "*"); got != secret {
		t.Errorf("without values: %q", got)
	}
}
