package testrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// of makes a report of one case without a name, or of named ones: ".a" passed, "!a"
// failed, "-a" skipped and "#" broken.
func of(cases ...string) Report {
	var r Report
	for _, c := range cases {
		state := map[byte]State{'.': Passed, '!': Failed, '-': Skipped, '#': Broken}[c[0]]
		one := Case{Name: c[1:], State: state}
		if state == Failed || state == Broken {
			one.Output = "why " + c[1:]
		}
		r.Cases = append(r.Cases, one)
	}
	return r
}

func TestCompare(t *testing.T) {
	for _, row := range []struct {
		name         string
		base, result Report
		want         []Verdict
	}{
		{"passes on both", of(".a"), of(".a"), []Verdict{{Name: "a", State: "passed"}}},
		{"proves", of("!a"), of(".a"), []Verdict{{Name: "a", State: "passed", Proves: true}}},
		{"fails now", of(".a"), of("!a"), []Verdict{{Name: "a", State: "failed", Detail: "passed before", Output: "why a"}}},
		{"fails on both", of("!a"), of("!a"), []Verdict{{Name: "a", State: "invalid", Detail: "fails on both", Output: "why a"}}},
		{"case by case", of(".a", "!b", ".c"), of("!a", ".b", ".c"), []Verdict{
			{Name: "a", State: "failed", Detail: "passed before", Output: "why a"}, {Name: "b", State: "passed", Proves: true}, {Name: "c", State: "passed"}}},
		{"did not start before", of("#"), of(".a", "!b"), []Verdict{
			{Name: "a", State: "passed", Proves: true, Detail: "the file did not start before"}, {Name: "b", State: "invalid", Detail: "fails on both", Output: "why b"}}},
		{"does not start now", of(".a", "!b"), of("#"), []Verdict{{State: "failed", Detail: "ran before, and does not start now", Output: "why "}}},
		{"hangs now", of(".a"), of("!"), []Verdict{{State: "failed", Detail: "ran before, and does not end well now", Output: "why "}}},
		{"failed before, does not start now", of("!a"), of("#"), []Verdict{{State: "invalid", Detail: "fails on both", Output: "why "}}},
		{"starts on neither", of("#"), of("#"), []Verdict{{State: "invalid", Detail: "starts on neither", Output: "why "}}},
		{"a whole file that passes", of("#"), of("."), []Verdict{{State: "passed", Proves: true, Detail: "the file did not start before"}}},
		{"a case of the result alone, of a good file", of(".a"), of(".a", ".b", "!c"), []Verdict{
			{Name: "a", State: "passed"}, {Name: "b", State: "passed"}, {Name: "c", State: "failed", Detail: "the file passed before, which had no such case", Output: "why c"}}},
		{"a case of the result alone, of a bad file", of("!a"), of(".b"), []Verdict{{Name: "b", State: "passed", Proves: true}}},
		{"the file ends badly after good cases", of(".a"), of(".a", "!"), []Verdict{{Name: "a", State: "passed"}, {State: "failed", Detail: "passed before", Output: "why "}}},
		{"skips itself", of(".a", "-b"), of("-a", ".b"), []Verdict{{Name: "a", State: "skipped", Detail: "it skips itself"}, {Name: "b", State: "passed"}}},
		{"was skipped and fails", of("-a"), of("!a"), []Verdict{{Name: "a", State: "failed", Detail: "was skipped before", Output: "why a"}}},
		{"lacks a tool", Report{Missing: "go"}, Report{Missing: "go"}, []Verdict{{State: "skipped", Detail: "the image lacks go"}}},
		{"lacks it on one side", of(".a"), Report{Missing: "what Cargo would fetch"}, []Verdict{{State: "skipped", Detail: "the image lacks what Cargo would fetch; it ran before the change"}}},
		{"ends before its last cases", of(".a", ".b", "!c"), of(".a"), []Verdict{{Name: "a", State: "passed"}, {Name: "b", State: "skipped", Detail: "ran before, and does not run now"}}},
		{"crashes before them", of(".a", ".b"), of("!"), []Verdict{{State: "failed", Detail: "ran before, and does not end well now", Output: "why "}}},
		{"has names of the hour", of(".a1", ".b1"), of(".a2", ".b2"), []Verdict{
			{Name: "a2", State: "passed"}, {Name: "b2", State: "passed"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i := range row.want {
				row.want[i].Path = "p_test.go"
			}
			if diff := cmp.Diff(row.want, Compare("p_test.go", row.base, row.result)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareOwn(t *testing.T) {
	for _, row := range []struct {
		name         string
		base, result Report
		failed       []Verdict
		before       int
	}{
		{"both pass", of(".make"), of(".make"), nil, 0},
		{"new failures alone", of("!a", "!b"), of("!b", "!c"), []Verdict{{Name: "c", State: "failed", Output: "why c"}}, 1},
		{"all were there", of("!a", "!b"), of("!a"), nil, 1},
		{"none was there", of(".make"), of("!a"), []Verdict{{Name: "a", State: "failed", Output: "why a"}}, 0},
		{"the command as a whole", of("!make"), of("!make"), nil, 1},
		{"a package that did not build", of("#m/p"), of("!m/p TestA", "!m/pq TestA"), []Verdict{{Name: "m/pq TestA", State: "failed", Output: "why m/pq TestA"}}, 1},
		{"a package that builds no more", of("!m/p TestA"), of("#m/p"), []Verdict{{Name: "m/p", State: "failed", Detail: "does not start", Output: "why m/p"}}, 0},
		{"no tool", Report{Missing: "go"}, Report{Missing: "go"}, nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			failed, before := CompareOwn(row.base, row.result)
			if diff := cmp.Diff([]any{row.failed, row.before}, []any{failed, before}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
