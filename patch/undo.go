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
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// UndoOptions says how to undo.
type UndoOptions struct {
	DryRun bool   // compute everything, write nothing
	ID     string // undo the newest apply of this result; "" is the newest of all
}

// EditedError says that files were edited after they were applied. Nothing was
// touched.
type EditedError struct {
	ID    string
	Paths []string
}

// Error counts them; paths are for the caller to show.
func (e *EditedError) Error() string {
	return fmt.Sprintf("%d files were edited since %s was applied, first %s", len(e.Paths), e.ID, quoted(e.Paths[0]))
}

// CommittedError says that what was applied has been committed since, so that
// reverting the commit is the way back.
type CommittedError struct {
	ID     string
	Commit plumbing.Hash // the newest one that touched the files
}

// Error names the commit.
func (e *CommittedError) Error() string {
	return fmt.Sprintf("%s was committed as %s since it was applied", e.ID, e.Commit)
}

// Undo takes back an apply of this work tree: each file gets its raw bytes,
// permission bits and time back, but for those that are already as before the
// apply. It first finishes what a crash left.
// Errors: ErrNothing, *EditedError, *CommittedError, *InterruptedError.
func (q *Queue) Undo(ctx context.Context, o UndoOptions) (Applied, error) {
	unlock, err := q.lock(ctx)
	if err != nil {
		return Applied{}, err
	}
	defer unlock()
	if _, err := q.recover(ctx); err != nil {
		return Applied{}, err
	}
	r, n, err := q.newestApply(o.ID)
	if err != nil {
		return Applied{}, err
	}
	if n == 0 {
		return Applied{}, ErrNothing
	}
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	d, err := openDisk(q.repo.Dir)
	if err != nil {
		return Applied{}, err
	}
	defer d.Close()
	u := &undo{q: q, objs: objs, disk: d, r: r}
	if err := u.check(ctx); err != nil {
		return Applied{}, err
	}
	if !o.DryRun {
		if err := u.run(ctx); err != nil {
			return Applied{}, fmt.Errorf("undo %s: %w", r.ID, err)
		}
	}
	return u.report(o)
}

type undo struct {
	q    *Queue
	objs *git.Objects
	disk *disk
	r    appliedRecord
	todo []step // those whose file is not as before the apply
}

func (u *undo) check(ctx context.Context) error {
	if err := u.committed(ctx); err != nil {
		return err
	}
	edited := &EditedError{ID: u.r.ID}
	for _, st := range u.r.Steps {
		now, err := u.disk.sum(string(st.Path))
		if err != nil {
			return err
		}
		switch {
		case now.same(st.New):
			u.todo = append(u.todo, st)
		case !now.same(st.Old):
			edited.Paths = append(edited.Paths, string(st.Path))
		}
	}
	if len(edited.Paths) > 0 {
		return edited
	}
	return nil
}

// committed returns a *CommittedError where HEAD moved and has all that was
// applied.
func (u *undo) committed(ctx context.Context) error {
	head, err := u.q.repo.Ref(ctx, "HEAD")
	if err != nil || head.IsZero() || head == hashOf(u.r.Head) {
		return err
	}
	c, err := u.objs.Commit(head)
	if err != nil {
		return err
	}
	tree := newView(u.objs, c.TreeHash)
	paths := "--\n"
	for _, st := range u.r.Steps {
		e, err := tree.lookup(string(st.Path))
		if err != nil || entryOf(e) != st.Clean {
			return err
		}
		if !strings.Contains(string(st.Path), "\n") {
			paths += string(st.Path) + "\n"
		}
	}
	return u.blame(ctx, paths)
}

// blame returns a *CommittedError with the newest commit since the apply that
// touched one of the paths, nil where none did.
func (u *undo) blame(ctx context.Context, paths string) error {
	revs := "HEAD\n"
	if !hashOf(u.r.Head).IsZero() {
		revs += "^" + u.r.Head + "\n"
	}
	out, err := u.q.repo.Output(ctx, git.Call{
		Args: []string{"rev-list", "-1", "--stdin"}, Stdin: strings.NewReader(revs + paths),
	})
	if err != nil {
		return fmt.Errorf("find the commit of %s: %w", u.r.ID, err)
	}
	if commit := plumbing.NewHash(strings.TrimSpace(string(out))); !commit.IsZero() {
		return &CommittedError{ID: u.r.ID, Commit: commit}
	}
	return nil
}

