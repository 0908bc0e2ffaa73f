package session

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/patch"
)

// TestRecordHasManyWriters: a task, what verifies its result and who decides on it
// write to one record at once, and none of them takes back what another wrote.
func TestRecordHasManyWriters(t *testing.T) {
	var ahead time.Duration
	s := houseSession(t, &ahead)
	task(t, s, "kkkk", "a line")
	o, err := s.Task("kkkk")
	if err != nil {
		t.Fatal(err)
	}
	const times = 20
	r := &run{Session: s, out: o}
	var want []string
	for i := range times {
		want = append(want, fmt.Sprintf("t/test_%02d.py", i))
	}
	writers := []func(i int){
		func(i int) {
			s.kept(t.Context(), patch.Applied{ID: "kkkk", Files: []patch.Written{{Path: want[i], Change: patch.Added, Beside: true}}})
		},
		func(i int) {
			r.amend(t.Context(), "review", *o.Result, func(o *Outcome) { o.Review = &Review{Of: *o.Result} })
		},
		func(i int) {
			if err := s.Renew(t.Context(), "kkkk", lint.Report{Findings: []lint.Finding{{ID: want[i]}}}); err != nil {
				t.Error(err)
			}
		},
	}
	var all sync.WaitGroup
	for _, write := range writers {
		all.Go(func() {
			for i := range times {
				write(i)
			}
		})
	}
	all.Wait()
	got, err := s.Task("kkkk")
	if err != nil {
		t.Fatal(err)
	}
	if got.Review == nil || len(got.Findings) != 1 || got.Findings[0].ID != want[times-1] || !slices.Equal(got.Tests.Kept, want) {
		t.Errorf("review %v, findings %v, kept %s", got.Review, got.Findings, cmp.Diff(want, got.Tests.Kept))
	}

	// The task's own end knows nothing of an apply.
	o.Status = Failed
	if err := s.save(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	got, err = s.Task("kkkk")
	if err != nil || got.Status != Failed || !slices.Equal(got.Tests.Kept, want) {
		t.Errorf("%v, status %s, kept %s", err, got.Status, cmp.Diff(want, got.Tests.Kept))
	}
}
