package credential_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/credential"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// rules are made once: the tests ask them some ten thousand times.
var rules = credential.New(credential.Options{})

func hits(path, text string) []doc.Hit {
	return rules.Hits(doc.New(path, git.Entry{}, git.Entry{}, []byte(text), nil))
}

// seen are the rules of some hits, and what each covers.
func seen(path, text string) (out []string) {
	for _, h := range hits(path, text) {
		covers := text[h.Start:h.End]
		if h.Match != nil {
			covers = string(h.Match)
		}
		out = append(out, h.Rule+" "+string(h.Severity)+" "+covers)
	}
	return out
}

func TestRowsAreFacts(t *testing.T) {
	names, providers := map[string]bool{}, map[string]bool{}
	for _, r := range credential.Rows() {
		if names[r.Name] {
			t.Errorf("%s is there twice", r.Name)
		}
		names[r.Name], providers[r.Provider] = true, true
		if len(r.Near) == 0 && !slices.ContainsFunc(r.Shape, func(p credential.Part) bool { return len(p.Literal) > 1 }) {
			t.Errorf("%s: neither a literal nor a word tells it", r.Name)
		}
		if !strings.HasPrefix(r.Source, "https://") || r.What == "" || r.Provider == "" {
			t.Errorf("%s: provider %q, what %q, source %q", r.Name, r.Provider, r.What, r.Source)
		}
		for _, w := range r.Near {
			if w != strings.ToLower(w) {
				t.Errorf("%s: %q is not in lower case", r.Name, w)
			}
		}
	}
	if len(names) < 200 || len(providers) < 120 {
		t.Errorf("%d kinds of %d providers, want 200 of 120", len(names), len(providers))
	}
	t.Logf("%d kinds of tokens of %d providers", len(names), len(providers))
}

func TestSamplesAreFound(t *testing.T) {
	severity := map[string]doc.Severity{}
	for _, r := range credential.Rows() {
		severity["credential/"+r.Name] = r.Severity
	}
	other := map[string]bool{}
	for _, s := range corpus.Samples(1, 6) {
		found := hits(s.Path, s.Text)
		i := slices.IndexFunc(found, func(h doc.Hit) bool {
			return h.Secret && strings.Contains(s.Text[h.Start:h.End], s.Span) && (h.Rule == s.Rule || severity[s.Rule] != "" && h.Severity == doc.Block)
		})
		if i < 0 {
			t.Errorf("%s (%s) in %s: got %v\n%q", s.Rule, s.What, s.Path, seen(s.Path, s.Text), s.Text)
			continue
		}
		if found[i].Rule != s.Rule {
			other[s.Rule+" as "+found[i].Rule] = true
		}
		if strings.Contains(found[i].Message+found[i].Remedy, s.Span) && s.Span != "" {
			t.Errorf("%s: the message holds the value", s.Rule)
		}
	}
	t.Logf("found by a rule of the same shape: %v", other)
}

func TestMissesAreNone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, row := range credential.Rows() {
		for _, s := range corpus.Misses(r, row) {
			for _, h := range hits(s.Path, s.Text) {
				if h.Rule == "credential/"+row.Name {
					t.Errorf("%s, %s, in %s: %q", row.Name, s.What, s.Path, s.Text)
				}
			}
		}
	}
}

func TestChecksums(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, row := range credential.Rows() {
		if row.Seal == nil {
			continue
		}
		good, bad := corpus.Token(r, row), corpus.Broken(r, row)
		want := []string{"credential/" + row.Name + " block " + good, "credential/" + row.Name + " warn " + bad, "credential/" + row.Name + " block " + good}
		got := slices.Concat(seen("a.txt", good), seen("a.txt", bad), seen("a.txt", "x"+good+"x"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.Name, diff)
		}
	}
}

// TestHashesAreNoTokens: near the name of a provider whose tokens have all letters a
// hash is none.
func TestHashesAreNoTokens(t *testing.T) {
	const sum = "8c6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918"
	for _, text := range []string{
		"curl https://artifactory.internal/api/x\nSHA256=" + sum + "\n",
		"mistral_api_model_md5: " + sum[:32] + "\n",
	} {
		if got := seen("a.sh", text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCleanTextsAreClean(t *testing.T) {
	for _, s := range corpus.Clean(5, 20) {
		if got := seen(s.Path, s.Text); len(got) > 0 {
			t.Errorf("%s in %s: %v\n%.300q", s.What, s.Path, got, s.Text)
		}
	}
}
