package patch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// oursLabel names the user's side on the marker that opens a conflict.
const oursLabel = "working tree"

// mark turns the conflicts of a merge into what is written: markers in the
// merge's tree, stages for the index. Errors: *ConflictError where that is not
// asked for, or where a conflict cannot be told so.
func (a *apply) mark(m *outcome) error {
	if !a.o.Merge {
		return &ConflictError{a.r.ID, m.conflicts}
	}
	var odd []Conflict
	for _, c := range m.conflicts {
		if !c.Mergeable() || a.left.cover(c.Path) {
			odd = append(odd, c)
		}
	}
	for _, st := range m.stages {
		if strings.HasPrefix(st.New[0].Mode, "16") || keptApart.Match(st.Path) {
			odd = append(odd, Conflict{Path: keptApart.ReplaceAllString(string(st.Path), ""), Why: "cannot be told by markers"})
		}
	}
	if len(odd) > 0 {
		return &ConflictError{a.r.ID, odd}
	}
	if err := a.label(m); err != nil {
		return err
	}
	a.conflicts = m.conflicts
	for _, st := range m.stages {
		st.Old = a.index[string(st.Path)]
		a.indexed = append(a.indexed, st)
	}
	return nil
}

// label names the sides on the markers in the merge's tree by words in place of
// the commits that the merge was given.
func (a *apply) label(m *outcome) error {
	tree := newView(a.objs, m.tree)
	var changes []git.Change
	for _, st := range m.stages {
		e, err := tree.lookup(string(st.Path))
		if err != nil {
			return err
		}
		if e.Mode != filemode.Regular && e.Mode != filemode.Executable {
			continue
		}
		content, err := a.objs.Blob(e.Hash)
		if err != nil {
			return err
		}
		for hash, name := range map[string]string{m.mine.String(): oursLabel, m.its.String(): a.r.ID} {
			marker := regexp.MustCompile(`(?m)^([<>]{7,}) ` + hash + `(:[^\r\n]*)?(\r?)$`)
			content = marker.ReplaceAll(content, []byte("${1} "+name+"${3}"))
		}
		now := git.Entry{Mode: e.Mode}
		if now.Hash, err = a.objs.WriteBlob(content); err != nil {
			return err
		}
		m.marked(string(st.Path), markerLines(content, a.r.ID))
		changes = append(changes, git.Change{Path: string(st.Path), Old: e, New: now})
	}
	var err error
	m.tree, err = a.objs.Rewrite(m.tree, changes)
	return err
}

// marked notes the lines of markers. Where there are none, the file is binary,
// which older gits say in a message only.
func (o *outcome) marked(p, lines string) {
	for i := range o.conflicts {
		c := &o.conflicts[i]
		if c.Path != p || c.Why != "contents" {
			continue
		}
		if c.Lines = lines; lines == "" {
			c.Why = "binary"
		}
	}
}

// Mergeable reports whether ApplyOptions.Merge can write the conflict.
func (c Conflict) Mergeable() bool {
	return c.Against == "" && slices.Contains([]string{"contents", "binary", whyDeleted}, c.Why)
}

// HasMarkers reports whether a conflict that was written is one of markers in
// the file; Lines are theirs then.
func (c Conflict) HasMarkers() bool { return c.Why == "contents" }

// markerLines names the lines from each opening marker to its closing one.
func markerLines(text []byte, closing string) string {
	var out []string
	first := 0
	for i, line := range splitLines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "<<<<<<<") && strings.HasSuffix(line, "< "+oursLabel):
			first = i + 1
		case first > 0 && strings.HasPrefix(line, ">>>>>>>") && strings.HasSuffix(line, "> "+closing):
			out = append(out, fmt.Sprintf("%d-%d", first, i+1))
			first = 0
		}
	}
	return strings.Join(out, ", ")
}
