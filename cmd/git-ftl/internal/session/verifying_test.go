package session

import "testing"

// TestVerifying: only what a process still works on is under way.
func TestVerifying(t *testing.T) {
	commit := "c"
	pending := Outcome{ID: "kkkk", Status: Pending, Result: &commit, Tests: Tests{Status: TestsSkipped, Detail: unfinished}}
	judged := pending
	judged.Tests = Tests{Status: TestsPassed}
	for _, row := range []struct {
		name     string
		o        Outcome
		reviewer string
		alive    bool
		want     string
	}{
		{"tests", pending, "", true, "tests"},
		{"tests and a review", pending, "a/b", true, "tests"},
		{"a review", judged, "a/b", true, "review"},
		{"reviewed", Outcome{ID: "kkkk", Status: Pending, Result: &commit, Review: &Review{}}, "a/b", true, ""},
		{"nobody reviews", judged, "", true, ""},
		{"cut off", pending, "a/b", false, ""},
		{"running", Outcome{ID: "kkkk", Status: Running, Result: &commit, Tests: pending.Tests}, "", true, ""},
		{"no result", Outcome{ID: "kkkk", Status: Empty, Tests: pending.Tests}, "", true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSession(t, t.TempDir())
			s.Config.Reviewer = row.reviewer
			if row.alive {
				unlock, held, err := s.Repo.TryLock("task-kkkk")
				if err != nil || !held {
					t.Fatal(held, err)
				}
				defer unlock()
			}
			if got := s.Verifying(row.o); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// TestReclaimForgetsStop: a stop that came as a task was verified does not end what
// takes the task next.
func TestReclaimForgetsStop(t *testing.T) {
	s := newSession(t, t.TempDir())
	unlock, _, err := s.Repo.TryLock("task-kkkk")
	if err == nil {
		err = s.Stop("kkkk")
	}
	if err != nil || s.stopsAsked("kkkk") != 1 {
		t.Fatal(err)
	}
	unlock()
	unlock, err = s.reclaim(t.Context(), "kkkk")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if n := s.stopsAsked("kkkk"); n != 0 {
		t.Errorf("it is still asked %d times", n)
	}
}
