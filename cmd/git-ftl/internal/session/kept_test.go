package session

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
	"github.com/git-ftl/git-ftl/patch"
)

// keep writes down tests of a task as the tester does.
func keep(t *testing.T, s *Session, id string, w Written) {
	t.Helper()
	data, err := json.Marshal(w)
	if err == nil {
		err = s.Repo.WriteState(writtenName(id), data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeepable: what says nothing is not kept, nor what only that needs.
func TestKeepable(t *testing.T) {
	one, two, help := testrun.File{Path: "test_one.py", Content: "1\n"}, testrun.File{Path: "test_two.py", Content: "2\n"}, testrun.File{Path: "ftl_tests/help.py", Content: "h\n"}
	for _, tc := range []struct {
		name string
		w    *Written
		want []string // nothing is ErrNoTests
		left []string
	}{
		{"never written", nil, nil, nil},
		{"none written", &Written{}, nil, nil},
		{"all", &Written{Files: []testrun.File{one, two, help}}, []string{"test_one.py", "test_two.py", "ftl_tests/help.py"}, nil},
		{"but one", &Written{Files: []testrun.File{one, two, help}, Invalid: []string{"test_one.py"}}, []string{"test_two.py", "ftl_tests/help.py"}, []string{"test_one.py"}},
		{"all invalid", &Written{Files: []testrun.File{one, help}, Invalid: []string{"test_one.py"}}, nil, []string{"test_one.py"}},
		{"tests in their folder", &Written{Files: []testrun.File{help}}, []string{"ftl_tests/help.py"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ahead time.Duration
			s := houseSession(t, &ahead)
			if tc.w != nil {
				keep(t, s, "kkkk", *tc.w)
			}
			files, left, err := s.Keepable("kkkk")
			var got []string
			for _, f := range files {
				got = append(got, f.Path)
			}
			if d := cmp.Diff(tc.left, left); d != "" {
				t.Errorf("left: %s", d)
			}
			if d := cmp.Diff(tc.want, got); d != "" || errors.Is(err, ErrNoTests) != (tc.want == nil) || err != nil && tc.want != nil {
				t.Errorf("%v: %s", err, d)
			}
		})
	}
	t.Run("half a file", func(t *testing.T) {
		var ahead time.Duration
		s := houseSession(t, &ahead)
		if err := s.Repo.WriteState(writtenName("kkkk"), []byte(`{"files": [{`)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Keepable("kkkk"); err == nil || errors.Is(err, ErrNoTests) {
			t.Errorf("got %v", err)
		}
	})
}

// TestKept: the record says which tests an apply has put into the work tree, until
// they are gone again.
func TestKept(t *testing.T) {
	var ahead time.Duration
	s := houseSession(t, &ahead)
	task(t, s, "kkkk", "a line")
	keep(t, s, "kkkk", Written{Files: []testrun.File{{Path: "t/test_b.py", Content: "b\n"}, {Path: "t/test_a.py", Content: "a\n"}, {Path: "there.py", Content: "there\n"}}})
	write(t, s, "there.py", "there\n")
	result, err := s.Queue.Find(t.Context(), "kkkk")
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := s.Keepable("kkkk")
	if err != nil {
		t.Fatal(err)
	}
	recorded := func(want ...string) {
		t.Helper()
		o, err := s.Task("kkkk")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, o.Tests.Kept); d != "" {
			t.Error(d)
		}
	}
	for _, dry := range []bool{true, false} {
		if _, err := s.Apply(t.Context(), result, patch.ApplyOptions{DryRun: dry, Beside: files}, false); err != nil {
			t.Fatal(err)
		}
		if dry {
			recorded()
		}
	}
	recorded("t/test_a.py", "t/test_b.py") // the third one was the user's own
	if _, err := s.Undo(t.Context(), patch.UndoOptions{Paths: []string{"t/test_a.py"}}); err != nil {
		t.Fatal(err)
	}
	recorded("t/test_b.py")
	if _, err := s.Undo(t.Context(), patch.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	recorded()
	if _, err := os.Lstat(filepath.Join(s.Repo.Dir, "t")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("their folder stays: %v", err)
	}
}

// TestKeptIsLinted: a test that a model wrote is looked at as the result is.
func TestKeptIsLinted(t *testing.T) {
	var ahead time.Duration
	s := houseSession(t, &ahead)
	task(t, s, "kkkk", "a line")
	result, err := s.Queue.Find(t.Context(), "kkkk")
	if err != nil {
		t.Fatal(err)
	}
	o := patch.ApplyOptions{Beside: []patch.NewFile{{Path: "tests/test_x.py", Content: []byte("x = 1  # \u202e turned around\n")}}}
	var blocked *BlockedError
	if _, err = s.Apply(t.Context(), result, o, false); !errors.As(err, &blocked) || blocked.Blocking[0].Path != "tests/test_x.py" {
		t.Errorf("got %v", err)
	}
	if runGit(t, s, "status", "--porcelain") != "" {
		t.Error("something was written")
	}
	if _, err = s.Apply(t.Context(), result, o, true); err != nil {
		t.Error(err)
	}
}

// TestTouching: what a change does to the project's own tests, and what it
// adds that may switch them off; not the tests that it adds.
func TestTouching(t *testing.T) {
	o := Outcome{Files: []File{
		{Path: "a_test.go", Change: "modified"}, {Path: "b_test.go", Change: "deleted"}, {Path: "new_test.go", Change: "added"},
		{Path: "src/a.ts", Change: "modified"}, {Path: "conftest.py", Change: "added"}, {Path: "web/package.json", Change: "added"}, {Path: "tests/conftest.py", Change: "added"}, {Path: "pytest.ini", Change: "modified"},
		{Path: "tests/link", Change: "type"}, {Path: "jest.config.js", Change: "deleted"}, {Path: "c_test.go", Change: "modified"},
		{Path: "tests/" + strings.Repeat("long/", 100) + "x", Change: "deleted"},
	}}
	o.Tests.Touched = touched(o.Files)
	long := strings.Repeat("long/", 100) + "x"
	want := []string{
		"the change deletes 2 of the project's own tests: b_test.go, …" + long[len(long)-120:],
		"the change deletes what can say which tests run: jest.config.js",
		"the change edits 3 of the project's own tests: a_test.go, tests/link, 1 more",
		"the change edits what can say which tests run: pytest.ini",
		"the change adds what can say which tests run: conftest.py, tests/conftest.py",
	}
	if d := cmp.Diff(want, o.Touching(2)); d != "" {
		t.Error(d)
	}
	if got := (Outcome{Files: []File{{Path: "a.go", Change: "modified"}}}).Touching(2); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// TestTestWords: a model is told of tests what a person is, within bounds.
func TestTestWords(t *testing.T) {
	o := Outcome{Files: []File{{Path: "a_test.go", Change: "modified"}}, Tests: Tests{
		Status: TestsFailed, Detail: "1 passed, 1 failed", Of: "c0", Touched: []string{"a_test.go"},
		Written: []TestVerdict{{Path: "t.go", Name: "A", Status: TestsPassed, Proves: true}, {Path: "t.go", Name: "B", Status: TestsFailed, Detail: "since the change", Output: "why\n"}},
		Own:     &OwnTests{Failed: []TestVerdict{{Path: "u.go", Name: "U", Status: TestsFailed, Output: strings.Repeat("x", 20<<10)}}},
	}}
	first := "the change edits 1 of the project's own tests: a_test.go"
	want := first + "\nfailed: 1 passed, 1 failed\nfailed u.go U\n" + strings.Repeat("x", 12<<10) + "\npassed t.go A, which failed before the change\nfailed t.go B: since the change"
	if d := cmp.Diff(want, o.testWords("c0")); d != "" {
		t.Error(d)
	}
	if got := o.testWords("another"); got != first {
		t.Errorf("of another commit: %q", got)
	}
}
