package patch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
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
	Files          []FileStat    // none when foreign
	State          State
	Taken          []string // paths that were applied, all of Files when State is Whole
	Worktree       string   // key of the work tree that the task started from
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

// stored is the record of a result. Paths are raw bytes, in base64, and hashes
// hex.
type stored struct {
	Result
	Commit, Tree, Base, BaseTree string
	Files                        []storedFile
	Taken                        [][]byte
}

type storedFile struct {
	FileStat
	Path []byte
}

func recordName(id string) string { return path.Join("results", id+".json") }

func (q *Queue) writeRecord(r Result) error {
	s := stored{
		Result: r,
		Commit: r.Commit.String(), Tree: r.Tree.String(), Base: r.Base.String(), BaseTree: r.BaseTree.String(),
		Taken: rawPaths(r.Taken),
	}
	for _, f := range r.Files {
		s.Files = append(s.Files, storedFile{f, []byte(f.Path)})
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return q.repo.WriteState(recordName(r.ID), data)
}

// readRecord reads a result's record; errors.Is(err, fs.ErrNotExist) where
// there is none.
func (q *Queue) readRecord(id string) (Result, error) {
	data, err := q.repo.ReadState(recordName(id))
	if err != nil {
		return Result{}, err
	}
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return Result{}, fmt.Errorf("read record of %s: %w", id, err)
	}
	r := s.Result
	r.Commit, r.Tree = plumbing.NewHash(s.Commit), plumbing.NewHash(s.Tree)
	r.Base, r.BaseTree = plumbing.NewHash(s.Base), plumbing.NewHash(s.BaseTree)
	r.Taken = textPaths(s.Taken)
	r.Files = nil
	for _, f := range s.Files {
		f.FileStat.Path = string(f.Path)
		r.Files = append(r.Files, f.FileStat)
	}
	return r, nil
}

func rawPaths(paths []string) [][]byte {
	raw := make([][]byte, len(paths))
	for i, p := range paths {
		raw[i] = []byte(p)
	}
	return raw
}

func textPaths(raw [][]byte) []string {
	var paths []string
	for _, p := range raw {
		paths = append(paths, string(p))
	}
	return paths
}

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
		r, err := q.load(objs, strings.TrimPrefix(name, resultRefs), commit)
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

// load reads the record of a ref; a ref that has none, or another commit than
// its record says, is foreign.
func (q *Queue) load(objs *git.Objects, id string, commit plumbing.Hash) (Result, error) {
	if idPattern.MatchString(id) {
		r, err := q.readRecord(id)
		if err == nil && r.Commit == commit && r.ID == id {
			return r, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Result{}, err
		}
	}
	r := Result{ID: id, Commit: commit, State: Foreign}
	c, err := objs.Commit(commit)
	if err != nil {
		return r, nil // a forged ref may point to anything
	}
	r.Tree, r.Created, r.Agent = c.TreeHash, c.Committer.When, oneLine(c.Author.Name)
	subject, _, _ := strings.Cut(c.Message, "\n")
	r.Subject = oneLine(subject)
	if len(c.ParentHashes) > 0 {
		r.Base = c.ParentHashes[0]
	}
	return r, nil
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
	name, _ := q.pendingRefs()
	pending, err := q.repo.Ref(ctx, name)
	return slices.DeleteFunc(all, func(r Result) bool {
		return r.Worktree != q.repo.Key() || !r.open() && (r.State != Undone || r.Commit != pending)
	}), err
}
