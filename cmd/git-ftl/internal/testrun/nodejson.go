package testrun

import (
	"encoding/json"
	"strings"
)

// readJest reads the report of "jest --json".
func readJest(text string) []Case {
	var report struct {
		TestResults []struct {
			Message          string
			AssertionResults []struct {
				FullName, Status string
				FailureMessages  []string
			}
		}
	}
	if decode(text, &report) != nil {
		return nil
	}
	var cases []Case
	for _, file := range report.TestResults {
		if len(file.AssertionResults) == 0 {
			cases = append(cases, Case{State: Broken, Output: file.Message})
		}
		for _, a := range file.AssertionResults {
			state, ok := map[string]State{"passed": Passed, "failed": Failed}[a.Status]
			if !ok { // pending, todo, skipped, disabled
				state = Skipped
			}
			cases = append(cases, Case{Name: a.FullName, State: state, Output: strings.Join(a.FailureMessages, "\n")})
		}
	}
	return cases[:min(len(cases), maxCases)]
}

// readMocha reads the report of Mocha's reporter json on one file. A project's own
// settings may have added others.
func readMocha(text, file string) []Case {
	type test struct {
		FullTitle, File string
		Err             struct{ Message, Stack string }
	}
	var report struct{ Passes, Failures, Pending []test }
	if decode(text, &report) != nil {
		return nil
	}
	var cases []Case
	add := func(all []test, state State) {
		for _, c := range all {
			if c.File != "" && !strings.HasSuffix(c.File, "/"+file) {
				continue
			}
			output := c.Err.Stack
			if !strings.Contains(output, c.Err.Message) {
				output = c.Err.Message + "\n" + output
			}
			cases = append(cases, Case{Name: c.FullTitle, State: state, Output: output})
		}
	}
	add(report.Failures, Failed)
	add(report.Passes, Passed)
	add(report.Pending, Skipped)
	return cases[:min(len(cases), maxCases)]
}

// decode reads the first JSON value of a text.
func decode(text string, into any) error {
	return json.NewDecoder(strings.NewReader(text)).Decode(into)
}
