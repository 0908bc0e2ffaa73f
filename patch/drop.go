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
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// ErrKept says that a result must not be dropped: it is undecided, foreign, or
// was decided, applied or undone too lately.
var ErrKept = errors.New("result is kept")

// DropOptions says what is old enough to be dropped.
type DropOptions struct {
	Before time.Time // what was decided, applied or undone since then stays
	DryRun bool      // drop nothing, only say what would be freed
}

// Standing divides the results of all work trees, foreign ones aside, into those
// that wait for a decision (undecided, partial, or undone and pending again) and
// those whose decision stands; each newest first.
func (q *Queue) Standing(ctx context.Context) (open, settled []Result, err error) {
	all, err := q.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	pending, err := q.pendingAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		switch {
		case r.State == Foreign:
		case r.waits(pending):
			open = append(open, r)
		default:
			settled = append(settled, r)
		}
	}
	return open, settled, nil
}

// waits reports whether a result waits for a decision; shown are the pending refs
// of all work trees.
func (r Result) waits(shown []pendingRef) bool {
	return r.open() || r.State == Undone && slices.ContainsFunc(shown, func(p pendingRef) bool { return p.at == r.Commit })
}

// pendingRef is the pending ref of a work tree.
type pendingRef struct {
	repo *git.Repo // of the work tree
	name string
	at   plumbing.Hash
}

// pendingAll reads the pending refs of all work trees that have one.
func (q *Queue) pendingAll(ctx context.Context) ([]pendingRef, error) {
	linked, err := q.repo.LinkedTrees()
	if err != nil {
		return nil, err
	}
	all := []pendingRef{{repo: q.repo, name: "refs/ftl/pending"}}
	for _, tree := range linked {
		all = append(all, pendingRef{repo: tree, name: "refs/worktree/ftl/pending"})
	}
	for i := range all {
		if all[i].at, err = all[i].repo.Ref(ctx, all[i].name); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(p pendingRef) bool { return p.at.IsZero() }), nil
}

// Drop forgets all that carries the ID of a result, or of a snapshot without
// one: what undo needs, the refs but for the snapshot's, the note and the record,
// in this order, so that after a kill at any point nothing is foreign and another
// Drop goes on. It returns the bytes of the files that it frees. Errors: ErrKept.
func (q *Queue) Drop(ctx context.Context, id string, o DropOptions) (freed int64, err error) {
	if !idPattern.MatchString(id) {
		return 0, fmt.Errorf("drop %q: %w", id, ErrUnknown)
	}
	unlock, err := q.Freeze(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	d := &drop{q: q, id: id, o: o}
	for _, step := range []func(context.Context) error{d.findApplies, d.findResult} {
		if err := step(ctx); err != nil {
			return 0, fmt.Errorf("drop %s: %w", id, err)
		}
	}
	if o.DryRun {
		return d.bytes(), nil
	}
	freed = d.bytes()
	if err := d.run(ctx); err != nil {
		return 0, fmt.Errorf("drop %s: %w", id, err)
	}
	return freed, nil
}

// Freeze keeps every apply, undo, decision and new result of all work trees waiting
// until it is undone.
func (q *Queue) Freeze(ctx context.Context) (unlock func(), err error) {
	trees, err := q.lockAll(ctx)
	if err != nil {
		return nil, err
	}
	records, err := q.lockRecords(ctx)
	if err != nil {
		trees()
		return nil, err
	}
	return func() { records(); trees() }, nil
}

// lockAll takes the locks of all work trees, also of those that are gone and have
// applied something, in the order of their names, so that no two callers wait for
// each other.
func (q *Queue) lockAll(ctx context.Context) (unlock func(), err error) {
	keys := []string{"main", q.repo.Key()}
	linked, err := q.repo.LinkedTrees()
	if err != nil {
		return nil, err
	}
	for _, tree := range linked {
		keys = append(keys, tree.Key())
	}
	for _, pattern := range []string{"applied/*", "journal/*.json"} {
		found, err := git.Glob(q.repo.State, filepath.FromSlash(pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			keys = append(keys, strings.TrimSuffix(filepath.Base(name), ".json"))
		}
	}
	slices.Sort(keys)
	var held []func()
	unlock = func() {
		for _, f := range held {
			f()
		}
	}
	for _, key := range slices.Compact(keys) {
		one, err := q.repo.Lock(ctx, "worktree-"+key)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, one)
	}
	return unlock, nil
}

// drop is one Drop on its way.
type drop struct {
	q       *Queue
	id      string
	o       DropOptions
	files   []string // undo records, full paths
	commit  plumbing.Hash
	pending []pendingRef
}

// findApplies finds the undo records of the ID, in every work tree.
func (d *drop) findApplies(context.Context) error {
	journals, err := git.Glob(d.q.repo.State, "journal", "*.json")
	if err != nil {
		return err
	}
	for _, name := range journals {
		var j journal
		if err := readJSON(name, &j); err != nil || j.ID == d.id {
			return errors.Join(err, ErrKept) // cut off: its work tree's next command finishes it
		}
	}
	records, err := git.Glob(d.q.repo.State, "applied", "*", "*.json")
	if err != nil {
		return err
	}
	for _, name := range records {
		var r appliedRecord
		if err := readJSON(name, &r); err != nil {
			return err
		}
		switch {
		case r.ID != d.id:
		case !r.When.Before(d.o.Before):
			return ErrKept
		default:
			d.files = append(d.files, name)
		}
	}
	return nil
}

func readJSON(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(name), err)
	}
	return nil
}

