package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// section is one parsed file section: its header, and its body as bytes.
type section struct {
	File
	body []byte // hunks, or the lines from "GIT binary patch" on
	rest []byte // what the header's parser has not read yet
}

var indexPattern = lazyregexp.New(`^([0-9a-f]{40})\.\.([0-9a-f]{40})(?: (\d{6}))?$`)

// readSection reads and parses one section. Errors: *UnsafeError.
func readSection(src io.ReaderAt, s span) (*section, error) {
	raw := make([]byte, s.len)
	if _, err := src.ReadAt(raw, s.off); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	sec := &section{rest: raw}
	for _, step := range []func() error{sec.readNames, sec.readModes, sec.readIndex, sec.readBody} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return sec, nil
}

func (s *section) refuse(format string, args ...any) error {
	return &UnsafeError{Path: s.Path, Why: fmt.Sprintf(format, args...)}
}

// next takes the line that begins with prefix and returns what follows it.
func (s *section) next(prefix string) (string, bool) {
	if !bytes.HasPrefix(s.rest, []byte(prefix)) {
		return "", false
	}
	end := bytes.IndexByte(s.rest, '\n')
	if end < len(prefix) {
		return "", false
	}
	line := string(s.rest[len(prefix):end])
	s.rest = s.rest[end+1:]
	return line, true
}

func (s *section) readNames() error {
	line, _ := s.next(sectionStart)
	path, ok := bothNames(line)
	if !ok {
		return &UnsafeError{Path: line, Why: "its header does not name one path twice"}
	}
	s.Path = path
	return checkPath(path)
}

func (s *section) readModes() (err error) {
	s.Change = Modified
	if m, ok := s.next("old mode "); ok {
		if s.OldMode, err = s.mode(m); err != nil {
			return err
		}
		m, ok = s.next("new mode ")
		if !ok {
			return s.refuse("an old mode without a new one")
		}
		if s.NewMode, err = s.mode(m); err != nil {
			return err
		}
		if s.OldMode == s.NewMode || s.OldMode == filemode.Symlink || s.NewMode == filemode.Symlink {
			return s.refuse("mode %o cannot become %o", s.OldMode, s.NewMode)
		}
		return nil
	}
	if m, ok := s.next("new file mode "); ok {
		s.Change = Added
		s.NewMode, err = s.mode(m)
		return err
	}
	if m, ok := s.next("deleted file mode "); ok {
		s.Change = Deleted
		s.OldMode, err = s.mode(m)
	}
	return err
}

// mode reads one of the three modes that a patch may carry.
func (s *section) mode(text string) (filemode.FileMode, error) {
	switch text {
	case "100644":
		return filemode.Regular, nil
	case "100755":
		return filemode.Executable, nil
	case "120000":
		return filemode.Symlink, nil
	case "160000":
		return 0, s.refuse("is a submodule, which a patch cannot change")
	}
	return 0, s.refuse("has the mode %q", text)
}

func (s *section) readIndex() (err error) {
	line, ok := s.next("index ")
	modes := s.OldMode != 0 || s.NewMode != 0
	if !ok {
		if s.Change != Modified || !modes || len(s.rest) != 0 {
			return s.refuse("has no index line")
		}
		return nil
	}
	m := indexPattern.FindStringSubmatch(line)
	if m == nil || (m[3] != "") == modes {
		return s.refuse("has a malformed index line")
	}
	s.Old, s.New = plumbing.NewHash(m[1]), plumbing.NewHash(m[2])
	if !modes {
		if s.OldMode, err = s.mode(m[3]); err != nil {
			return err
		}
		s.NewMode = s.OldMode
	}
	if s.Old.IsZero() != (s.Change == Added) || s.New.IsZero() != (s.Change == Deleted) || s.Old == s.New {
		return s.refuse("its index line does not fit a file that was %s", s.Change)
	}
	return nil
}

// readBody finds the body and checks the names before it; its content is
// checked by verify.
func (s *section) readBody() error {
	switch {
	case len(s.rest) == 0:
		empty := plumbing.ComputeHash(plumbing.BlobObject, nil)
		if s.Old == s.New || s.Change == Added && s.New == empty || s.Change == Deleted && s.Old == empty {
			return nil
		}
		return s.refuse("has no content")
	case bytes.HasPrefix(s.rest, []byte(binaryStart)):
		s.Binary, s.body, s.rest = true, s.rest, nil
		return nil
	}
	from, ok1 := s.next("--- ")
	to, ok2 := s.next("+++ ")
	if !ok1 || !ok2 {
		return s.refuse("has an unknown line in its header")
	}
	if !s.named(from, "a/", s.Change == Added) || !s.named(to, "b/", s.Change == Deleted) {
		return s.refuse("its header and body name different files")
	}
	s.body, s.rest = s.rest, nil
	return nil
}

// named reports whether a "---" or "+++" line names this file, or no file where
// it is absent. Like git, a guest may end a name that has a space with a tab.
func (s *section) named(name, prefix string, absent bool) bool {
	if absent {
		return name == "/dev/null"
	}
	if strings.Contains(s.Path, " ") {
		name = strings.TrimSuffix(name, "\t")
	}
	got, ok := unquote(name)
	return ok && got == prefix+s.Path
}
