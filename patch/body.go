package patch

import (
	"bytes"
	"io"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

var hunkPattern = lazyregexp.New(`^@@ -\d{1,10}(,\d{1,10})? \+\d{1,10}(,\d{1,10})? @@( .*)?$`)

// verify checks the body as far as that needs no base, fills in the counts and
// returns how many bytes of content it brings.
func (s *section) verify(l Limits) (int64, error) {
	if len(s.body) == 0 {
		if s.NewMode == filemode.Symlink && s.Change != Deleted {
			return 0, s.refuse("is a symlink to nothing")
		}
		return 0, nil
	}
	if s.Binary {
		return s.verifyBinary(l)
	}
	diff, err := s.parse()
	if err != nil {
		return 0, err
	}
	err = s.verifyText(diff)
	if err == nil && s.Change == Added && int64(len(s.body)-s.Insertions) > l.File+1<<10 {
		err = s.refuse("is over the bound of %d bytes", l.File)
	}
	return int64(len(s.body)), err
}

// parse reads the body's hunks. The library skips what it does not know, so
// each line is checked and counted here first; and it reads names and modes
// loosely, so it sees a header of ours.
func (s *section) parse() (*gitdiff.File, error) {
	ops, hunks, err := s.checkText()
	if err != nil {
		return nil, err
	}
	head := strings.NewReader("diff --git a/f b/f\n--- a/f\n+++ b/f\n")
	files, preamble, err := gitdiff.Parse(io.MultiReader(head, bytes.NewReader(s.body)))
	if err != nil {
		return nil, s.refuse("%v", err)
	}
	if len(files) != 1 || preamble != "" || len(files[0].TextFragments) != hunks {
		return nil, s.refuse("its body is malformed")
	}
	for _, f := range files[0].TextFragments {
		ops -= len(f.Lines)
		if err := f.Validate(); err != nil {
			return nil, s.refuse("%v", err)
		}
	}
	if ops != 0 {
		return nil, s.refuse("its hunks have lines that they do not count")
	}
	return files[0], nil
}

// checkText reads the lines of hunks and counts changed or context lines, and
// hunks.
func (s *section) checkText() (ops, hunks int, err error) {
	if len(s.body) > maxTextBody {
		return 0, 0, s.refuse("its hunks are over the bound of %d bytes", maxTextBody)
	}
	for line := range bytes.Lines(s.body) {
		line = line[:len(line)-1]
		switch {
		case len(line) > 0 && (line[0] == ' ' || line[0] == '+' || line[0] == '-') && hunks > 0:
			ops++
		case string(line) == `\ No newline at end of file` && ops > 0:
		case hunkPattern.Match(line):
			hunks++
		default:
			return 0, 0, s.refuse("has an unknown line in its body")
		}
	}
	if ops > maxTextLines {
		return 0, 0, s.refuse("its hunks are over the bound of %d lines", maxTextLines)
	}
	return ops, hunks, nil
}

// verifyText counts lines, and checks what needs no base: an added file is all
// there, and so is a deleted one.
func (s *section) verifyText(diff *gitdiff.File) error {
	var oldLines, newLines int64
	for _, f := range diff.TextFragments {
		s.Insertions += int(f.LinesAdded)
		s.Deletions += int(f.LinesDeleted)
		oldLines += f.OldLines
		newLines += f.NewLines
	}
	switch s.Change {
	case Added, Deleted:
		if s.Change == Added && oldLines != 0 || s.Change == Deleted && newLines != 0 || len(diff.TextFragments) != 1 {
			return s.refuse("its hunks do not fit a file that was %s", s.Change)
		}
		var content bytes.Buffer
		for _, line := range diff.TextFragments[0].Lines {
			content.WriteString(line.Line)
		}
		if plumbing.ComputeHash(plumbing.BlobObject, content.Bytes()) != s.Old && s.Change == Deleted {
			return s.refuse("its content is not what its index line says")
		}
		if s.Change == Added {
			return s.checkContent(content.Bytes())
		}
	}
	return nil
}

// checkContent checks the bytes that a file is to have.
func (s *section) checkContent(content []byte) error {
	if plumbing.ComputeHash(plumbing.BlobObject, content) != s.New {
		return s.refuse("its content is not what its index line says")
	}
	if s.NewMode == filemode.Symlink {
		return checkTarget(s.Path, string(content))
	}
	return nil
}

// content makes the bytes that the file has after the change out of those that
// it had. l bounds them.
func (s *section) content(old []byte, l Limits) ([]byte, error) {
	if len(s.body) == 0 {
		return old, nil
	}
	var out bytes.Buffer
	if s.Binary {
		if err := s.inflate(&out, l); err != nil {
			return nil, err
		}
		return out.Bytes(), s.checkContent(out.Bytes())
	}
	diff, err := s.parse()
	if err != nil {
		return nil, err
	}
	if err := gitdiff.Apply(&out, bytes.NewReader(old), diff); err != nil {
		return nil, s.refuse("does not fit its base: %v", err)
	}
	if int64(out.Len()) > l.File {
		return nil, s.refuse("is over the bound of %d bytes", l.File)
	}
	return out.Bytes(), s.checkContent(out.Bytes())
}
