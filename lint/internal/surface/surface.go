// Package surface finds in one changed path what would run on the user's machine
// by itself, or be believed there without being seen: hooks, editor tasks, agent
// settings, links out of the tree, invisible characters, pipelines, the scripts
// and registries of package managers.
//
// Whether a rule blocks follows from how many ordinary commits touch what it
// watches: what under 4 in 100 touch blocks, what more touch is told. It reads
// nothing but the document, takes time linear in it, and believes no comment in
// it. An exception can only come from outside.
package surface

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Context is what a document alone does not tell.
type Context struct {
	// Watched are the tracked paths that the user's own git configuration or an
	// installed hook reads or executes, with the words that complete "this is …".
	// A path that ends in "/" is a folder.
	Watched map[string]string

	// Link returns the target of the symlink at a path of the changed tree, in
	// whatever case it is written there; nil is a tree without links.
	Link func(path string) (target string, ok bool)
}

// maxConfig is the most that a configuration file is read for, in bytes. A larger
// one is nobody's configuration, and blocks unread.
const maxConfig = 1 << 20

// Hits returns what is to be said of a document. Of a window of a large file the
// first also speaks of the path; the others only of their text.
func Hits(d *doc.Document, c Context) []doc.Hit {
	l := doc.NewList(d)
	s := scan{Document: d, list: l, names: foldPath(d.Path)}
	if !d.Part || d.FirstLine == 1 {
		s.path(c)
	}
	if d.New == (git.Entry{}) {
		return l.All()
	}
	if d.New.Mode != filemode.Symlink && d.New.Mode != filemode.Submodule {
		s.text()
		s.content()
	}
	return l.All()
}

// scan is one document under way.
type scan struct {
	*doc.Document
	list  *doc.List
	names []string // the folded components of its path
	row   row      // of its path
}

// whole adds a hit on the path. What is accepted is the path with this content.
func (s *scan) whole(rule string, severity doc.Severity, message, remedy string) {
	s.list.Add(doc.Hit{
		Rule: rule, Severity: severity, Anywhere: true,
		Match:   fmt.Appendf(nil, "%s %s %s", s.Path, s.New.Mode, s.New.Hash),
		Message: message, Remedy: remedy,
	})
}

// path tells what the path, its kind and its mode mean.
func (s *scan) path(c Context) {
	s.spelling()
	s.watched(c)
	s.known()
	if s.New == (git.Entry{}) {
		s.deleted()
		return
	}
	s.mode(c)
}

// known applies the first row that the path matches. A symlink stands for the
// folder that it may name.
func (s *scan) known() {
	r, ok := find(s.names, s.New.Mode == filemode.Symlink)
	if !ok {
		return
	}
	s.row = r
	switch {
	case s.New != (git.Entry{}) && r.message != "":
		s.whole(r.name, r.severity, r.message, r.remedy)
	case s.New == (git.Entry{}) && r.gone != "":
		s.whole(r.name, r.gone, "deleted: "+r.message, r.remedy)
	}
}

// watched blocks what the user's own configuration points at.
func (s *scan) watched(c Context) {
	for _, p := range slices.Sorted(maps.Keys(c.Watched)) {
		if covers(foldPath(strings.TrimSuffix(p, "/")), s.names) {
			s.whole("surface/watched", doc.Block, "this is "+c.Watched[p], "read it as a program that runs on this machine, then waive the finding")
			return
		}
	}
}

// mode tells new links, submodules, executable bits and binary files.
func (s *scan) mode(c Context) {
	switch {
	case s.New.Mode == filemode.Symlink:
		s.link(c)
	case s.New.Mode == filemode.Submodule:
		s.whole("surface/submodule", doc.Block, "a submodule: its code comes from elsewhere and is not part of this change", "look at the commit that it names")
	case s.New.Mode == filemode.Executable && s.Old.Mode != filemode.Executable:
		s.whole("surface/executable", doc.Block, "the file becomes executable", "if nobody is to run it: git update-index --chmod=-x")
	}
	switch {
	case !s.Binary || s.New.Mode == filemode.Symlink:
	case plainText(s.Text):
		s.whole("surface/nul", doc.Warn, "text with a NUL byte: git shows no diff of it", "remove the NUL")
	default:
		s.whole("surface/binary", doc.Warn, "a binary file: nobody can read what changes", "make sure of where it comes from")
	}
}

// plainText reports whether bytes that hold a NUL are text otherwise.
func plainText(text []byte) bool {
	odd := 0
	text = text[:min(len(text), 64<<10)]
	for _, b := range text {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' {
			odd++
		}
	}
	return len(text) > 0 && odd*50 <= len(text)
}

// deleted tells deletions that weaken a project.
func (s *scan) deleted() {
	switch {
	case s.row.gone != "":
	case notices().match(s.names, false):
		s.whole("surface/deletes-notice", doc.Info, "a licence, a notice or a security policy is deleted", "")
	case tests().match(s.names, false):
		s.whole("surface/deletes-test", doc.Info, "a test is deleted", "")
	}
}

var (
	notices = sync.OnceValue(func() globs { return paths("license* licence* copying* notice* security.md codeowners") })
	tests   = sync.OnceValue(func() globs {
		return paths("*_test.* test_*.py *.test.* *.spec.* *_spec.rb *test.java *tests.cs test/ tests/ __tests__/ spec/ testdata/")
	})
)

// manyFiles is from how many on deletions are told.
const manyFiles = 20

// Deletes tells that a change deletes many files. The finding is the whole
// change's.
func Deletes(n int) (doc.Hit, bool) {
	if n < manyFiles {
		return doc.Hit{}, false
	}
	message := fmt.Sprintf("the change deletes %d files", n)
	return doc.Hit{Rule: "surface/deletes", Severity: doc.Info, Anywhere: true, Match: []byte(message), Message: message}, true
}