// run stages the saved bytes and carries the inverse of the apply out.
func (u *undo) run(ctx context.Context) error {
	j := (&journal{What: "apply", ID: u.r.ID, Record: u.r, Steps: u.todo}).inverse()
	for _, st := range u.todo {
		// A rollback of this undo needs what is there now.
		_, raw, err := u.disk.read(string(st.Path))
		if err != nil {
			return err
		}
		if st.New.Kind != "" && st.New.Hash != st.Clean.Hash {
			if _, err := u.objs.WriteBlob(raw); err != nil {
				return err
			}
		}
	}
	j.Times = u.times()
	s, err := u.q.openStage(u.disk)
	if err != nil {
		return err
	}
	defer s.Close()
	j.Stage = s.dir
	if err := (blobStage{u.disk, u.objs, s, "undo-"}).put(j.Steps); err != nil {
		return err
	}
	return u.q.execute(ctx, u.disk, j)
}

// times lists the folders that still have the time that the apply gave them, or
// that it removed: they get their own back.
func (u *undo) times() []folderTime {
	var times []folderTime
	for _, t := range u.r.Dirs {
		fi, err := u.disk.lstat(string(t.Path))
		is := err == nil && fi.IsDir()
		if t.After == 0 && !is || is && fi.ModTime().UnixNano() == t.After {
			times = append(times, t)
		}
	}
	return times
}

func (u *undo) report(o UndoOptions) (Applied, error) {
	done := Applied{ID: u.r.ID, DryRun: o.DryRun, Commit: hashOf(u.r.Applied)}
	for _, st := range u.r.Steps {
		kind := Modified
		switch {
		case st.Old.Kind == "":
			kind = Deleted
		case st.New.Kind == "":
			kind = Added
		case st.Old.Kind != st.New.Kind:
			kind = Type
		}
		done.Files = append(done.Files, Written{Path: string(st.Path), Change: kind})
	}
	if u.r.Restore {
		done.Result.ID = u.r.ID
		return done, nil
	}
	var err error
	done.Result, err = u.q.readRecord(u.r.ID)
	if err != nil {
		return done, err
	}
	err = complete(u.objs, &done.Result)
	done.Left = done.Result.Left
	return done, err
}

// finishUndo forgets the apply: its record, its ref and the result's state.
func (q *Queue) finishUndo(ctx context.Context, _ *disk, r *appliedRecord) error {
	if err := q.undecide(ctx, r); err != nil {
		return err
	}
	if err := q.moveApplied(ctx, *r); err != nil {
		return err
	}
	return removeFile(q.repo.Path(filepath.FromSlash(q.appliedName(r.N))))
}

// undecide takes the decision back that an apply was; the restore of a snapshot
// was none.
func (q *Queue) undecide(ctx context.Context, r *appliedRecord) error {
	if r.Restore {
		return nil
	}
	res, err := q.readRecord(r.ID)
	if err != nil {
		return err
	}
	if res.Base != hashOf(r.Base) {
		return nil // a follow-up has put it on another snapshot since
	}
	return q.forgetApply(ctx, res, hashOf(r.HaveBefore))
}

// forgetApply sets back what of a result counts as applied.
func (q *Queue) forgetApply(ctx context.Context, r Result, have plumbing.Hash) error {
	r.Have, r.State, r.Decided = have, Undone, q.now()
	if have != r.BaseTree {
		r.State = Partial
	}
	if err := q.writeRecord(r); err != nil {
		return err
	}
	return q.restorePending(ctx, r)
}

func (q *Queue) appliedName(n int) string {
	return path.Join("applied", q.repo.Key(), strconv.Itoa(n)+".json")
}

// newestApply reads the record of the newest apply that was not undone, of one
// result where id is not empty; n is 0 where there is none.
func (q *Queue) newestApply(id string) (r appliedRecord, n int, err error) {
	files, err := os.ReadDir(q.repo.Path("applied", q.repo.Key()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, 0, err
	}
	var numbers []int
	for _, f := range files {
		if i, err := strconv.Atoi(strings.TrimSuffix(f.Name(), ".json")); err == nil {
			numbers = append(numbers, i)
		}
	}
	slices.Sort(numbers)
	for _, n := range slices.Backward(numbers) {
		data, err := q.repo.ReadState(q.appliedName(n))
		if err != nil {
			return r, 0, err
		}
		r = appliedRecord{}
		if err := json.Unmarshal(data, &r); err != nil || id == "" || r.ID == id {
			return r, n, err
		}
	}
	return r, 0, nil
}
