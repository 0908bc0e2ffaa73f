package testrun

import (
	"regexp"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// ReadOwn makes a report of a project's own command: a case for each failure that a
// known runner tells in a line of its own, else one for the command.
func ReadOwn(command string, out []byte, exit int) Report {
	text := textOf(out)
	if tool := missing(text, exit); tool != "" {
		return Report{Missing: tool}
	}
	name := clip(command, maxName)
	if exit == 0 {
		return Report{Cases: []Case{{Name: name, State: Passed}}}
	}
	cases := ownFailures(text)
	if len(cases) == 0 {
		cases = []Case{{Name: name, State: Failed}}
	}
	return Report{Cases: whole(cases, formatReport, text, exit)}
}

// ownLine is a line by which a runner says that a test failed: its group, or the
// first that matches, is the name.
type ownLine struct {
	says  *regexp.Regexp
	state State  // "" where it is no failure, but looks so
	of    string // what else stands in the name: what was last said of the file, or of the package hereafter
}

// What else belongs to a name that a runner says.
const (
	ofFile    = "file"    // the line before that named one
	ofPackage = "package" // the line hereafter that names one
)

func ownLines() []ownLine {
	line := func(text string, state State, of string) ownLine { return ownLine{regexp.MustCompile(text), state, of} }
	return []ownLine{
		line(`^FAILED (\S+::.+?)(?: - .*)?$`, Failed, ""),                                                                          // pytest
		line(`^ERROR (\S+\.py(?:::\S+)?)(?: - .*)?$`, Broken, ""),                                                                  // pytest
		line(`^ERROR: ([\w.]+ \(unittest\.loader\._FailedTest.*\))$`, Broken, ""),                                                  // unittest
		line(`^(?:FAIL|ERROR): ([\w.]+ \([\w.<>-]+\))`, Failed, ""),                                                                // unittest
		line(`^ *--- FAIL: (\S+) \(`, Failed, ofPackage),                                                                           // go
		line(`^FAIL\t(\S+) \[(?:build|setup) failed\]$`, Broken, ""),                                                               // go
		line(`^test (\S+)(?: - should panic)? \.\.\. FAILED$`, Failed, ""),                                                         // cargo
		line("^error: could not compile `([^`]+)`", Broken, ""),                                                                    // cargo
		line(`^ *✖ (.+?) \([\d.]+ms\)$`, Failed, ""),                                                                               // node
		line(`^  ● Console()$`, "", ""),                                                                                            // jest
		line(`^  ● Test suite failed to run()$`, Broken, ofFile),                                                                   // jest
		line(`^  ● (.+)$`, Failed, ofFile),                                                                                         // jest
		line(`^ FAIL  (\S+ > .+)$`, Failed, ""),                                                                                    // vitest
		line(`^ FAIL  (\S+) \[ \S+ \]$`, Broken, ""),                                                                               // vitest
		line(`^(?:\[ERROR\] +)?([\w.$]+(?:\([\w.$]+\))?)(?:\[\d+\])? +(?:-- )?Time elapsed: .*<<< (?:FAILURE|ERROR)!`, Failed, ""), // surefire
		line(`^([\w.$]+ > .+) FAILED$`, Failed, ""),                                                                                // gradle
		line(`^ *\d+/\d+ +Test +#\d+: (\S+) \.*\*\*\*`, Failed, ""),                                                                // ctest
		line(`^\[  FAILED  \] (\S+\.\S+?)(?:, where .*)?(?: \(\d+ ms\))?$`, Failed, ""),                                            // gtest
	}
}

// ownHint reports whether a line may be one of ownLines, of which few in a long
// output are.
func ownHint(line string) bool {
	for _, word := range []string{"FAIL", "ERROR", "could not compile", "✖", "●", "***"} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// ownReader reads the lines of all runners at once: a command may run more than one.
type ownReader struct {
	cases []growing
	index map[string]int
	at    int // the case that the next lines explain, -1 for none
	file  string
	loose []int    // cases of Go whose package is not named yet
	title []string // of Mocha's numbered failure, while it goes on
	said  []string // since a test began, by a runner that says so
	runs  bool     // whether one has begun
}

func ownFailures(text string) []Case {
	r := ownReader{index: map[string]int{}, at: -1}
	lines := ownLines()
	for line := range strings.Lines(text) {
		r.line(lines, strings.TrimRight(line, "\n"))
	}
	if strings.Contains(text, "\nTAP version 1") {
		for _, c := range tapCases(text) {
			if c.State == Failed && r.begin(c.Name, Failed) {
				r.cases[r.at].said = []byte(c.Output)
			}
		}
	}
	return withoutParents(grown(r.cases))
}

var (
	jestFile    = lazyregexp.New(`^FAIL (\S+)(?: \([\d.]+ m?s\))?$`)
	goPackage   = lazyregexp.New(`^FAIL\t(\S+)\t`)
	mochaNumber = lazyregexp.New(`^  \d+\) (.+)$`)
)

func (r *ownReader) line(lines []ownLine, line string) {
	if r.context(line) || r.mocha(line) || ownHint(line) && r.failure(lines, line) {
		return
	}
	if r.at >= 0 {
		r.cases[r.at].add(line)
	} else if r.runs && len(r.said) < maxSaid {
		r.said = append(r.said, line)
	}
}

// context follows lines that say what others are about; true for one that says
// nothing else.
func (r *ownReader) context(line string) bool {
	if m := jestFile.FindStringSubmatch(line); m != nil {
		r.file = m[1]
	} else if m := goPackage.FindStringSubmatch(line); m != nil {
		r.named(m[1])
	} else if m := cargoHead.FindStringSubmatch(line); m != nil {
		r.explain(m[1])
	} else if strings.HasPrefix(line, "=== RUN ") || strings.HasPrefix(line, "[ RUN ") {
		r.said, r.runs, r.at = nil, true, -1 // what follows is why it fails, where it does
		return true
	}
	return false
}

// failure reads a line that says that a test failed.
func (r *ownReader) failure(lines []ownLine, line string) bool {
	for _, l := range lines {
		m := l.says.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[1]
		if l.of == ofFile {
			name = strings.TrimSpace(r.file + " " + name)
		}
		if l.state == "" {
			r.at = -1
		} else if r.begin(name, l.state) && l.of == ofPackage {
			r.loose = append(r.loose, r.at)
		}
		if r.at >= 0 {
			r.cases[r.at].add(line)
		}
		return true
	}
	return false
}

// maxSaid bounds the lines that are kept of a test that may fail.
const maxSaid = 50

// begin makes a new case the one that is explained, by what was said since its test
// began; false for one that was told before, which is not explained again.
func (r *ownReader) begin(name string, state State) bool {
	said := r.said
	r.at, r.said, r.runs = -1, nil, false
	name = clip(name, maxName)
	if _, known := r.index[name]; known || len(r.cases) == maxCases {
		return false
	}
	r.at, r.index[name] = len(r.cases), len(r.cases)
	r.cases = append(r.cases, growing{Case: Case{Name: name, State: state}})
	for _, line := range said {
		r.cases[r.at].add(line)
	}
	return true
}

// explain makes a case that was told before the one that is explained.
func (r *ownReader) explain(name string) {
	if i, known := r.index[name]; known {
		r.at, r.cases[i].said = i, nil
	}
}

// named gives the failures of Go before it their package.
func (r *ownReader) named(pkg string) {
	for _, i := range r.loose {
		delete(r.index, r.cases[i].Name)
		r.cases[i].Name = clip(pkg+" "+r.cases[i].Name, maxName)
		r.index[r.cases[i].Name] = i
	}
	r.loose, r.at = nil, -1
}

// mocha reads a numbered title of Mocha's summary, whose lines end with a colon.
func (r *ownReader) mocha(line string) bool {
	m := mochaNumber.FindStringSubmatch(line)
	switch {
	case m != nil:
		r.title = []string{m[1]}
	case len(r.title) > 0 && len(r.title) < maxDepth && strings.HasPrefix(line, "       "):
		r.title = append(r.title, strings.TrimSpace(line))
	default:
		r.title = nil
		return false
	}
	if name, ok := strings.CutSuffix(strings.Join(r.title, " "), ":"); ok {
		r.begin(name, Failed)
		r.title = nil
	}
	return true
}

// withoutParents leaves out what fails because a part of it does.
func withoutParents(cases []Case) []Case {
	parents := map[string]bool{}
	for _, c := range cases {
		for i := strings.LastIndexByte(c.Name, '/'); i > 0; i = strings.LastIndexByte(c.Name[:i], '/') {
			parents[c.Name[:i]] = true
		}
	}
	return slices.DeleteFunc(cases, func(c Case) bool { return parents[c.Name] })
}
