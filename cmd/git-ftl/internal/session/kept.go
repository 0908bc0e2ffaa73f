package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
	"github.com/git-ftl/git-ftl/patch"
)

// Written are the tests that a model wrote for a task. They are kept outside of
// every workspace.
type Written struct {
	Of      string         `json:"of"` // commit of the snapshot that they were written from
	Files   []testrun.File `json:"files"`
	Invalid []string       `json:"invalid,omitempty"` // paths of tests that say nothing
}

func writtenName(id string) string { return "tests/" + id + ".json" }

// Written reads the tests of a task by its full ID; errors.Is(err,
// fs.ErrNotExist) where there are none.
func (s *Session) Written(id string) (Written, error) {
	var w Written
	data, err := s.Repo.ReadState(writtenName(id))
	if err != nil {
		return w, err
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return w, fmt.Errorf("read the tests of %s: %w", id, err)
	}
	return w, nil
}

// ErrNoTests says that a result has no tests that are worth keeping.
var ErrNoTests = errors.New("there are no tests to keep")

// Keepable are the written tests of a result that say something of it, and what
// they need, to come along with an apply; left are the files that have a test which
// does not. Errors: ErrNoTests.
func (s *Session) Keepable(id string) (files []patch.NewFile, left []string, err error) {
	w, err := s.Written(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNoTests
	}
	if err != nil {
		return nil, nil, err
	}
	tests := 0
	for _, f := range w.Files {
		if slices.Contains(w.Invalid, f.Path) {
			left = append(left, f.Path)
			continue
		}
		files = append(files, patch.NewFile{Path: f.Path, Content: []byte(f.Content)})
		if !strings.HasPrefix(f.Path, testrun.Folder+"/") {
			tests++
		}
	}
	if len(files) == 0 || tests == 0 && len(left) > 0 { // what only helps those that are left
		return nil, left, ErrNoTests
	}
	return files, left, nil
}

// kept notes which tests an apply left in the work tree, or an undo took away.
// What was done is done: a record that cannot be written is said.
func (s *Session) kept(ctx context.Context, p patch.Applied) {
	_, err := s.revise(ctx, p.ID, func(o *Outcome) error {
		for _, f := range p.Files {
			switch at := slices.Index(o.Tests.Kept, f.Path); {
			case f.Beside && f.Change == patch.Added && at < 0:
				o.Tests.Kept = append(o.Tests.Kept, f.Path)
			case f.Change == patch.Deleted && at >= 0:
				o.Tests.Kept = slices.Delete(o.Tests.Kept, at, at+1)
			}
		}
		slices.Sort(o.Tests.Kept)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // nobody tells of a result without a record
		s.note(fmt.Sprintf("the record of %s does not say which tests were kept: %v", p.ID, err))
	}
}
