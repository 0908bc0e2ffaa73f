package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/patch"
)

// Mark is what a person thinks of a hunk.
type Mark string

// The marks; a hunk without one is undecided.
const (
	Accepted Mark = "accepted"
	Rejected Mark = "rejected"
)

// Decisions are the marks and comments of one change. Hunks are named by the lines
// that they change, wherever those are and whatever is around them, so that the
// names outlive an apply of others.
type Decisions struct {
	Marks    map[string]Mark `json:"marks"`
	Split    []string        `json:"split"` // hunks that were parted
	Comments []Comment       `json:"comments"`
}

// Comment is what a person says about a line of a hunk.
type Comment struct {
	Hunk string `json:"hunk"`
	Line int    `json:"line"` // counted from the first line that is changed; Whole for none
	Text string `json:"text"`
}

// Whole is the line of a comment on all of a hunk.
const Whole = math.MinInt32

// clone is a copy that later decisions leave alone.
func (d Decisions) clone() Decisions {
	d.Marks = maps.Clone(d.Marks)
	if d.Marks == nil {
		d.Marks = map[string]Mark{}
	}
	d.Split, d.Comments = slices.Clone(d.Split), slices.Clone(d.Comments)
	return d
}

// mark gives a hunk a mark, or takes that one away.
func (d *Decisions) mark(key string, to Mark) {
	if to == "" {
		delete(d.Marks, key)
	} else {
		d.Marks[key] = to
	}
}

// comment sets what is said about a line; nothing takes it away.
func (d *Decisions) comment(c Comment) {
	d.Comments = slices.DeleteFunc(d.Comments, func(o Comment) bool { return o.Hunk == c.Hunk && o.Line == c.Line })
	if c.Text == "" {
		return
	}
	d.Comments = append(d.Comments, c)
	slices.SortStableFunc(d.Comments, func(a, b Comment) int {
		return cmp.Or(strings.Compare(a.Hunk, b.Hunk), cmp.Compare(a.Line, b.Line))
	})
}

// said is what was said about a line.
func (d *Decisions) said(hunk string, line int) string {
	i := slices.IndexFunc(d.Comments, func(c Comment) bool { return c.Hunk == hunk && c.Line == line })
	if i < 0 {
		return ""
	}
	return d.Comments[i].Text
}

// without forgets hunks that are no more.
func (d Decisions) without(hunks []hunk) Decisions {
	d = d.clone()
	for i := range hunks {
		key := hunks[i].key
		delete(d.Marks, key)
		d.Comments = slices.DeleteFunc(d.Comments, func(c Comment) bool { return c.Hunk == key })
	}
	return d
}

// keyOf names a piece by what it does.
func keyOf(p patch.Piece, lines []line) string {
	all := fmt.Appendf(nil, "%s\x00%s\x00", p.Path, p.Change)
	for _, l := range lines {
		if l.op != ' ' {
			all = append(append(append(all, l.op), l.text...), '\n')
		}
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:8])
}

// maxQuoted bounds the lines of a hunk that an instruction quotes.
const maxQuoted = 120

const introduction = "I reviewed your change. Hunks that are rejected must not stay as they are: undo them, or do it otherwise as the comments say. Keep the others.\n\n"

// instruction words what the agent is to do next; "" where there is nothing to
// say.
func instruction(hunks []hunk, d *Decisions, more string) string {
	var b strings.Builder
	for i := range hunks {
		h := &hunks[i]
		rejected := d.Marks[h.key] == Rejected
		said := h.saidOf(d)
		if !rejected && said == "" {
			continue
		}
		if rejected {
			fmt.Fprintf(&b, "Rejected, %s:\n\n%s\n", h.piece.Path, h.quoted())
		} else {
			fmt.Fprintf(&b, "About %s:\n\n", h.piece.Path)
		}
		b.WriteString(said)
	}
	more = strings.TrimSpace(more)
	switch {
	case b.Len() == 0:
		return more
	case more != "":
		more += "\n\n"
	}
	return more + introduction + strings.TrimRight(b.String(), "\n") + "\n"
}

// saidOf words the comments on a hunk.
func (h *hunk) saidOf(d *Decisions) string {
	var b strings.Builder
	for _, c := range d.Comments {
		if c.Hunk != h.key {
			continue
		}
		if i := h.index(c.Line); i >= 0 {
			fmt.Fprintf(&b, "Line %s: ", h.lines[i].where())
		}
		b.WriteString(c.Text + "\n\n")
	}
	return b.String()
}

// quoted is the hunk as a diff, indented.
func (h *hunk) quoted() string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(h.piece.Text) {
		if n++; n > maxQuoted {
			b.WriteString("    …\n")
			break
		}
		b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	if n == 0 {
		fmt.Fprintf(&b, "    %s\n", h.title())
	}
	return b.String()
}
