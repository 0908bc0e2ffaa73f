package lint_test

import (
	"testing"

	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/trial"
)

// seed is of the corpus; make lint-bench tries others.
const seed = 1

// whole fails where a sample is missed or something harmless is told.
func whole(t *testing.T, rows ...trial.Row) {
	t.Helper()
	for _, r := range rows {
		if r.Of == 0 {
			t.Errorf("%s: no samples", r.Name)
		}
		for _, w := range r.Wrong {
			t.Errorf("%s: %s", r.Name, w)
		}
	}
}

func TestCredentials(t *testing.T) {
	rows, err := trial.Credentials(seed, 1)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, rows...)
}

// TestRealValues: a secret of the user is found however it is written down.
func TestRealValues(t *testing.T) {
	rows, err := trial.Mutations(seed)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, rows...)
}

func TestShadows(t *testing.T) {
	row, err := trial.Shadows(seed)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, row)
}

func TestFamiliesTogether(t *testing.T) {
	for _, test := range []struct {
		name     string
		files    []corpus.Planted
		families []string
	}{
		{"surface", corpus.Surface(seed), []string{"surface", "text", "ci", "manifest"}},
		{"danger", corpus.Operations(seed), []string{"danger"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			row, err := trial.Files(test.name, test.files, test.families...)
			if err != nil {
				t.Fatal(err)
			}
			if row.Clean == 0 {
				t.Error("nothing harmless was tried")
			}
			whole(t, row)
		})
	}
}

// TestNothingInAChangeExcusesIt tries what got valid tokens past other scanners.
func TestNothingInAChangeExcusesIt(t *testing.T) {
	rows, err := trial.Bypasses(seed)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Run(r.Name, func(t *testing.T) { whole(t, r) })
	}
}
