package session

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/testdata/modelserver"
)

const goodTests = `{"files":[{"path":"tests/test_door.py","content":"import door\n"}]}`

// testRun is a task on a Python project with no engine, whose result is stored and
// whose tester plays turns.
func testRun(t *testing.T, turns ...modelserver.Turn) (*run, *modelserver.Canned) {
	t.Helper()
	canned := &modelserver.Canned{Turns: turns}
	server := httptest.NewServer(canned)
	t.Cleanup(server.Close)
	var ahead time.Duration
	s := houseSession(t, &ahead)
	for name, text := range map[string]string{
		"door.py": "def opens(key):\n    return key\n", "tests/test_wall.py": "# wall\n", "tests/test_door_old.py": "# door, long ago\n", "tests/data.py": "# no test\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.Repo.Dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, s, name, text)
	}
	s.Config.Tester, s.Patience = "openai/m@"+server.URL+"/v1", time.Minute
	task(t, s, "kkkk", "a line")
	o, err := s.Task("kkkk")
	if err != nil {
		t.Fatal(err)
	}
	o.Task, o.Start = "Open the door with the old key", o.Snapshot
	r := s.newRun(Task{Text: o.Task, Beside: &Attempts{}}, o)
	r.out.Status = Pending
	if err := r.startedFrom(t.Context()); err != nil {
		t.Fatal(err)
	}
	release := r.begin(t.Context())
	leave := r.task.Beside.join()
	t.Cleanup(func() { leave(); release() })
	return r, canned
}

// TestWriteTests: what a tester is shown, and what is kept of its answer. Without an
// engine there is no verdict, and the tests are there for later.
func TestWriteTests(t *testing.T) {
	r, canned := testRun(t, modelserver.Turn{Pieces: []string{goodTests}})
	const real = "4f1d9c0ab7e25386-real"
	r.secret.sought = []shadow.Sought{{Name: "DOOR", Value: shadow.NewSecret(real), Chosen: true}}
	r.out.Task += ", which is " + real
	r.beginTests(t.Context())
	<-r.tests.written
	r.verify(t.Context())
	asked := canned.Asked()
	if len(asked) != 1 {
		t.Fatalf("asked %d times", len(asked))
	}
	for text, want := range map[string]bool{
		"Open the door with the old key, which is [secret DOOR]": true, real: false, "  door.py: def opens": true,
		"# door, long ago": true, "# wall": true, "# no test": false, "a line": false,
	} {
		if strings.Contains(asked[0].User, text) != want {
			t.Errorf("%q is in the question: %v", text, !want)
		}
	}
	if door, wall := strings.Index(asked[0].User, "# door, long ago"), strings.Index(asked[0].User, "# wall"); door > wall {
		t.Error("the example that is nearer to the task comes later")
	}
	want := Written{Of: r.out.Snapshot, Files: []testrun.File{{Path: "tests/test_door.py", Content: "import door\n"}}}
	kept, err := r.Written("kkkk")
	if diff := cmp.Diff(want, kept); diff != "" || err != nil {
		t.Error(diff, err)
	}
	o, err := r.Task("kkkk")
	if err != nil || o.Tests.Status != TestsSkipped || !strings.Contains(o.Tests.Detail, "engine") || o.Tests.Of != *o.Result {
		t.Errorf("%+v, %v", o.Tests, err)
	}
	if o.Status != Pending || r.finished(r.out) != nil {
		t.Errorf("the task is %s", o.Status)
	}
}

