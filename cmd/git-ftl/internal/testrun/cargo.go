package testrun

import (
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Lines of cargo test: how a case ended, and the head of what it printed.
var (
	cargoEnd  = lazyregexp.New(`^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)`)
	cargoHead = lazyregexp.New(`^---- (\S+) stdout ----$`)
)

// readCargo reads the output of one test crate.
func readCargo(text string) []Case {
	var cases []growing
	index := map[string]int{}
	section := -1
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := cargoEnd.FindStringSubmatch(line); m != nil && len(cases) < maxCases {
			index[m[1]], section = len(cases), -1
			cases = append(cases, growing{Case: Case{Name: m[1], State: map[string]State{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[m[2]]}})
			continue
		}
		if m := cargoHead.FindStringSubmatch(line); m != nil {
			section = -1
			if i, ok := index[m[1]]; ok {
				section = i
			}
			continue
		}
		if line == "failures:" { // the list of names at the end
			section = -1
		}
		if section >= 0 {
			cases[section].add(line)
		}
	}
	return grown(cases)
}
