// Package snapshot turns a work tree into a commit on a hidden ref, and a tree
// into a folder that a sandbox can read.
//
// Staging is git's own, in a private index that lives in the state folder: the
// result is what "git add -A && git write-tree" would give, less the files that
// have to stay outside a sandbox. These are left out before any byte of them
// enters the object store, and each is named. The user's index, HEAD, refs
// outside refs/ftl and files are never written.
package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// ErrUnknown says that there is no snapshot of that ID.
var ErrUnknown = errors.New("no such snapshot")

// refs is where snapshots are kept; indexRefs keeps the objects of each private
// index from being pruned, stagedRefs those of a tree that was only staged.
const (
	refs       = "refs/ftl/snapshots/"
	indexRefs  = "refs/ftl/index/"
	stagedRefs = "refs/ftl/staged/"
)

// Store takes snapshots of one work tree. It is safe for concurrent use, also
// by several processes: one stages at a time.
type Store struct{ repo *git.Repo }

// New returns the store of a work tree.
func New(repo *git.Repo) *Store { return &Store{repo: repo} }

// Options say how to stage.
type Options struct {
	ID      string    // of the snapshot; "" picks a free one
	MaxFile int64     // bytes; larger untracked files are left out; 0 is 50 MB
	Now     time.Time // commit date; zero is the current time
	Include bool      // obey .ftlinclude in every folder, which only the user may choose
	Lines   string    // of an .ftlinclude at the top that the user has trusted, where Include is false
	Replace bool      // the snapshot takes the place of an earlier one of this ID
	LFS     bool      // export the content of LFS pointers where it is on this machine

	// Scan gives what looks into each file that would be taken, once it is known what
	// is left out by its name. It may be called again for the same snapshot. Where it
	// is nil, what the last scanner left out stays outside.
	Scan func(left []LeftOut) (Scanner, error)

	Fetching func(objects int, remote string) // called before a partial clone fetches what it lacks; nil for nothing

	started func() // called once git looks at the work tree
}

// LeftOut is a file that stayed out of a snapshot.
type LeftOut struct {
	Path string `json:"path"` // slashes, raw bytes; JSON replaces what is no UTF-8
	Why  string `json:"why"`  // a short sentence for people
}

// Staged is the work tree as it is now, in the object store.
type Staged struct {
	Tree    plumbing.Hash
	Head    plumbing.Hash // zero when unborn
	Branch  string        // short name, "" when detached
	Dirty   int           // paths that differ from HEAD, untracked ones included, left-out ones not
	LeftOut []LeftOut     // sorted by path

	LFS      bool // Options.LFS, where attributes name the LFS filter at all
	Pointers int  // LFS pointers that an export shows as such
}

// Snapshot is a staged tree as a commit on refs/ftl/snapshots/ID.
type Snapshot struct {
	ID      string
	Commit  plumbing.Hash
	Tree    plumbing.Hash
	Parent  plumbing.Hash // HEAD at that time, zero when unborn
	Branch  string        // short name, "" when detached
	Dirty   int
	LeftOut []LeftOut

	Hide     func(string) string // changes what an export tells of HEAD's message; nil is nothing
	LFS      bool                // an export shows the content of LFS pointers that is on this machine
	Pointers int                 // LFS pointers that it shows as such
	Named    []string            // by Take alone: tracked files named like credentials that no snapshot before has named
}

// Stage brings the work tree into the object store. A ref of the private index
// keeps its tree until the next call. Errors: ErrNoSpace, ErrNotFetched.
func (s *Store) Stage(ctx context.Context, o Options) (Staged, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return Staged{}, err
	}
	defer unlock()
	st, err := s.stage(ctx, o)
	if err != nil {
		return Staged{}, err
	}
	if st.tree != st.index.mem.Tree {
		keep := s.indexRef(st.tree)
		if st.before != nil {
			keep = s.stagedRef(st.tree)
		}
		if err := s.repo.UpdateRefs(ctx, "", keep); err != nil {
			return Staged{}, fmt.Errorf("keep staged tree: %w", err)
		}
	}
	return st.staged(), st.save()
}

