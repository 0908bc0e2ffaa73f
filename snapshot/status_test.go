package snapshot

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

const (
	oneHash = "1111111111111111111111111111111111111111"
	twoHash = "2222222222222222222222222222222222222222"
)

func TestParseStatus(t *testing.T) {
	out := strings.Join([]string{
		"# branch.oid " + oneHash, "# branch.head main",
		"1 .M N... 100644 100644 100755 " + oneHash + " " + twoHash + " a name with  spaces",
		"1 MD S.M. 160000 160000 000000 " + oneHash + " " + twoHash + " module",
		"u UU N... 100644 100644 100644 000000 " + oneHash + " " + twoHash + " " + oneHash + " conflict\tand \"quotes\"\n",
		"? untracked", "? nested/",
	}, "\x00") + "\x00"
	got, err := parseStatus(out)
	if err != nil {
		t.Fatal(err)
	}
	want := status{
		head: plumbing.NewHash(oneHash), branch: "main", others: []string{"untracked", "nested/"},
		changed: []record{
			{path: "a name with  spaces", work: 'M', mode: "100644", hash: plumbing.NewHash(twoHash)},
			{path: "module", work: 'D', link: true, mode: "160000", hash: plumbing.NewHash(twoHash)},
			{path: "conflict\tand \"quotes\"\n", work: 'D', open: true, mode: "100644", hash: plumbing.NewHash(oneHash)},
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(status{}, record{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"1 .M N...", "2 R. x", "x", "1 M N... 1 2 3 4 5 6"} {
		if _, err := parseStatus(bad + "\x00"); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add("# branch.head x\x001 .M N... 1 2 3 " + oneHash + " " + twoHash + " a\x00? b\x00")
	f.Add("u UU N... 1 2 3 4 " + oneHash + " " + twoHash + " " + oneHash + " c\x00")
	f.Fuzz(func(t *testing.T, out string) {
		s, err := parseStatus(out)
		for _, r := range s.changed {
			if err == nil && !strings.Contains(out, r.path) {
				t.Errorf("%q gave the path %q", out, r.path)
			}
		}
	})
}
