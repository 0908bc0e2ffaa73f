package patch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// State is what was decided on a result.
type State string

// The states of a result.
const (
	Undecided State = "undecided"
	Partial   State = "partial" // applied in part
	Whole     State = "applied"
	Undone    State = "undone"
	Rejected  State = "rejected"
	Foreign   State = "foreign" // a ref without a local record: never a default, never applied
)

// Result is one change that an agent made, and what became of it.
type Result struct {
	ID             string
	Task           string // as it was given
	Agent          string
	Subject        string
	Commit, Tree   plumbing.Hash
	Base, BaseTree plumbing.Hash // the snapshot that the task started from
	Have           plumbing.Hash // tree: BaseTree with what was applied so far
	Files          []FileStat    // from BaseTree to Tree, none when foreign
	Left           []string      `json:"-"` // paths where Have differs from Tree, sorted
	State          State
	Worktree       string // key of the work tree that the task started from
	Created        time.Time
	Decided        time.Time // zero while undecided
}

// FileStat is one path of a result.
type FileStat struct {
	Path       string
	Change     Kind
	Insertions int
	Deletions  int
	Binary     bool
}

// Errors that callers branch on.
var (
	ErrUnknown = errors.New("no such result")
	ErrDecided = errors.New("result was applied already")
	ErrForeign = errors.New("result has no local record, so it was not made here")
	ErrChanged = errors.New("result changed meanwhile")
	ErrNothing = errors.New("nothing to undo")
)

// AmbiguousError says that a prefix fits several results.
type AmbiguousError struct {
	Prefix string
	IDs    []string
}

// Error names them.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s fits %s", e.Prefix, strings.Join(e.IDs, ", "))
}

const resultRefs = "refs/ftl/results/"

// List returns all results of the repository, newest first.
func (q *Queue) List(ctx context.Context) ([]Result, error) {
	refs, err := q.repo.Refs(ctx, resultRefs)
	if err != nil {
		return nil, fmt.Errorf("list results: %w", err)
	}
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	var all []Result
	for name, commit := range refs {
		r, err := q.load(ctx, objs, strings.TrimPrefix(name, resultRefs), commit)
		if err != nil {
			return nil, fmt.Errorf("list results: %w", err)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Result) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Find returns the one result whose ID begins with prefix; an ID itself always
// fits. Errors: ErrUnknown, *AmbiguousError.
func (q *Queue) Find(ctx context.Context, prefix string) (Result, error) {
	all, err := q.List(ctx)
	if err != nil {
		return Result{}, err
	}
	var fit []Result
	for _, r := range all {
		if r.ID == prefix {
			return r, nil
		}
		if prefix != "" && strings.HasPrefix(r.ID, prefix) {
			fit = append(fit, r)
		}
	}
	switch len(fit) {
	case 0:
		return Result{}, fmt.Errorf("%q: %w", prefix, ErrUnknown)
	case 1:
		return fit[0], nil
	}
	e := &AmbiguousError{Prefix: prefix}
	for _, r := range fit {
		e.IDs = append(e.IDs, r.ID)
	}
	return Result{}, e
}

// Undecided returns the results of this work tree that are undecided or partial,
// newest first, and among them one that was undone and is pending again.
func (q *Queue) Undecided(ctx context.Context) ([]Result, error) {
	all, err := q.List(ctx)
	if err != nil {
		return nil, err
	}
	return q.UndecidedOf(ctx, all)
}

// UndecidedOf is Undecided for who has listed all results already, which it leaves
// as they are.
func (q *Queue) UndecidedOf(ctx context.Context, all []Result) (open []Result, err error) {
	own := func(r Result) bool { return r.Worktree == q.repo.Key() }
	undone := func(r Result) bool { return own(r) && r.State == Undone }
	var pending plumbing.Hash
	if slices.ContainsFunc(all, undone) {
		name, _ := q.pendingRefs()
		if pending, err = q.repo.Ref(ctx, name); err != nil {
			return nil, err
		}
	}
	for _, r := range all {
		if own(r) && r.open() || undone(r) && r.Commit == pending {
			open = append(open, r)
		}
	}
	return open, nil
}
