package lint_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/lint"
)

// TestManyDeletions: that a change deletes many files is told once, and not of what
// moves.
func TestManyDeletions(t *testing.T) {
	files := func(dir string, n int) map[string]string {
		all := map[string]string{"kept.txt": "kept\n"}
		for i := range n {
			all[fmt.Sprintf("%s/%02d.txt", dir, i)] = fmt.Sprintf("content %d\n", i)
		}
		return all
	}
	for _, tc := range []struct {
		name     string
		old, new map[string]string
		want     []string
	}{
		{"few", files("a", 19), files("a", 0), nil},
		{"many", files("a", 20), files("a", 0), []string{"a/00.txt: the change deletes 20 files"}},
		{"all but one", files("a", 30), files("a", 1), []string{"a/01.txt: the change deletes 29 files"}},
		{"a folder that moves", files("a", 30), files("b", 30), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, f := range newWorld(t).check(lint.Options{}, tc.old, tc.new).Findings {
				if f.Rule == "surface/deletes" && f.Severity == lint.Info {
					got = append(got, f.Path+": "+f.Message)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
