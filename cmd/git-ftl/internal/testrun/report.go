package testrun

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// State is how a case ended.
type State string

// States of a case.
const (
	Passed  State = "passed"
	Failed  State = "failed"
	Skipped State = "skipped"
	Broken  State = "broken" // does not compile, was not collected, or did not start
)

// Case is one test of a file. One without a name stands for the whole file.
type Case struct {
	Name   string
	State  State
	Output string // what it said, or the end of all output; at most 4 KiB
}

// growing is a case while its lines are read: a string that grew by each of them
// would be copied as often.
type growing struct {
	Case
	said []byte
}

// add adds a line to what a case said; what is far too much is dropped.
func (g *growing) add(line string) {
	if len(g.said)+len(line) < 4*maxOutput {
		g.said = append(append(g.said, line...), '\n')
	}
}

// grown are cases with what they said.
func grown(all []growing) []Case {
	var cases []Case
	for _, g := range all {
		g.Output += string(g.said)
		cases = append(cases, g.Case)
	}
	return cases
}

// Report is what a run says of its cases.
type Report struct {
	Cases   []Case
	Missing string // what the image lacks to run them, such as "go"; then there are no cases
}

// Bounds of what is believed to be a report, in bytes but the second.
const (
	maxOut    = 4 << 20 // of output, from its end
	maxCases  = 500
	maxName   = 200
	maxTool   = 60
	maxOutput = 4 << 10 // of a case
)

// Formats of output.
const (
	formatPlain    = "" // the exit code alone
	formatUnittest = "unittest"
	formatGo       = "go"
	formatTAP      = "tap"
	formatCargo    = "cargo"
	formatReport   = "report" // in a file, which the script gives where there is one
)

func (r Run) readers() map[string]func(text string) []Case {
	return map[string]func(string) []Case{
		"junit": readJUnit, "jest": readJest, "mocha": func(text string) []Case { return readMocha(text, r.Path) },
		formatUnittest: readUnittest, formatGo: readGo, formatTAP: readTAP, formatCargo: readCargo,
	}
}

// mark begins what a script says of its run.
const mark = "\nftl-tests: "

// Read makes a report of a run's output and error output together, and its exit
// code. Output may be cut in front.
func (r Run) Read(out []byte, exit int) Report {
	text := textOf(out)
	if tool := missing(text, exit); tool != "" {
		return Report{Missing: tool}
	}
	format, body, said := r.format, text, text
	if i := strings.LastIndex(text, mark+"report "); i >= 0 {
		head, rest, _ := strings.Cut(text[i+len(mark+"report "):], "\n")
		format, body, said = head, rest, text[:i]
	}
	if format == formatGo {
		said = goSaid(text)
	}
	var cases []Case
	if read := r.readers()[format]; read != nil {
		cases = read(body)
	}
	if who := fetcher(said); who != "" && len(cases) == 0 && exit != 0 {
		return Report{Missing: "what " + who + " would fetch"}
	}
	return Report{Cases: whole(cases, format, said, exit)}
}

// fetcher is who says that it may not ask the network for what it needs, "" for
// nobody.
func fetcher(said string) string {
	for _, by := range []struct{ words, name string }{
		{"in offline mode and the artifact", "Maven"},
		{"available for offline mode", "Gradle"},
		{"module lookup disabled by GOPROXY=off", "Go"},
		{"you're using offline mode (--offline)", "Cargo"},
		{"but --offline was specified", "Cargo"},
	} {
		if strings.Contains(said, by.words) {
			return by.name
		}
	}
	return ""
}

// textOf is the end of an output as text without colours.
func textOf(out []byte) string {
	out = out[max(0, len(out)-maxOut):]
	text := strings.ToValidUTF8(string(bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n"))), "\uFFFD")
	if strings.Contains(text, "\x1b") {
		text = colour.ReplaceAllString(text, "")
	}
	return "\n" + text
}

var colour = lazyregexp.New("\x1b\\[[0-9;]*[A-Za-z]")

// silence stands for the output of what ended without a word.
const silence = "it said nothing"

// whole completes cases by what the exit code says of the file.
func whole(cases []Case, format, said string, exit int) []Case {
	for i := range cases {
		cases[i].complete(said)
	}
	file := Case{State: Broken, Output: tail(said)}
	switch {
	case slices.ContainsFunc(cases, Case.bad) || len(cases) > 0 && exit == 0:
		return cases
	case len(cases) == 0 && exit == 0 && format == formatPlain:
		return []Case{{State: Passed}}
	case len(cases) > 0 || killed(exit) || format == formatPlain && strings.Contains(said, mark+"started"):
		file.State = Failed
	}
	file.complete(said)
	return append(cases, file)
}

func (c Case) bad() bool { return c.State == Failed || c.State == Broken }

// complete bounds what a case says, and has a bad one say something.
func (c *Case) complete(said string) {
	c.Name, c.Output = clip(c.Name, maxName), ends(c.Output)
	if c.Output == "" && c.bad() {
		c.Output = tail(said)
	}
	if c.Output == "" && c.bad() {
		c.Output = silence
	}
}

// killed reports whether an exit code is that of a program that a signal ended, or
// timeout(1).
func killed(exit int) bool { return exit > 128 || exit == 124 }

// notFound is how shells, make and env say that there is no such program.
var notFound = lazyregexp.New(`(?m)^(?:/\S+: |(?:ba|z|da)?sh: |make: |env: )(?:line )?(?:\d+: )?(?:exec: )?['‘]?([A-Za-z0-9_./+-]+)['’]?: (?:command not found|not found|No such file or directory|inaccessible or not found|Permission denied)`)

// Python's word for a runner that is not there, as the whole output, and the last
// line of a make whose command was not found.
var (
	noModule  = lazyregexp.New(`^\n\S*python[0-9.]*: No module named '?([\w.]+)'?\s*$`)
	makeEnded = lazyregexp.New(`\nmake(?:\[\d+\])?: \*\*\* .* Error 127\s*$`)
)

// missing names the tool that a run did not find, "" where it began.
func missing(text string, exit int) string {
	last := text[max(0, len(text)-maxOutput):]
	if m := noModule.FindStringSubmatch(last); m != nil && exit == 1 {
		return clip(m[1], maxTool)
	}
	if exit == 2 && makeEnded.MatchString(last) {
		exit = 127
	}
	if exit != 126 && exit != 127 {
		return ""
	}
	if i := strings.LastIndex(last, mark+"missing "); i >= 0 {
		name, _, _ := strings.Cut(last[i+len(mark+"missing "):], "\n")
		return clip(name, maxTool)
	}
	if all := notFound.FindAllStringSubmatch(last, -1); len(all) > 0 {
		return clip(path.Base(all[len(all)-1][1]), maxTool)
	}
	return ""
}

// tail is the end of a text, from the start of a line where it can be.
func tail(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxOutput {
		return text
	}
	text = text[len(text)-maxOutput+len("…\n"):]
	if _, rest, ok := strings.Cut(text, "\n"); ok && len(rest) > maxOutput/2 {
		return "…\n" + rest
	}
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "…" + text
}

// ends is a text without its middle where it is long: what went wrong stands at one
// of them.
func ends(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxOutput {
		return text
	}
	head, rest := text[:maxOutput/2-len("…\n")], text[len(text)-maxOutput/2:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i+1]
	}
	if _, after, ok := strings.Cut(rest, "\n"); ok {
		rest = after
	}
	return strings.ToValidUTF8(head, "") + "…\n" + strings.ToValidUTF8(rest, "")
}

// clip is the beginning of a text, in one line.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
