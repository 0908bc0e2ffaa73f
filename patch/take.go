package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Split parts a hunk into its runs of changed lines, each with the lines around
// it; nothing where it has one run, or is no hunk.
func (p Piece) Split() []Piece {
	var runs [][2]int // begin and end of changed lines
	for i, line := range p.hunk.lines {
		switch {
		case line[0] == ' ':
		case len(runs) > 0 && runs[len(runs)-1][1] == i:
			runs[len(runs)-1][1] = i + 1
		default:
			runs = append(runs, [2]int{i, i + 1})
		}
	}
	if len(runs) < 2 {
		return nil
	}
	var all []Piece
	for i := range runs {
		begin, end := 0, len(p.hunk.lines)
		if i > 0 {
			begin = runs[i-1][1]
		}
		if i+1 < len(runs) {
			end = runs[i+1][0]
		}
		before := hunk{lines: p.hunk.lines[:begin]}
		old, new := before.sides()
		all = append(all, p.with(hunk{p.hunk.old + old, p.hunk.new + new, p.hunk.section, p.hunk.lines[begin:end]}))
	}
	return all
}

// Take returns the part of a result that these pieces of it make, which
// ApplyOptions.Part takes.
func (q *Queue) Take(ctx context.Context, r Result, chosen []Piece) (Part, error) {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	var changes []git.Change
	files := map[string]*taking{}
	for _, p := range chosen {
		c := p.changes[0]
		if !regular(c.Old.Mode) || !regular(c.New.Mode) {
			changes = append(changes, p.changes...)
			continue
		}
		if files[p.Path] == nil {
			files[p.Path] = &taking{change: c, entry: c.Old}
		}
		files[p.Path].add(p)
	}
	for _, f := range files {
		c, err := f.write(objs)
		if err != nil {
			return Part{}, fmt.Errorf("take a part of %s: %w", r.ID, err)
		}
		changes = append(changes, c)
	}
	tree, err := objs.Rewrite(r.Have, changes)
	if err != nil {
		return Part{}, fmt.Errorf("take a part of %s: %w", r.ID, err)
	}
	return Part{Have: r.Have, Tree: tree}, nil
}

// taking is a file of which parts are taken.
type taking struct {
	change git.Change
	entry  git.Entry // what becomes of it
	hunks  []hunk
}

func (t *taking) add(p Piece) {
	switch {
	case p.Hunk:
		t.hunks = append(t.hunks, p.hunk)
	case p.Change == Mode:
		t.entry.Mode = t.change.New.Mode
	default:
		t.entry.Hash = t.change.New.Hash
	}
}

func (t *taking) write(objs *git.Objects) (git.Change, error) {
	c := t.change
	c.New = t.entry
	if len(t.hunks) == 0 {
		return c, nil
	}
	old, err := objs.Blob(c.Old.Hash)
	if err != nil {
		return c, err
	}
	content, err := splice(strings.SplitAfter(string(old), "\n"), t.hunks)
	if err != nil {
		return c, fmt.Errorf("%s: %w", quoted(c.Path), err)
	}
	c.New.Hash, err = objs.WriteBlob(content)
	return c, err
}

// splice makes the changes of hunks to the lines of a file. Hunks may share
// lines that they do not change.
func splice(old []string, hunks []hunk) ([]byte, error) {
	hunks = slices.Clone(hunks)
	slices.SortFunc(hunks, func(a, b hunk) int { return a.old - b.old })
	s := &splicer{old: old}
	for _, h := range hunks {
		at := h.old
		for _, line := range h.lines {
			if err := s.line(at, line); err != nil {
				return nil, err
			}
			if line[0] != '+' {
				at++
			}
		}
	}
	s.keep(len(old))
	return s.out, nil
}

type splicer struct {
	old []string
	pos int // lines of old that are dealt with
	out []byte
}

// keep copies lines of the file.
func (s *splicer) keep(to int) {
	for ; s.pos < to; s.pos++ {
		s.out = append(s.out, s.old[s.pos]...)
	}
}

// line does what one line of a hunk says, of the file's line at.
func (s *splicer) line(at int, line string) error {
	op, text := line[0], line[1:]
	if op != '+' && (at >= len(s.old) || s.old[at] != text) {
		return errHunk
	}
	if op == ' ' {
		return nil
	}
	if at < s.pos || at > len(s.old) {
		return errHunk
	}
	s.keep(at)
	if op == '-' {
		s.pos = at + 1
	} else {
		s.out = append(s.out, text...)
	}
	return nil
}
