package testrun

import (
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// What unittest -v says of a case: its name with its module and class, which may be
// all of a line where a description follows, its end, and the head of its failure.
var (
	unittestName = lazyregexp.New(`^([\w.]+) \(([\w.<>-]+)\)`)
	unittestEnd  = lazyregexp.New(`(?:^|[^A-Za-z_])(ok|FAIL|ERROR|expected failure|unexpected success|skipped ['"](.*)['"])$`)
	unittestHead = lazyregexp.New(`^(?:FAIL|ERROR): ([\w.]+) \(([\w.<>-]+)\)`)
)

// unittestReader reads the output of "python3 -m unittest -v", and of Django's.
type unittestReader struct {
	cases   []growing
	index   map[string]int
	waits   int // the case whose end is not told yet, -1 for none
	section int // the case whose failure is told, -1 before the first
}

func readUnittest(text string) []Case {
	r := unittestReader{index: map[string]int{}, waits: -1, section: -1}
	for line := range strings.Lines(text) {
		r.line(strings.TrimRight(line, "\n"))
	}
	return grown(r.cases)
}

func (r *unittestReader) line(line string) {
	if m := unittestHead.FindStringSubmatch(line); m != nil {
		r.fails(m[1], m[2])
		return
	}
	if r.section >= 0 {
		if strings.HasPrefix(line, "Ran ") {
			r.section = len(r.cases) // nobody's
		}
		if r.section < len(r.cases) && strings.Trim(line, "-=") != "" {
			r.cases[r.section].add(line)
		}
		return
	}
	if m := unittestName.FindStringSubmatch(line); m != nil && len(r.cases) < maxCases {
		r.waits = r.at(unittestCase(m[1], m[2]))
		r.cases[r.waits].State = Failed // unless it ends otherwise
	}
	if m := unittestEnd.FindStringSubmatch(line); m != nil && r.waits >= 0 {
		c := &r.cases[r.waits]
		c.State, c.Output = unittestState(m[1]), m[2]
		r.waits = -1
	}
}

// fails begins the section of a case. It may be of a class or a module, whose cases
// did not start.
func (r *unittestReader) fails(test, of string) {
	name := unittestCase(test, of)
	if _, ok := r.index[name]; !ok && len(r.cases) == maxCases {
		return
	}
	r.section = r.at(name)
	c := &r.cases[r.section]
	c.State = Failed
	if strings.Contains(of, "_FailedTest") {
		c.Name, c.State = "", Broken
	}
}

// at is the index of a case, which is added where it is new.
func (r *unittestReader) at(name string) int {
	i, ok := r.index[name]
	if !ok {
		i, r.index[name] = len(r.cases), len(r.cases)
		r.cases = append(r.cases, growing{Case: Case{Name: name}})
	}
	return i
}

func unittestState(word string) State {
	switch {
	case word == "ok" || word == "expected failure":
		return Passed
	case strings.HasPrefix(word, "skipped"):
		return Skipped
	}
	return Failed
}

// unittestCase is Class.test: Python 3.11 says the test twice.
func unittestCase(test, of string) string {
	class := strings.TrimSuffix(of, "."+test)
	return class[strings.LastIndexByte(class, '.')+1:] + "." + test
}
