package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMoved(t *testing.T) {
	since := []span{{old: 0, removed: 0, new: 0, added: 2}, {old: 3, removed: 2, new: 5, added: 1}, {old: 8, removed: 1, new: 9, added: 0}}
	for n, want := range map[int]int{0: 2, 2: 4, 3: -1, 4: -1, 5: 6, 7: 8, 8: -1, 9: 9} {
		at, there := moved(since, n)
		if !there {
			at = -1
		}
		if at != want {
			t.Errorf("line %d is at %d, want %d", n, at, want)
		}
	}
	if at, there := moved(nil, 4); at != 4 || !there {
		t.Errorf("nothing moved, and line 4 is at %d, %v", at, there)
	}
}

func TestReadBlame(t *testing.T) {
	hash, none := strings.Repeat("a1", 20), strings.Repeat("0", 40)
	out := hash + " 1 1 1\nauthor A B\nauthor-time 5\ncommitter C\ncommitter-time 60\nsummary author of it\nfilename x\n\tone\n" +
		none + " 2 2 1\nauthor Not Committed Yet\ncommitter-time 70\nfilename x\n\t\ttwo\n"
	var got []string
	for _, l := range readBlame([]byte(out)) {
		got = append(got, l.Commit+"|"+l.Author+"|"+l.Text)
	}
	if diff := cmp.Diff([]string{hash + "|A B|one", "||\ttwo"}, got); diff != "" {
		t.Error(diff)
	}
}
