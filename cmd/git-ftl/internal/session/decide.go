package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/patch"
)

// ErrNonePending says that this work tree has no undecided result.
var ErrNonePending = errors.New("nothing is pending")

// ErrUnseen says that the pending result is not the one that was last shown.
var ErrUnseen = errors.New("the pending result has not been shown yet")

// SeveralError says that a verb without an ID could mean several results.
type SeveralError struct{ Results []patch.Result }

// Error counts them.
func (e *SeveralError) Error() string {
	return fmt.Sprintf("%d results are undecided", len(e.Results))
}

// Choose finds a result by a prefix of its ID, or the only undecided one of
// this work tree where the prefix is empty. Errors: ErrNonePending,
// *SeveralError, patch.ErrUnknown, *patch.AmbiguousError.
func (s *Session) Choose(ctx context.Context, prefix string) (patch.Result, error) {
	if prefix != "" {
		return s.Queue.Find(ctx, strings.ToLower(prefix))
	}
	all, err := s.Queue.Undecided(ctx)
	switch {
	case err != nil:
		return patch.Result{}, err
	case len(all) == 0:
		return patch.Result{}, ErrNonePending
	case len(all) > 1:
		return patch.Result{}, &SeveralError{all}
	}
	return all[0], nil
}

// Apply merges a result into the working tree. The tree as it is now is staged
// first, as o.Now, so that the merge sees what the user did meanwhile; a result
// that is another commit by now is not taken. What is taken is linted: findings
// that block are a *BlockedError, unless waive takes them as accepted. Other errors
// are those of patch.Queue.Apply. The record says which tests came along.
func (s *Session) Apply(ctx context.Context, result patch.Result, o patch.ApplyOptions, waive bool) (patch.Applied, error) {
	staged, err := s.Store.Stage(ctx, s.snapshotOptions(""))
	if err != nil {
		return patch.Applied{}, err
	}
	o.Now, o.Seen = patch.Current{Tree: staged.Tree, Head: staged.Head}, result.Commit
	o.Check = s.checkApply(result, waive, o.DryRun)
	s.rememberEnvFiles(staged.LeftOut)
	for _, l := range staged.LeftOut {
		o.Now.LeftOut = append(o.Now.LeftOut, l.Path)
	}
	applied, err := s.Queue.Apply(ctx, result.ID, o)
	if err == nil && !o.DryRun {
		s.kept(ctx, applied)
	}
	return applied, err
}

// Undo takes back an apply, and with it the tests that it kept. Errors: those of
// patch.Queue.Undo.
func (s *Session) Undo(ctx context.Context, o patch.UndoOptions) (patch.Applied, error) {
	undone, err := s.Queue.Undo(ctx, o)
	if err != nil {
		return undone, err
	}
	was, _ := s.Task(undone.ID)
	for i, f := range undone.Files {
		undone.Files[i].Beside = f.Change == patch.Deleted && slices.Contains(was.Tests.Kept, f.Path)
	}
	if !o.DryRun {
		s.kept(ctx, undone)
	}
	return undone, nil
}

// MarkShown notes that the user has seen this commit as the result.
func (s *Session) MarkShown(id, commit string) error {
	if s.shown(id) == commit {
		return nil
	}
	return s.Repo.WriteState("shown/"+id, []byte(commit))
}

// Shown returns ErrUnseen where a result is another commit than was last shown.
func (s *Session) Shown(r patch.Result) error {
	if s.shown(r.ID) != r.Commit.String() {
		return ErrUnseen
	}
	return nil
}

// shown is the commit that the user last saw as a result, "" where it was none.
func (s *Session) shown(id string) string {
	commit, _ := s.Repo.ReadState("shown/" + id)
	return string(commit)
}
