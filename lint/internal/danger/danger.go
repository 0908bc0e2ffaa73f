// Package danger finds operations in new code that lose data, run what they are
// given, switch a protection off or carry something away.
//
// It is advice: what it finds may be just what the task asked for, and a program
// that hides what it does is not found. It warns; in tests, and where the task
// asks for it in words, it only tells. Comments and documentation are not code.
// It reads nothing but the document and takes time linear in it.
package danger

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// maxSource is the largest source that is looked through, in bytes.
const maxSource = 1 << 20

// Hits returns the dangerous operations of a document. task is what the user
// asked for, in their words.
func Hits(d *doc.Document, task string) []doc.Hit {
	l := doc.NewList(d)
	lang := language(d.Path, d.Text)
	if lang == 0 || d.New.Mode == filemode.Symlink || d.New.Mode == filemode.Submodule {
		return nil
	}
	if d.Part || len(d.Text) > maxSource {
		if d.FirstLine == 1 && lang&config == 0 {
			l.Add(doc.Hit{
				Rule: "danger/unread", Severity: doc.Warn, Anywhere: true,
				Message: "too large for source code: dangerous operations were not looked for", Remedy: "split the file",
			})
		}
		return l.All()
	}
	s := read(lang, d.Text)
	asked := words(task)
	test := doc.IsTest(d.Path)
	t := rules()
	for i, near := range t.windows(s) {
		for _, m := range t.rules[i].matches(s, near) {
			l.Add(t.rules[i].hit(m, test, asked))
		}
	}
	return l.All()
}

// rule is one dangerous operation.
type rule struct {
	name    string // after "danger/"
	in      lang   // where it is an operation: in code, outside of strings
	quoted  bool   // it is one inside a string of any other language, too
	keyword string // one of these, separated by "|", in lower case, stands in every match or near it; "\\b" says that a word begins
	line    bool   // a match is on one line; a backslash joins lines
	reach   int    // how far behind its keyword a match may end, where that is not reachAhead
	find    pattern
	also    func(s *source, start, end int) bool // nil is true
	info    bool                                 // it only tells
	message string
	remedy  string
	asked   string // sets of beginnings of words, separated by commas: a task with all of a set asks for it
}

// matches returns the places near its keywords where a rule matches, each with
// where it ends.
func (r *rule) matches(s *source, near [][2]int) [][2]int {
	var out [][2]int
	for _, w := range near {
		for _, m := range r.find().FindAllIndex(s.text[w[0]:w[1]], -1) {
			start, end := m[0]+w[0], m[1]+w[0]
			if s.text[start] <= ' ' && start+1 < end {
				start++ // it is only looked at to see that a word begins
			}
			if r.counts(s, start) && (r.also == nil || r.also(s, start, end)) {
				out = append(out, [2]int{start, end})
			}
		}
	}
	return out
}

// mayMatch reports whether a keyword at text[start:end] can be in a match that
// counts.
func (r *rule) mayMatch(s *source, start, end int) bool {
	switch {
	case s.lang&r.in != 0:
		return true
	case !r.quoted || s.lang&(programs|config|shell) == 0:
		return false
	}
	return s.lang&(config|shell) != 0 || s.kind[start] == quoted || s.kind[end-1] == quoted
}

// counts reports whether an operation that begins at a place would be one. In a
// shell, in SQL and in a configuration a string is as good as code.
func (r *rule) counts(s *source, start int) bool {
	switch {
	case s.lang&r.in&(shell|sql|config) != 0, s.lang&(shell|config) != 0 && r.quoted:
		return true
	case s.lang&r.in != 0:
		return s.kind[start] == code || r.quoted
	}
	return s.kind[start] == quoted || s.kind[min(start+1, len(s.kind)-1)] == quoted
}

func (r *rule) hit(m [2]int, test bool, asked []string) doc.Hit {
	h := doc.Hit{
		Rule: "danger/" + r.name, Severity: doc.Warn, Start: m[0], End: m[1],
		Message: r.message, Remedy: r.remedy,
	}
	switch {
	case r.wanted(asked):
		h.Severity, h.Message = doc.Info, h.Message+"; the task asks for it"
	case test || r.info:
		h.Severity = doc.Info
	}
	return h
}

// wanted reports whether the task asks for what a rule finds.
func (r *rule) wanted(task []string) bool {
	for set := range strings.SplitSeq(r.asked, ",") {
		need := strings.Fields(set)
		if len(need) > 0 && !slices.ContainsFunc(need, func(w string) bool { return !begins(task, w) }) {
			return true
		}
	}
	return false
}

func begins(task []string, word string) bool {
	return slices.ContainsFunc(task, func(w string) bool { return strings.HasPrefix(w, word) })
}

// words are the words of a task, in lower case.
func words(task string) []string {
	return strings.FieldsFunc(strings.ToLower(task[:min(len(task), 64<<10)]), func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && r < 0x80
	})
}