// TestWriteMore: a later turn keeps what there is, and asks for what is new.
func TestWriteMore(t *testing.T) {
	old := testrun.File{Path: "tests/test_old.py", Content: "import door\n"}
	for _, tc := range []struct {
		name  string
		turn  func(*run)
		asked int
		want  []string
	}{
		{"follow-up", func(r *run) { r.out.Turns = []Turn{{Task: "before"}} }, 1, []string{"tests/test_old.py", "tests/test_door.py"}},
		{"mending", func(r *run) { r.task.mends = true }, 0, []string{"tests/test_old.py"}},
		{"again", func(r *run) { r.task.again = true }, 0, []string{"tests/test_old.py"}},
		{"again, and more", func(r *run) { r.task.again, r.task.write = true, true }, 1, []string{"tests/test_old.py", "tests/test_door.py"}},
		{"no tester", func(r *run) { r.Config.Tester, r.Config.Test = "", "true" }, 0, []string{"tests/test_old.py"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, canned := testRun(t, modelserver.Turn{Pieces: []string{goodTests}})
			if err := r.keepWritten("kkkk", Written{Files: []testrun.File{old}}); err != nil {
				t.Fatal(err)
			}
			tc.turn(r)
			r.beginTests(t.Context())
			<-r.tests.written
			var got []string
			for _, f := range r.tests.files {
				got = append(got, f.Path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(canned.Asked()) != tc.asked || len(r.tests.runs) != len(got) {
				t.Errorf("asked %d times, %d runs\n%s", len(canned.Asked()), len(r.tests.runs), diff)
			}
			if tc.name == "follow-up" && !strings.Contains(canned.Asked()[0].User, "before") {
				t.Error("the tester does not hear of what was before")
			}
		})
	}
}

// TestTesterFails: a model that fails costs a note, and no time beyond its own.
func TestTesterFails(t *testing.T) {
	for _, tc := range []struct {
		name  string
		turns []modelserver.Turn
		note  string
		asked int
	}{
		{"malformed", []modelserver.Turn{{Pieces: []string{"no JSON"}}}, "openai/m: ", 2},
		{"malformed once", []modelserver.Turn{{Pieces: []string{"no JSON"}}, {Pieces: []string{goodTests}}}, "", 2},
		{"replaces a file", []modelserver.Turn{{Pieces: []string{`{"files":[{"path":"tests/test_wall.py","content":""}]}`}}}, "already", 2},
		{"escapes", []modelserver.Turn{{Pieces: []string{`{"files":[{"path":"../test_wall.py","content":""}]}`}}}, "path", 2},
		{"refused", []modelserver.Turn{{Pieces: []string{"no"}, Stop: "content_filter"}}, "the model refused to answer", 1},
		{"slow", []modelserver.Turn{{Wait: true}}, "no whole answer within", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, canned := testRun(t, tc.turns...)
			if tc.turns[0].Wait {
				r.Patience = 300 * time.Millisecond
			}
			r.beginTests(t.Context())
			<-r.tests.written
			if !strings.Contains(r.tests.why, tc.note) || (r.tests.why == "") != (tc.note == "") || len(r.tests.files) == 0 != (tc.note != "") {
				t.Errorf("why %q, files %v", r.tests.why, r.tests.files)
			}
			if n := len(canned.Asked()); n != tc.asked {
				t.Errorf("asked %d times, want %d", n, tc.asked)
			}
		})
	}
}

// TestNoTests: nobody is asked and nothing runs where nobody wants it.
func TestNoTests(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*run)
		detail string
	}{
		{"no tests", func(r *run) { r.task.NoTests = true }, notWanted},
		{"no tester", func(r *run) { r.Config.Tester = "" }, noTester},
		{"no change", func(r *run) { r.out.Result = nil }, nothingNew},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, canned := testRun(t, modelserver.Turn{Pieces: []string{goodTests}})
			tc.change(r)
			if got := r.untested(nothingNew); got.Detail != tc.detail || got.Status != TestsSkipped {
				t.Errorf("%+v", got)
			}
			r.beginTests(t.Context())
			before := r.out.Tests
			r.verify(t.Context())
			if diff := cmp.Diff(before, r.out.Tests); diff != "" {
				t.Error(diff)
			}
			if n := len(canned.Asked()); n != 0 && tc.detail != nothingNew {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestAttemptsShareTests: attempts at one task ask once; the last one to leave ends
// what goes on, and a later one begins anew.
func TestAttemptsShareTests(t *testing.T) {
	r, canned := testRun(t, modelserver.Turn{Wait: true})
	other := *r
	leave := other.task.Beside.join()
	r.beginTests(t.Context())
	other.beginTests(t.Context())
	if r.tests != other.tests || r.tests == nil {
		t.Fatal("they share nothing")
	}
	leave()
	if r.task.Beside.base == nil {
		t.Error("the first one to leave ended it")
	}
	shared := &Attempts{}
	other.task.Beside = shared
	leave = shared.join()
	other.beginTests(t.Context())
	leave()
	select {
	case <-other.tests.over:
	default:
		t.Error("the last one has left, and it goes on")
	}
	if n := len(canned.Asked()); n > 2 {
		t.Errorf("asked %d times", n)
	}
}

// TestTestsOfAnotherResult: a verdict goes to the result that it is about.
func TestTestsOfAnotherResult(t *testing.T) {
	r, _ := testRun(t, modelserver.Turn{Pieces: []string{goodTests}})
	r.amend(t.Context(), "verdict of the tests", "another", func(o *Outcome) { o.Tests = Tests{Status: TestsPassed} })
	if o, err := r.Task("kkkk"); err != nil || o.Tests.Status == TestsPassed {
		t.Errorf("%+v, %v", o.Tests, err)
	}
	if notes := strings.Join(r.Report.(*silent).notes, "\n"); !strings.Contains(notes, "the result is another one by now") {
		t.Errorf("notes %q", notes)
	}
}

// TestMendingIsNoTask: what a turn that mends quotes of a program is the task of nobody,
// to a tester, to a reviewer, and in the commit.
func TestMendingIsNoTask(t *testing.T) {
	turns := []Turn{{Task: "one"}, {Task: "said a", Mends: true}, {Task: "two"}, {Task: "said b", Mends: true}}
	for _, row := range []struct {
		name         string
		o            Outcome
		asked, whole string
	}{
		{"a task", Outcome{Task: "one"}, "one", "one"},
		{"mended", Outcome{Task: "said", Mends: true, Turns: turns[:1]}, "one", "one"},
		{"mended twice", Outcome{Task: "said", Mends: true, Turns: turns[:2]}, "one", "one"},
		{"after that", Outcome{Task: "two", Turns: turns[:2]}, "two", "This was done before, and is tested already:\n\none\n\nThis is to be done now, and to be tested:\n\ntwo"},
		{"and mended", Outcome{Task: "said", Mends: true, Turns: turns}, "two", "This was done before, and is tested already:\n\none\n\nThis is to be done now, and to be tested:\n\ntwo"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := &run{out: row.o}
			if got := r.besides().out.asked(); got != row.asked {
				t.Errorf("asked for %q, want %q", got, row.asked)
			}
			if got := r.besides().wholeTask(); got != row.whole {
				t.Errorf("all of it is %q, want %q", got, row.whole)
			}
		})
	}
}