// findResult looks at the result, if there is one, and whether it may go.
func (d *drop) findResult(ctx context.Context) (err error) {
	if d.commit, err = d.q.repo.Ref(ctx, resultRefs+d.id); err != nil || d.commit.IsZero() {
		return err
	}
	objs := d.q.repo.Objects(ctx)
	defer objs.Close()
	r, err := d.q.load(ctx, objs, d.id, d.commit)
	if err != nil {
		return err
	}
	if d.pending, err = d.q.pendingAll(ctx); err != nil {
		return err
	}
	if r.State == Foreign || r.waits(d.pending) || !r.Decided.Before(d.o.Before) {
		return ErrKept
	}
	return nil
}

func (d *drop) record() string { return d.q.repo.Path(filepath.FromSlash(recordName(d.id))) }

func (d *drop) bytes() (n int64) {
	for _, name := range append(d.files, d.record()) {
		if info, err := os.Lstat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}

func (d *drop) run(ctx context.Context) error {
	for _, name := range d.files {
		if err := removeFile(name); err != nil {
			return err
		}
	}
	if err := d.q.step("dropped undo"); err != nil {
		return err
	}
	if err := d.dropRefs(ctx); err != nil {
		return err
	}
	if err := d.q.step("dropped refs"); err != nil {
		return err
	}
	if s, err := d.q.readStored(recordName(d.id)); err == nil {
		if err := d.q.unnote(ctx, s.Result.Commit); err != nil {
			return err
		}
	}
	next := d.q.repo.Path(filepath.FromSlash(nextName(d.id)))
	return errors.Join(removeFile(next), removeFile(d.record()))
}

func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// dropRefs deletes the refs of the ID, and pending refs that still show an
// applied result for comparison.
func (d *drop) dropRefs(ctx context.Context) error {
	var updates []git.RefUpdate
	if !d.commit.IsZero() {
		updates = append(updates, git.RefUpdate{Name: resultRefs + d.id, Old: d.commit})
	}
	for _, p := range d.pending {
		if p.at != d.commit {
			continue
		}
		both := []git.RefUpdate{{Name: p.name, Old: p.at}, {Name: path.Dir(p.name) + "/base", Any: true}}
		if err := p.repo.UpdateRefs(ctx, "", both...); err != nil {
			return err
		}
	}
	if at, err := d.q.repo.Ref(ctx, appliedRefs+d.id); err != nil {
		return err
	} else if !at.IsZero() {
		updates = append(updates, git.RefUpdate{Name: appliedRefs + d.id, Old: at})
	}
	if len(updates) == 0 {
		return nil
	}
	return d.q.repo.UpdateRefs(ctx, "", updates...)
}

// unnote takes the note of a commit away, and the notes with the last one.
func (q *Queue) unnote(ctx context.Context, commit plumbing.Hash) error {
	unlock, err := q.repo.Lock(ctx, "notes")
	if err != nil {
		return err
	}
	defer unlock()
	old, err := q.repo.Ref(ctx, notesRef)
	if err != nil || old.IsZero() {
		return err
	}
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	c, err := objs.Commit(old)
	if err != nil {
		return fmt.Errorf("remove note: %w", err)
	}
	name := commit.String()
	left, err := objs.Rewrite(c.TreeHash, []git.Change{{Path: name}, {Path: name[:2] + "/" + name[2:]}})
	if err != nil || left == c.TreeHash {
		return err
	}
	update := git.RefUpdate{Name: notesRef, Old: old}
	if left != plumbing.ComputeHash(plumbing.TreeObject, nil) {
		who := q.signature(q.now())
		update.New, err = objs.WriteCommit(&object.Commit{Author: who, Committer: who, TreeHash: left, Message: c.Message})
		if err != nil {
			return fmt.Errorf("remove note: %w", err)
		}
	}
	return q.repo.UpdateRefs(ctx, "git-ftl: note", update)
}
