package session

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm/chat"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
)

// Status of tests: of all of them, of one, and of the project's own.
const (
	TestsPassed  = "passed"
	TestsFailed  = "failed"  // it passed before the change, and does no more
	TestsInvalid = "invalid" // it says nothing: it fails before and after, or does not start
	TestsSkipped = "skipped"
)

// Why tests are skipped.
const (
	noTester   = "no tester model is set"
	notWanted  = "they are not wanted (--no-tests)"
	stopped    = "interrupted: git ftl test runs them"
	unfinished = "they did not come to their end: git ftl test runs them"
	nothingNew = "there is no change to test"
)

// Tests is what tests say of a result, which decides nothing: those that a model
// wrote beside the agent, and the project's own, before the change and after it.
// Names and outputs come from a sandbox, and are to be escaped when they are shown.
type Tests struct {
	Status  string        `json:"status"` // passed, failed, invalid or skipped
	Detail  string        `json:"detail"`
	Of      string        `json:"of,omitempty"`      // commit that they ran on
	Touched []string      `json:"touched,omitempty"` // the project's own tests, and their settings, that the change edits or deletes
	Written []TestVerdict `json:"written,omitempty"`
	Own     *OwnTests     `json:"own,omitempty"`
	Writer  *chat.Reply   `json:"writer,omitempty"` // what writing took
	Kept    []string      `json:"kept,omitempty"`   // written tests that an apply put into the work tree
}

// Unset reports whether there is nobody to write tests.
func (t Tests) Unset() bool { return t.Detail == noTester }

// TestVerdict is what one test says.
type TestVerdict struct {
	Path   string `json:"path"`
	Name   string `json:"name"`
	Status string `json:"status"`
	Proves bool   `json:"proves"` // it failed before the change
	Detail string `json:"detail"`
	Output string `json:"output"` // of a test that fails, at most 4 KiB
}

// OwnTests is what the project's own test command says.
type OwnTests struct {
	Command string        `json:"command"`
	Status  string        `json:"status"`
	Failed  []TestVerdict `json:"failed,omitempty"` // since the change
	Before  int           `json:"before"`           // that failed already
	Detail  string        `json:"detail"`
}

// Bounds of the verdicts of a kind that a record has: what a sandbox prints can
// name any number of tests.
const (
	maxVerdicts = 200
	maxOutputs  = 64 << 10 // bytes of their outputs together
)

func verdictOf(v testrun.Verdict) TestVerdict {
	clip := func(s string, most int) string { return strings.ToValidUTF8(s[:min(len(s), most)], "\ufffd") }
	return TestVerdict{
		Path: clip(v.Path, 500), Name: clip(v.Name, 500), Status: v.State, Proves: v.Proves,
		Detail: clip(v.Detail, 500), Output: clip(v.Output, 4<<10),
	}
}

func verdictsOf(all []testrun.Verdict) []TestVerdict {
	var out []TestVerdict
	room := maxOutputs
	for _, v := range all[:min(len(all), maxVerdicts)] {
		t := verdictOf(v)
		if room -= len(t.Output); room < 0 {
			t.Output = ""
		}
		out = append(out, t)
	}
	return out
}

// Failing lists the tests that fail since the change, written ones first.
func (t Tests) Failing() []TestVerdict {
	var all []TestVerdict
	for _, v := range t.Written {
		if v.Status == TestsFailed {
			all = append(all, v)
		}
	}
	if t.Own != nil {
		all = append(all, t.Own.Failed...)
	}
	return all
}

// ownOf compares what the project's command says of two trees.
func ownOf(command string, base, result testrun.Report) *OwnTests {
	own := &OwnTests{Command: command, Status: TestsPassed}
	if missing := cmp.Or(base.Missing, result.Missing); missing != "" {
		own.Status, own.Detail = TestsSkipped, "the image lacks "+missing
		if base.Missing == "" {
			own.Detail += "; they ran before the change"
		}
		return own
	}
	failed, before := testrun.CompareOwn(base, result)
	own.Failed, own.Before = verdictsOf(failed), before
	switch {
	case len(failed) > 0:
		own.Status, own.Detail = TestsFailed, counted(len(failed), "new failure")
	case before > 0 && tellsNoTests(command, result):
		own.Status, own.Detail = TestsInvalid, "fails on the base too"
	case before > 0:
		own.Detail = fmt.Sprintf("no new failure, %d before", before)
	default:
		own.Detail = "no new failure"
	}
	return own
}

// tellsNoTests reports whether all that is known of a command is its exit code.
func tellsNoTests(command string, r testrun.Report) bool {
	return len(r.Cases) == 1 && strings.HasPrefix(strings.Join(strings.Fields(command), " "), strings.TrimSuffix(r.Cases[0].Name, "…"))
}

// sum sets status and detail of the whole. why says why no tests were written, ""
// where some were or nobody wanted any.
func (t *Tests) sum(why string) {
	count, proves, skip := map[string]int{}, 0, ""
	for _, v := range t.Written {
		count[v.Status]++
		if v.Status == TestsSkipped {
			skip = cmp.Or(skip, v.Detail)
		}
		if v.Proves {
			proves++
		}
	}
	parts := writtenParts(count, proves, skip)
	if why != "" {
		parts = append(parts, "none written: "+why)
	}
	detail := strings.Join(parts, ", ")
	if t.Own != nil {
		count[t.Own.Status]++
		detail = strings.TrimPrefix(detail+"; "+shortCommand(t.Own.Command)+": "+t.Own.Detail, "; ")
	}
	t.Status, t.Detail = TestsSkipped, detail
	for _, status := range []string{TestsFailed, TestsPassed, TestsInvalid} {
		if count[status] > 0 {
			t.Status = status
			break
		}
	}
}

// writtenParts count the written tests, what fails first; skip is why the first of
// those was skipped that were.
func writtenParts(count map[string]int, proves int, skip string) (parts []string) {
	for _, status := range []string{TestsFailed, TestsPassed, TestsInvalid, TestsSkipped} {
		n := count[status]
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", n, status)
		if status == TestsPassed && proves > 0 {
			part += fmt.Sprintf(" (%d failed before)", proves)
		}
		if status == TestsSkipped && skip != "" {
			part += " (" + skip + ")"
		}
		parts = append(parts, part)
	}
	return parts
}

// shortCommand is a command as a few words of a line.
func shortCommand(command string) string {
	command = strings.Join(strings.Fields(command), " ")
	if r := []rune(command); len(r) > 60 {
		command = string(r[:59]) + "…"
	}
	return command
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// into puts a verdict into a record. What was kept of the tests is known there.
func (t Tests) into(o *Outcome) {
	t.Kept = o.Tests.Kept
	o.Tests = t
}

// Short is the verdict in a few words.
func (t Tests) Short() string {
	switch n := len(t.Failing()); {
	case t.Status != TestsFailed:
		return t.Status
	case n == 1:
		return "1 fails"
	default:
		return fmt.Sprintf("%d fail", n)
	}
}
