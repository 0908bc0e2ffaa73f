// Package patch turns the untrusted bytes of a sandbox into a Patch, keeps
// results until the user decides on them, and applies and undoes them.
//
// Parse is the only gate: what passes it is valid by construction, and Store
// checks it once more against the tree it changes. Apply and Undo are all or
// nothing, follow no symlink, and survive a crash at any point by a journal.
// Nothing here touches HEAD, branches, the user's index or the stash.
package patch

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Limits bounds what Parse accepts. A zero field stands for its default.
type Limits struct {
	Patch int64 // bytes of patch text, 1 GiB
	Files int   // file sections, 50,000
	File  int64 // bytes of one file after the change, 512 MiB
	Total int64 // bytes of all files after the change, 1 GiB
}

const (
	maxTextBody  = 96 << 20 // bytes of the hunks of one file; larger files travel as literals
	maxTextLines = 8 << 20
	maxLink      = 4095 // bytes of a symlink's target
)

func (l Limits) withDefaults() Limits {
	set := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	set(&l.Patch, 1<<30)
	set(&l.File, 512<<20)
	set(&l.Total, 1<<30)
	if l.Files == 0 {
		l.Files = 50_000
	}
	return l
}

// Kind says what happened to a path.
type Kind string

// The kinds of change. A rename is a deletion and an addition.
const (
	Added    Kind = "added"
	Modified Kind = "modified"
	Deleted  Kind = "deleted"
	Type     Kind = "type" // a file became a symlink or the other way round
)

// Letter is the kind as git status has it: A, D, T or M.
func (k Kind) Letter() string {
	switch k {
	case Added:
		return "A"
	case Deleted:
		return "D"
	case Type:
		return "T"
	}
	return "M"
}

// File is the change of one path. Paths have slashes and are raw bytes.
type File struct {
	Path             string
	Change           Kind
	OldMode, NewMode filemode.FileMode // 0 where the side has no file
	Old, New         plumbing.Hash     // zero where the side has no file, and both when only the mode changes
	Binary           bool
	Insertions       int // lines, 0 when binary
	Deletions        int // lines, 0 when binary

	sections []span
}

// Patch is a parsed change of a tree: files sorted by path, each path once. It
// reads its source again when it is stored.
type Patch struct {
	Files []File

	src    io.ReaderAt
	limits Limits
}

// span is a part of the source, in bytes.
type span struct{ off, len int64 }

// UnsafeError says that the gate refused a change.
type UnsafeError struct {
	Path string // the path that was refused, "" when it is the patch as a whole
	Why  string
}

// Error quotes the path, since it is hostile.
func (e *UnsafeError) Error() string {
	if e.Path == "" {
		return "refuse patch: " + e.Why
	}
	return fmt.Sprintf("refuse %q: %s", e.Path, e.Why)
}

// ErrTruncated says that a patch does not end with a line that fits it, so that
// its sender died or was cut off.
var ErrTruncated = errors.New("patch is cut off")

// Parse reads a patch of size bytes, which ends in the guest's end line. Memory
// is bounded by the largest file section. src must stay readable and unchanged
// until the Patch was stored. Errors: *UnsafeError, ErrTruncated, or those of
// src.
func Parse(src io.ReaderAt, size int64, l Limits) (*Patch, error) {
	l = l.withDefaults()
	if size > l.Patch {
		return nil, &UnsafeError{Why: fmt.Sprintf("%d bytes are over the bound of %d", size, l.Patch)}
	}
	end, err := readEnd(src, size)
	if err != nil {
		return nil, err
	}
	spans, err := split(src, end.bytes, l.Files)
	if err != nil {
		return nil, err
	}
	if len(spans) != end.files {
		return nil, fmt.Errorf("%w: %d of %d files", ErrTruncated, len(spans), end.files)
	}
	return collect(src, spans, l)
}

// collect parses each section and joins them to files.
func collect(src io.ReaderAt, spans []span, l Limits) (*Patch, error) {
	p := &Patch{src: src, limits: l}
	left := l.Total
	for _, s := range spans {
		sec, err := readSection(src, s)
		if err != nil {
			return nil, err
		}
		grows, err := sec.verify(l)
		if err != nil {
			return nil, err
		}
		if left -= grows; left < 0 {
			return nil, &UnsafeError{Path: sec.Path, Why: fmt.Sprintf("the files are over the bound of %d bytes in total", l.Total)}
		}
		sec.File.sections = []span{s}
		if err := p.add(sec.File); err != nil {
			return nil, err
		}
	}
	return p, checkSpellings(p.Files)
}

// add appends a section's file, or joins it with the deletion before it.
func (p *Patch) add(f File) error {
	if len(p.Files) == 0 {
		p.Files = append(p.Files, f)
		return nil
	}
	last := &p.Files[len(p.Files)-1]
	if f.Path > last.Path {
		p.Files = append(p.Files, f)
		return nil
	}
	switch {
	case f.Path < last.Path:
		return &UnsafeError{Path: f.Path, Why: "files are not in order"}
	case last.Change != Deleted || f.Change != Added:
		return &UnsafeError{Path: f.Path, Why: "is changed twice"}
	case (last.OldMode == filemode.Symlink) == (f.NewMode == filemode.Symlink):
		return &UnsafeError{Path: f.Path, Why: "is deleted and added without a change of type"}
	}
	last.Change, last.NewMode, last.New = Type, f.NewMode, f.New
	last.Binary = last.Binary || f.Binary
	last.Insertions += f.Insertions
	last.sections = append(last.sections, f.sections...)
	return nil
}