// Take stages and makes the snapshot. Errors: git.ErrMoved where o.ID is taken,
// ErrNoSpace, ErrNotFetched.
func (s *Store) Take(ctx context.Context, o Options) (Snapshot, error) {
	if err := room(s.repo, 0); err != nil {
		return Snapshot{}, fmt.Errorf("take snapshot: %w", err)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	defer unlock()
	var starting sync.WaitGroup
	var tx *git.RefTransaction // started beside the status, not before it: each start takes as long as a small status
	o.started = sync.OnceFunc(func() {
		starting.Go(func() { tx, _ = s.repo.StartRefs(ctx, "") })
	})
	st, err := s.stage(ctx, o)
	starting.Wait()
	if tx != nil {
		defer tx.Abort()
	}
	if err != nil {
		return Snapshot{}, err
	}
	snap, err := s.commit(ctx, st, o, tx)
	if err != nil && !errors.Is(err, git.ErrMoved) && st.cached && ctx.Err() == nil {
		// The tree of an earlier call, taken on trust, was pruned.
		if st, err = s.restage(ctx, o); err == nil {
			snap, err = s.commit(ctx, st, o, nil)
		}
	}
	if err != nil {
		return Snapshot{}, err
	}
	snap.Named = st.tell()
	return snap, st.save()
}

func (s *Store) lock(ctx context.Context) (func(), error) {
	return s.repo.Lock(ctx, "index-"+s.repo.Key())
}

// Sweep removes what a killed call left of the private index: its lock and scratch
// files. Where a call is under way it does nothing; where there is nothing it costs
// a look at each name.
func (s *Store) Sweep() error {
	path := s.repo.Path("index", s.repo.Key())
	left := slices.DeleteFunc([]string{
		path + ".lock", path + ".quick", path + ".quick.lock", path + ".scratch", path + ".scratch.lock",
	}, func(name string) bool {
		_, err := os.Lstat(name)
		return err != nil
	})
	if len(left) == 0 {
		return nil
	}
	unlock, held, err := s.repo.TryLock("index-" + s.repo.Key())
	if err != nil || !held {
		return err
	}
	defer unlock()
	var failed error
	for _, name := range left {
		failed = errors.Join(failed, remove(name))
	}
	return failed
}

func (s *Store) indexRef(tree plumbing.Hash) git.RefUpdate {
	return git.RefUpdate{Name: indexRefs + s.repo.Key(), New: tree, Any: true}
}

// commit tries IDs until one is free: the move of the ref is the only look-up
// that cannot be outrun. tx may be nil.
func (s *Store) commit(ctx context.Context, st *staging, o Options, tx *git.RefTransaction) (Snapshot, error) {
	staged := st.staged()
	objects := s.repo.Objects(ctx)
	defer func() { _ = objects.Close() }()
	taken := map[string]bool{}
	for {
		id := o.ID
		if id == "" {
			var err error
			if id, err = NewID(func(id string) bool { return taken[id] }); err != nil {
				return Snapshot{}, err
			}
		}
		snap := Snapshot{ID: id, Tree: staged.Tree, Parent: staged.Head, Branch: staged.Branch, Dirty: staged.Dirty, LeftOut: staged.LeftOut,
			LFS: staged.LFS, Pointers: staged.Pointers}
		var err error
		if snap.Commit, err = objects.WriteCommit(snap.encode(o.Now)); err != nil {
			return Snapshot{}, fmt.Errorf("write snapshot %s: %w", id, err)
		}
		if err = s.keep(ctx, st, git.RefUpdate{Name: refs + id, New: snap.Commit, Any: o.Replace}, tx); err == nil {
			return snap, nil
		}
		if o.ID != "" || !errors.Is(err, git.ErrMoved) || len(taken) > 1000 {
			return Snapshot{}, fmt.Errorf("keep snapshot %s: %w", id, err)
		}
		taken[id], tx = true, nil
	}
}

// keep moves the ref of a snapshot, and that of the index it came from.
func (s *Store) keep(ctx context.Context, st *staging, move git.RefUpdate, tx *git.RefTransaction) (err error) {
	updates := []git.RefUpdate{move}
	if st.before == nil {
		updates = append(updates, s.indexRef(st.tree))
	}
	if tx == nil {
		return s.repo.UpdateRefs(ctx, "", updates...)
	}
	return tx.Commit(updates...)
}

// Trailers of a snapshot's message.
const (
	branchTrailer = "Ftl-Branch: "
	dirtyTrailer  = "Ftl-Dirty: "
	leftTrailer   = "Ftl-Left-Out: "
	lfsTrailer    = "Ftl-LFS: " // "content" or "pointers", and how many pointers stay
)

// maxLeft bounds how many left-out files a message names.
const maxLeft = 10000

func (s Snapshot) encode(now time.Time) *object.Commit {
	if now.IsZero() {
		now = time.Now()
	}
	var msg strings.Builder
	fmt.Fprintf(&msg, "git-ftl snapshot %s\n\n", s.ID)
	if s.Branch != "" {
		fmt.Fprintf(&msg, "%s%s\n", branchTrailer, s.Branch)
	}
	fmt.Fprintf(&msg, "%s%d\n", dirtyTrailer, s.Dirty)
	if s.LFS {
		fmt.Fprintf(&msg, "%scontent %d\n", lfsTrailer, s.Pointers)
	} else if s.Pointers > 0 {
		fmt.Fprintf(&msg, "%spointers %d\n", lfsTrailer, s.Pointers)
	}
	for _, l := range s.LeftOut[:min(len(s.LeftOut), maxLeft)] {
		line, _ := json.Marshal(l) // two strings: cannot fail
		fmt.Fprintf(&msg, "%s%s\n", leftTrailer, line)
	}
	who := object.Signature{Name: "git-ftl", Email: git.Email, When: now}
	c := &object.Commit{Author: who, Committer: who, Message: msg.String(), TreeHash: s.Tree}
	if !s.Parent.IsZero() {
		c.ParentHashes = []plumbing.Hash{s.Parent}
	}
	return c
}

// Load reads a snapshot. Its branch, dirty count and left-out files are from the
// commit's message, so they are for display only. Errors: ErrUnknown.
func (s *Store) Load(ctx context.Context, id string) (Snapshot, error) {
	if !validID(id) {
		return Snapshot{}, fmt.Errorf("snapshot %q: %w", id, ErrUnknown)
	}
	h, err := s.repo.Ref(ctx, refs+id)
	if err != nil {
		return Snapshot{}, fmt.Errorf("load snapshot %s: %w", id, err)
	}
	if h.IsZero() {
		return Snapshot{}, fmt.Errorf("snapshot %s: %w", id, ErrUnknown)
	}
	return s.At(ctx, id, h)
}

// At is Load for a commit that the ref may have left since, as that of a result
// does when the task goes on from another tree.
func (s *Store) At(ctx context.Context, id string, commit plumbing.Hash) (Snapshot, error) {
	objects := s.repo.Objects(ctx)
	defer func() { _ = objects.Close() }()
	snap, _, err := read(objects, id, commit)
	if err != nil {
		return Snapshot{}, fmt.Errorf("load snapshot %s: %w", id, err)
	}
	return snap, nil
}

func (s *Snapshot) decode(message string) {
	for line := range strings.Lines(message) {
		line = strings.TrimSuffix(line, "\n")
		if v, ok := strings.CutPrefix(line, branchTrailer); ok {
			s.Branch = v
		}
		if v, ok := strings.CutPrefix(line, dirtyTrailer); ok {
			s.Dirty, _ = strconv.Atoi(v)
		}
		if v, ok := strings.CutPrefix(line, lfsTrailer); ok {
			what, count, _ := strings.Cut(v, " ")
			s.LFS = what == "content"
			s.Pointers, _ = strconv.Atoi(count)
		}
		if v, ok := strings.CutPrefix(line, leftTrailer); ok {
			var l LeftOut
			if json.Unmarshal([]byte(v), &l) == nil {
				s.LeftOut = append(s.LeftOut, l)
			}
		}
	}
}
