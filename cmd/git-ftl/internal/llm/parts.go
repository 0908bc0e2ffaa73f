package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// maxParts bounds the questions of one review.
const maxParts = 4

// part is as much of a change as goes into one question.
type part []FileChange

func (m Model) budget() int { return cmp.Or(m.Budget, 120_000) }

// made are files that a program wrote, and that say little: they come last, and
// are the first to be left out.
var made = lazyregexp.New(`(?i)(^|/)(vendor|node_modules|dist|third_party)/|(^|/)(go\.sum|package-lock\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|cargo\.lock|gemfile\.lock|composer\.lock)$|\.(min\.(js|css)|map|svg|snap|lock|pb\.go|golden)$`)

// split packs a change into so many parts of the budget's bytes, whole files where
// they fit and the first lines of others, and says what is in none, in lines that can
// be shown.
func split(files []FileChange, budget, most int) (parts []part, left []string) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b FileChange) int {
		return cmp.Compare(rank(a), rank(b))
	})
	var current part
	room := budget // in the current part
	for _, f := range files {
		n := len(f.Patch) + len(f.Path)
		next := n <= budget || room < budget/2 // what is cut in any case is cut to a large rest
		if n > room && len(current) > 0 && len(parts)+1 < most && next {
			parts, current, room = append(parts, current), nil, budget
		}
		f, note := cut(f, room)
		switch {
		case note != "" && len(current) > 0 && (f.Patch == "" || room < budget/8):
			left = append(left, escape.Text(f.Path)+": not shown, the change is too large")
			continue
		case note != "":
			left = append(left, note)
		}
		current, room = append(current, f), room-len(f.Patch)-len(f.Path)
	}
	if len(current) > 0 {
		parts = append(parts, current)
	}
	return parts, left
}

func rank(f FileChange) int {
	if made.MatchString(f.Path) {
		return 1
	}
	return 0
}

// cut keeps the first lines of a patch that is too long for the room.
func cut(f FileChange, room int) (FileChange, string) {
	room = max(room-len(f.Path), 0)
	if len(f.Patch) <= room {
		return f, ""
	}
	kept := f.Patch[:strings.LastIndexByte(f.Patch[:room], '\n')+1]
	note := fmt.Sprintf("%s: the first %d of %d lines shown", escape.Text(f.Path), strings.Count(kept, "\n"), strings.Count(f.Patch, "\n"))
	return FileChange{Path: f.Path, Patch: kept}, note
}

func (p part) paths() (all []string) {
	for _, f := range p {
		all = append(all, escape.Text(f.Path))
	}
	return all
}

// text is the part as a model is shown it: paths in the form that it is to use.
func (p part) text() string {
	var b strings.Builder
	for _, f := range p {
		fmt.Fprintf(&b, "file %s\n", escape.Text(f.Path))
		if f.Patch == "" {
			b.WriteString("(no text)\n")
			continue
		}
		b.WriteString(strings.TrimSuffix(f.Patch, "\n") + "\n")
	}
	return b.String()
}

// hunk is the head of one, by its place in the new file.
var hunk = lazyregexp.New(`(?m)^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// newLines reports whether a patch shows a line of the new file.
func newLines(patch string, line int) bool {
	for _, m := range hunk.FindAllStringSubmatch(patch, -1) {
		from, _ := strconv.Atoi(m[1])
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		if line >= from && line < from+n {
			return true
		}
	}
	return false
}
