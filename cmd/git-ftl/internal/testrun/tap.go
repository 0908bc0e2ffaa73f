package testrun

import (
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Lines of TAP, as Node writes it.
var (
	tapStart = lazyregexp.New(`^( *)# Subtest: (.*)$`)
	tapNoise = lazyregexp.New(`^ *(---|duration_ms: .*)$`)
	tapPoint = lazyregexp.New(`^( *)(not ok|ok)(?: \d+)?(?: -)? ?(.*?)(?: # (?i:(SKIP|TO[D]O))\b ?(.*))?$`)
)

// tapReader follows nested points: those of a level come before the one that they
// belong to.
type tapReader struct {
	cases  []growing
	names  []string // of the points under way, by level
	inside []bool   // whether the point of a level has any within
	guilty []bool   // and whether one of them fails
	last   int      // the case that the next lines explain, -1 for none
	indent string   // of those lines
}

// readTAP reads the TAP of one file.
func readTAP(text string) []Case {
	cases := wholeFiles(tapCases(text))
	for i := range cases {
		if cases[i].State == Broken {
			cases[i].Output = "" // Node says why before
		}
	}
	return cases
}

// wholeFiles knows the cases that Node's runners make of files which did not load.
func wholeFiles(cases []Case) []Case {
	for i := range cases {
		if c := &cases[i]; isScript(c.Name) {
			c.Name = ""
			if c.State == Failed {
				c.State = Broken
			}
		}
	}
	return cases
}

// tapCases reads Node's TAP, where a point may have points within. Only innermost
// ones are cases, and those that fail by themselves. One may be a whole file.
func tapCases(text string) []Case {
	r := tapReader{last: -1}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := tapStart.FindStringSubmatch(line); m != nil {
			r.start(len(m[1])/4, m[2])
		} else if m := tapPoint.FindStringSubmatch(line); m != nil && len(r.cases) < maxCases {
			r.point(len(m[1])/4, m[2] == "ok", m[3], strings.ToUpper(m[4]), m[5])
		} else if strings.TrimLeft(line, " ") == "..." {
			r.last = -1
		} else if r.last >= 0 && !tapNoise.MatchString(line) {
			r.cases[r.last].add(strings.TrimPrefix(line, r.indent))
		}
	}
	return grown(r.cases)
}

// maxDepth bounds levels.
const maxDepth = 32

func (r *tapReader) start(level int, name string) {
	if level >= maxDepth {
		return
	}
	r.grow(level)
	r.names[level], r.last = name, -1
}

func (r *tapReader) grow(level int) {
	for len(r.names) <= level+1 {
		r.names, r.inside, r.guilty = append(r.names, ""), append(r.inside, false), append(r.guilty, false)
	}
}

func (r *tapReader) point(level int, ok bool, name, directive, reason string) {
	if level >= maxDepth {
		return
	}
	r.grow(level)
	group, guilty := r.inside[level], r.guilty[level]
	r.inside[level], r.guilty[level], r.last = false, false, -1
	bad := !ok && directive == ""
	if level > 0 {
		r.inside[level-1] = true
		r.guilty[level-1] = r.guilty[level-1] || bad
	}
	if group && (!bad || guilty) {
		return
	}
	c := Case{Name: strings.Join(append(r.above(level), name), " > "), State: Passed}
	switch {
	case directive != "":
		c.State, c.Output = Skipped, reason
	case bad:
		c.State = Failed
	}
	r.cases = append(r.cases, growing{Case: c})
	if c.State == Failed {
		r.last, r.indent = len(r.cases)-1, strings.Repeat(" ", 4*level+2)
	}
}

// above are the names of the points around one, without the file's.
func (r *tapReader) above(level int) []string {
	var all []string
	for _, name := range r.names[:level] {
		if name != "" && !isScript(name) {
			all = append(all, name)
		}
	}
	return all
}

// isScript reports whether a point is named as a file is.
func isScript(name string) bool { return scriptPath.MatchString(name) }

var scriptPath = lazyregexp.New(`^\S*\.(?:test|spec)\.[cm]?[jt]sx?$`)
