package testrun

import (
	"encoding/json"
	"strings"
)

// goEvent is one line of "go test -json".
type goEvent struct{ Action, Test, Output string }

// readGo reads the events of one package. A test with subtests is one only where it
// fails by itself.
func readGo(text string) []Case {
	var cases []growing
	index := map[string]int{}
	ended := map[string]bool{}
	for line := range strings.Lines(text) {
		var e goEvent
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Test == "" {
			continue
		}
		e.Test = clip(e.Test, maxName)
		i, known := index[e.Test]
		if !known {
			if len(cases) == maxCases {
				continue
			}
			i, index[e.Test] = len(cases), len(cases)
			cases = append(cases, growing{Case: Case{Name: e.Test, State: Failed}})
		}
		switch e.Action {
		case "output":
			if said := strings.TrimSpace(e.Output); !strings.HasPrefix(said, "=== ") && !strings.HasPrefix(said, "--- ") {
				cases[i].add(strings.TrimSuffix(e.Output, "\n"))
			}
		case "pass", "fail", "skip":
			cases[i].State = map[string]State{"pass": Passed, "fail": Failed, "skip": Skipped}[e.Action]
			ended[e.Test] = true
		}
	}
	return goLeaves(grown(cases), ended)
}

// goLeaves leaves parents out whose children say it, and says of a test that it did
// not end.
func goLeaves(cases []Case, ended map[string]bool) []Case {
	above, guilty := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		for i := strings.LastIndexByte(c.Name, '/'); i > 0; i = strings.LastIndexByte(c.Name[:i], '/') {
			above[c.Name[:i]] = true
			guilty[c.Name[:i]] = guilty[c.Name[:i]] || c.State == Failed
		}
	}
	var leaves []Case
	for _, c := range cases {
		if !ended[c.Name] {
			c.Output += "it did not end"
		}
		if !above[c.Name] || c.State == Failed && !guilty[c.Name] {
			leaves = append(leaves, c)
		}
	}
	return leaves
}

// goSaid is what "go test -json" would print without -json.
func goSaid(text string) string {
	var said strings.Builder
	for line := range strings.Lines(text) {
		var e goEvent
		switch {
		case !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil:
			said.WriteString(line)
		case e.Output != "":
			said.WriteString(e.Output)
		}
	}
	return said.String()
}
