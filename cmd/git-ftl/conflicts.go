package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/patch"
)

func (e *exitError) explainConflict(c *patch.ConflictError) {
	e.code = exitConflict
	with, mergeable := "your working tree", true
	for _, p := range c.Paths {
		if p.Against != "" {
			with = strings.Replace("the "+p.Against, "the HEAD", "HEAD", 1)
		}
		mergeable = mergeable && p.Mergeable()
		e.details = append(e.details, conflictLine(p))
	}
	e.err = fmt.Errorf("%s conflicts with %s; nothing was written", c.ID, with)
	switch {
	case mergeable:
		e.hints = []string{fmt.Sprintf("git ftl apply --merge %s (markers and stages for mergetool, lazygit, your editor)", c.ID)}
	case with != "your working tree":
		e.hints = []string{fmt.Sprintf("git ftl apply %s writes the working tree only; to go on here, git add what it needs, commit or unstage what is in its way", c.ID)}
	default:
		e.hints = []string{fmt.Sprintf("git ftl diff %s shows the change; commit, stash or move what is in its way and apply again", c.ID)}
	}
}

// conflictLine names a conflict as compilers do; why is said where it is not
// the lines themselves.
func conflictLine(c patch.Conflict) string {
	line := c.Path
	if c.Lines != "" {
		line += ":" + c.Lines
	}
	switch {
	case c.Why == "contents" && c.Lines != "", c.Why == "":
	default:
		line += "  " + c.Why
	}
	return line
}

// explainEdited tells of an undo of id, which begins with a space; "" is of the
// newest apply.
func (e *exitError) explainEdited(edited *patch.EditedError, id string) {
	e.code, e.details = exitConflict, edited.Paths
	e.err = errors.New("files were edited since; nothing was touched")
	if len(edited.Paths) == 0 {
		e.err = errors.New("other content was staged since; nothing was touched")
	}
	for _, p := range edited.Staged {
		if !slices.Contains(edited.Paths, p) {
			e.details = append(e.details, p+"  staged since")
		}
	}
	e.hints = []string{"git ftl undo" + id + " --merge takes it out of your edits, git ftl undo" + id + " -- PATH out of single files; git diff shows them"}
}

// explainRefusal takes what keeps an apply from index and HEAD.
func (e *exitError) explainRefusal() bool {
	var (
		busy *patch.BusyError
		hook *patch.HookError
	)
	switch {
	case errors.As(e.err, &busy):
		e.hints = []string{"finish it or abort it first, git status says how; git ftl apply leaves index and HEAD alone"}
	case errors.As(e.err, &hook):
		e.err, e.details = fmt.Errorf("the hook %s refused the commit; everything was taken back", hook.Name), outputLines(hook.Output)
		e.hints = []string{"mend what it names, or leave --hooks out"}
		for _, p := range slices.Sorted(maps.Keys(hook.Dropped)) {
			if blob := hook.Dropped[p]; !blob.IsZero() {
				e.hints = append(e.hints, fmt.Sprintf("git cat-file blob %s has %s as it was when the hooks ended", blob, p))
			}
		}
	default:
		return false
	}
	return true
}

// waysBack says how files that are in the way of a recovery become what they were.
func waysBack(cut *patch.InterruptedError) []string {
	const most = 5
	hints := []string{"keep a copy of what you want of these files, put them back as they were before it, and run the command again; from the top of the work tree:"}
	for i, p := range cut.Paths[:min(len(cut.Paths), most)] {
		if name := quoteArgs([]string{p}); cut.Saved[i].IsZero() {
			hints = append(hints, "rm -- "+name)
		} else {
			hints = append(hints, fmt.Sprintf("git cat-file blob %s > %s", cut.Saved[i], name))
		}
	}
	return hints
}

// marked is the error of what was written, but with conflicts.
func marked(p patch.Applied, next []string) error {
	e := &exitError{code: exitConflict, hints: next}
	n := 0
	for _, c := range p.Conflicts {
		if c.HasMarkers() {
			n++
		}
		e.details = append(e.details, conflictLine(c))
	}
	has := "have"
	if n == 1 {
		has = "has"
	}
	e.err = fmt.Errorf("%s %s conflict markers", plural(n, "file"), has)
	switch rest := len(p.Conflicts) - n; {
	case n == 0:
		e.err = fmt.Errorf("%s to settle by hand", plural(rest, "file"))
	case rest > 0:
		e.err = fmt.Errorf("%w, %d more to settle by hand", e.err, rest)
	}
	if p.DryRun {
		e.err = fmt.Errorf("%w; nothing was written", e.err)
	}
	return e
}

// outputLines parts what a program printed into lines.
func outputLines(text string) []string {
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
