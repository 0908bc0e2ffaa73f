package surface

import (
	"regexp"
	"strings"
	"sync"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// lineRule is one rule on the text of some files. What it matches counts where
// the base's file has no such line.
type lineRule struct {
	files    globs
	name     string
	severity doc.Severity
	find     func() *regexp.Regexp
	but      func() *regexp.Regexp // a match that this matches too does not count
	message  string
	remedy   string
}

// leafRule is one rule on the scalars of some JSON files. What it matches counts
// where the base's file has not the same value at the same key.
type leafRule struct {
	files    globs
	name     string
	severity doc.Severity
	key      func() *regexp.Regexp
	value    func() *regexp.Regexp // nil is any
	message  string
	remedy   string
}

// The rules that choose files by their paths, made once.
var (
	lineRules = sync.OnceValue(func() []lineRule { return append(registryLines(), dependencyLines()...) })
	leafRules = sync.OnceValue(manifestLeaves)
)

// content applies the rules that read the file.
func (s *scan) content() {
	lines, leafs := s.rules()
	if len(lines)+len(leafs) > 0 && (s.Part || len(s.Text) > maxConfig) {
		s.unread("too large to be a configuration: it was not read")
		lines, leafs = nil, nil
	}
	if len(lines) > 0 {
		s.lines(lines)
	}
	if len(leafs) > 0 {
		s.leaves(leafs)
	}
	s.gitConfig()
	s.lock()
	s.suppressions()
}

// unread blocks what no rule could look into, once.
func (s *scan) unread(why string) {
	if s.FirstLine == 1 {
		s.whole("surface/unread", doc.Block, why, "make it smaller")
	}
}

// rules returns the rules that concern the path.
func (s *scan) rules() (lines []lineRule, leafs []leafRule) {
	if s.row.name == "ci/change" {
		lines = ciRules()
	}
	for _, r := range lineRules() {
		if r.files.match(s.names, false) {
			lines = append(lines, r)
		}
	}
	for _, r := range leafRules() {
		if r.files.match(s.names, false) {
			leafs = append(leafs, r)
		}
	}
	return lines, leafs
}

// lines applies rules to the text as its reader understands it.
func (s *scan) lines(rules []lineRule) {
	now, was := understand(s.Text), understand(s.Was)
	known := was.set()
	for _, r := range rules {
		for _, m := range r.find().FindAllIndex(now.text, -1) {
			around, comment := now.around(m[0], m[1])
			if comment || had(known, around) || r.but != nil && r.but().Match(now.text[m[0]:m[1]]) {
				continue
			}
			s.list.Add(doc.Hit{
				Rule: r.name, Severity: r.severity, Anywhere: true,
				Start: now.at[m[0]], End: now.at[m[1]], Match: []byte(around),
				Message: r.message, Remedy: r.remedy,
			})
		}
	}
	if s.row.name == "ci/change" {
		s.actions(now, was)
	}
}

// had reports whether each line of a match was there before.
func had(known map[string]bool, lines string) bool {
	for line := range strings.SplitSeq(lines, "\n") {
		if !known[strings.TrimSpace(line)] {
			return false
		}
	}
	return true
}

// leaves applies rules to JSON.
func (s *scan) leaves(rules []leafRule) {
	known := map[string]bool{}
	for f := range leaves(s.Was) {
		known[f.key+"\x00"+f.value] = true
	}
	for f := range leaves(s.Text) {
		if known[f.key+"\x00"+f.value] {
			continue
		}
		for _, r := range rules {
			if r.key().MatchString(f.key) && (r.value == nil || r.value().MatchString(f.value)) {
				s.list.Add(doc.Hit{
					Rule: r.name, Severity: r.severity, Anywhere: true, Start: f.start, End: f.end,
					Match: []byte(f.key + "=" + f.value), Message: r.message, Remedy: r.remedy,
				})
			}
		}
	}
}
