package patch

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever is staged and dirty: an apply to index or HEAD leaves every path that
// the agent did not touch as it is, adds nothing but the agent's lines to each
// of the three, and can be taken back.
func TestThreeTargetsOfRandomEdits(t *testing.T) {
	rounds := 24
	if testing.Short() {
		rounds = 4
	}
	l := newLab(t)
	rnd := rand.New(rand.NewSource(1))
	applied := 0
	for round := range rounds {
		paths := []string{"a", "b", "c/d", "c/e", fmt.Sprintf("new%d", round)}
		head, staged, dirty := map[string]map[int]string{}, map[string]map[int]string{}, map[string]map[int]string{}
		for _, p := range paths[:4] {
			head[p] = map[int]string{}
			l.write(p, numbered(nil))
		}
		l.git("add", "-A")
		l.git("commit", "-q", "--allow-empty", "-m", "round")
		for _, p := range paths[:4] {
			staged[p], dirty[p] = map[int]string{}, map[int]string{}
			if rnd.Intn(2) == 0 {
				staged[p][3+rnd.Intn(3)] = "staged"
				l.write(p, numbered(staged[p]))
				l.git("add", p)
			}
			for at, s := range staged[p] {
				dirty[p][at] = s
			}
			if rnd.Intn(2) == 0 {
				dirty[p][13+rnd.Intn(3)] = "dirty"
			}
			l.write(p, numbered(dirty[p]))
		}
		var changes []change
		touched := map[string]int{}
		for _, p := range paths[:4] {
			if rnd.Intn(2) == 0 {
				touched[p] = 23 + rnd.Intn(10)
				changes = append(changes, file(p, numbered(with(dirty[p], touched[p]))))
			}
		}
		changes = append(changes, file(paths[4], "agent\n"))
		r := l.store(l.snapshot(), changes...)
		o := ApplyOptions{Index: true}
		if rnd.Intn(2) == 0 {
			o = ApplyOptions{Commit: &CommitOptions{Message: "m"}}
		}
		disk, index, was := l.disk(), l.entries(), l.git("rev-parse", "HEAD")
		done := l.applyWith(r.ID, o)
		applied++
		for _, p := range paths[:4] {
			at, ok := touched[p]
			want := func(edits map[int]string) string {
				if ok {
					return numbered(with(edits, at))
				}
				return numbered(edits)
			}
			if got := l.read(p); got != want(dirty[p]) {
				t.Errorf("round %d: work tree of %s:\n%s", round, p, cmp.Diff(want(dirty[p]), got))
			}
			if got := l.git("show", ":"+p) + "\n"; got != want(staged[p]) {
				t.Errorf("round %d: index of %s:\n%s", round, p, cmp.Diff(want(staged[p]), got))
			}
			if o.Commit == nil {
				continue
			}
			if got := l.git("show", "HEAD:"+p) + "\n"; got != want(head[p]) {
				t.Errorf("round %d: HEAD of %s:\n%s", round, p, cmp.Diff(want(head[p]), got))
			}
		}
		if o.Commit != nil {
			if done.Head.String() != l.git("rev-parse", "HEAD") {
				t.Errorf("round %d: HEAD is not %s", round, done.Head)
			}
			l.git("reset", "-q", "--soft", was)
		}
		l.undo()
		if d := cmp.Diff(disk, l.disk()) + cmp.Diff(index, l.entries()); d != "" {
			t.Fatalf("round %d: after undo:\n%s", round, d)
		}
		l.git("reset", "-q", "--hard")
	}
	if _, err := os.Stat(l.path("new0")); !errors.Is(err, os.ErrNotExist) || applied != rounds {
		t.Errorf("applied %d, %v", applied, err)
	}
	if got := l.git("fsck", "--connectivity-only"); strings.Contains(got, "missing") {
		t.Error(got)
	}
}

// with adds the agent's line to edits.
func with(edits map[int]string, at int) map[int]string {
	all := map[int]string{at: "agent"}
	for i, s := range edits {
		all[i] = s
	}
	return all
}
