package patch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// stored is the record of a result. Paths are raw bytes, in base64, and hashes
// hex.
type stored struct {
	Result
	Commit, Tree, Base, BaseTree, Have string
	Files                              []storedFile
	Taken                              [][]byte `json:",omitempty"` // of a record without Have: the paths that were applied
}

type storedFile struct {
	FileStat
	Path []byte
}

func recordName(id string) string { return path.Join("results", id+".json") }

// nextName is the record of a commit that the result's ref is about to move to.
func nextName(id string) string { return path.Join("results", id+".next.json") }

func (q *Queue) writeRecord(r Result) error { return q.writeRecordAs(recordName(r.ID), r) }

func (q *Queue) writeRecordAs(name string, r Result) error {
	s := stored{
		Result: r,
		Commit: r.Commit.String(), Tree: r.Tree.String(), Base: r.Base.String(), BaseTree: r.BaseTree.String(),
		Have: r.Have.String(),
	}
	for _, f := range r.Files {
		s.Files = append(s.Files, storedFile{f, []byte(f.Path)})
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return q.repo.WriteState(name, data)
}

// readRecord reads a result's record, all but Left: that of the commit at its ref,
// where there is one. errors.Is(err, fs.ErrNotExist) where there is none.
func (q *Queue) readRecord(ctx context.Context, id string) (Result, error) {
	at, err := q.repo.Ref(ctx, resultRefs+id)
	if err != nil {
		return Result{}, err
	}
	s, err := q.readStored(recordName(id))
	if err == nil && s.Result.Commit != at {
		if next, known, err := q.recordOf(nextName(id), id, at); known || err != nil {
			return next.Result, err
		}
	}
	return s.Result, err
}

// revise changes the record of a result. No other process, of another work tree
// either, writes a record meanwhile: it would bring back what this one replaces.
func (q *Queue) revise(ctx context.Context, id string, change func(*Result) error) (r Result, err error) {
	unlock, err := q.lockRecords(ctx)
	if err != nil {
		return r, err
	}
	defer unlock()
	if r, err = q.readRecord(ctx, id); err != nil {
		return r, err
	}
	if err = change(&r); err != nil {
		return r, err
	}
	return r, q.writeRecord(r)
}

// lockRecords is taken within the lock of a work tree, never the other way round.
func (q *Queue) lockRecords(ctx context.Context) (unlock func(), err error) {
	return q.repo.Lock(ctx, "results")
}

func (q *Queue) readStored(name string) (stored, error) {
	var s stored
	data, err := q.repo.ReadState(name)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read record %s: %w", name, err)
	}
	r := &s.Result
	r.Commit, r.Tree = plumbing.NewHash(s.Commit), plumbing.NewHash(s.Tree)
	r.Base, r.BaseTree = plumbing.NewHash(s.Base), plumbing.NewHash(s.BaseTree)
	r.Have, r.Files = plumbing.NewHash(s.Have), nil
	for _, f := range s.Files {
		f.FileStat.Path = string(f.Path)
		r.Files = append(r.Files, f.FileStat)
	}
	return s, nil
}

// adopt makes the record that was written for a ref's move the result's own.
func (q *Queue) adopt(id string) error {
	at := func(name string) string { return q.repo.Path(filepath.FromSlash(name)) }
	return os.Rename(at(nextName(id)), at(recordName(id)))
}

// load reads the record of a ref; a ref that has none, or another commit than
// its record says, is foreign. A ref that moved since it was read is read again.
func (q *Queue) load(ctx context.Context, objs *git.Objects, id string, commit plumbing.Hash) (Result, error) {
	if !idPattern.MatchString(id) {
		return foreign(objs, id, commit), nil
	}
	for {
		r, known, err := q.own(objs, id, commit)
		if known || err != nil {
			return r, err
		}
		if _, err := q.readStored(recordName(id)); errors.Is(err, fs.ErrNotExist) {
			return foreign(objs, id, commit), nil
		}
		now, err := q.repo.Ref(ctx, resultRefs+id)
		if err != nil || now == commit || now.IsZero() {
			return foreign(objs, id, commit), err
		}
		commit = now
	}
}

// own finds the local record of a commit, also where it has not taken its place
// yet, or does so while this looks.
func (q *Queue) own(objs *git.Objects, id string, commit plumbing.Hash) (r Result, known bool, err error) {
	var s stored
	for _, name := range []string{recordName(id), nextName(id), recordName(id)} {
		if s, known, err = q.recordOf(name, id, commit); known || err != nil {
			break
		}
	}
	if !known || err != nil {
		return r, false, err
	}
	if s.Result.Have.IsZero() {
		if s.Result.Have, err = s.taken(objs); err != nil {
			return r, false, err
		}
	}
	return s.Result, true, complete(objs, &s.Result)
}

// recordOf reads a record, if it is there and is that of a result's commit.
func (q *Queue) recordOf(name, id string, commit plumbing.Hash) (s stored, known bool, err error) {
	s, err = q.readStored(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	return s, err == nil && s.Result.ID == id && s.Result.Commit == commit, err
}

// taken derives Have from the paths that a record without it lists.
func (s stored) taken(objs *git.Objects) (plumbing.Hash, error) {
	all, err := objs.Diff(s.Result.BaseTree, s.Result.Tree)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	was := map[string]bool{}
	for _, p := range s.Taken {
		was[string(p)] = true
	}
	var picked []git.Change
	for _, c := range all {
		if was[c.Path] {
			picked = append(picked, c)
		}
	}
	return objs.Rewrite(s.Result.BaseTree, picked)
}

// complete fills in what a record does not hold.
func complete(objs *git.Objects, r *Result) error {
	left, err := remaining(objs, *r)
	r.Left = left
	return err
}

// remaining lists the paths of a result that are not applied yet, all of them
// where the tree that says so was lost with its ref: one such result is no reason
// not to list the others.
func remaining(objs *git.Objects, r Result) ([]string, error) {
	var left []string
	var changes []git.Change
	var err error
	if r.Have != r.BaseTree {
		changes, err = objs.Diff(r.Have, r.Tree)
	}
	if r.Have == r.BaseTree || errors.Is(err, git.ErrMissing) {
		for _, f := range r.Files {
			left = append(left, f.Path)
		}
		return left, nil
	}
	for _, c := range changes {
		left = append(left, c.Path)
	}
	return left, err
}

// foreign describes a result by its commit alone.
func foreign(objs *git.Objects, id string, commit plumbing.Hash) Result {
	r := Result{ID: id, Commit: commit, State: Foreign}
	c, err := objs.Commit(commit)
	if err != nil {
		return r // a forged ref may point to anything
	}
	r.Tree, r.Created, r.Agent = c.TreeHash, c.Committer.When, oneLine(c.Author.Name)
	subject, _, _ := strings.Cut(c.Message, "\n")
	r.Subject = oneLine(subject)
	if len(c.ParentHashes) > 0 {
		r.Base = c.ParentHashes[0]
	}
	return r
}

func rawPaths(paths []string) [][]byte {
	raw := make([][]byte, len(paths))
	for i, p := range paths {
		raw[i] = []byte(p)
	}
	return raw
}
