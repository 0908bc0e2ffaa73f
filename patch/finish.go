package patch

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// finish records what was done and removes the journal. It can run again.
func (q *Queue) finish(ctx context.Context, d *disk, j *journal) error {
	if err := q.step("finish"); err != nil {
		return err
	}
	if err := q.dropStage(); err != nil {
		return err
	}
	d.forget()
	setTimes(d, j.Times)
	var err error
	if j.What == "undo" {
		err = q.finishUndo(ctx, d, j)
	} else {
		err = q.finishApply(ctx, d, &j.Record)
	}
	if err != nil {
		return err
	}
	if err := q.step("finished"); err != nil {
		return err
	}
	return q.dropJournal()
}

func (q *Queue) dropJournal() error {
	err := os.Remove(q.repo.Path(filepath.FromSlash(q.journalName())))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// setTimes gives folders the time that they had, best effort, innermost first.
func setTimes(d *disk, times []folderTime) {
	for _, t := range slices.Backward(times) {
		dir, err := d.folder(string(t.Path))
		if err != nil {
			continue
		}
		if permBits != 0 {
			_ = dir.Chmod(".", t.Perm)
		}
		at := time.Unix(0, t.Before)
		_ = dir.Chtimes(".", at, at)
	}
}

// timeOf is the time of a folder, 0 where there is none.
func timeOf(d *disk, dir string) int64 {
	if fi, err := d.lstat(dir); err == nil && fi.IsDir() {
		return fi.ModTime().UnixNano()
	}
	return 0
}

// finishApply writes the undo record, the result's new state and its refs.
func (q *Queue) finishApply(ctx context.Context, d *disk, r *appliedRecord) error {
	for i := range r.Dirs {
		r.Dirs[i].After = timeOf(d, string(r.Dirs[i].Path))
	}
	if len(r.Steps) > 0 || len(r.Index) > 0 || r.Commit != "" {
		if err := q.writeApplied(r); err != nil {
			return err
		}
	}
	if r.Restore {
		return nil
	}
	res, err := q.revise(ctx, r.ID, func(res *Result) error {
		if res.Base == hashOf(r.Base) { // else a follow-up has gone over to another meanwhile
			res.Have, res.Decided = hashOf(r.HaveAfter), r.When
			res.State = res.judge()
		}
		return nil
	})
	if err != nil || res.State != Whole {
		return err
	}
	return q.settle(ctx, res)
}

// finishUndo forgets the apply, or the part of it that was undone: its record,
// its ref and the result's state.
func (q *Queue) finishUndo(ctx context.Context, d *disk, j *journal) error {
	if err := q.undecide(ctx, j); err != nil {
		return err
	}
	if j.Rest != nil {
		for i, t := range j.Rest.Dirs {
			if t.After >= 0 {
				j.Rest.Dirs[i].After = timeOf(d, string(t.Path))
			}
		}
		return q.writeApplied(j.Rest)
	}
	if err := q.moveApplied(ctx, j.Record); err != nil {
		return err
	}
	return removeFile(q.repo.Path(filepath.FromSlash(q.appliedName(j.Record.N))))
}

// undecide takes the decision back that an apply was; the restore of a snapshot
// was none, and one before a follow-up that went over to another snapshot is over.
func (q *Queue) undecide(ctx context.Context, j *journal) error {
	if j.Record.Restore {
		return nil
	}
	same := false
	res, err := q.revise(ctx, j.Record.ID, func(r *Result) (err error) {
		if same = r.Base == hashOf(j.Record.Base); !same {
			return nil
		}
		have := hashOf(j.Record.HaveBefore)
		if j.Rest != nil {
			have, err = q.giveBack(ctx, *r, j)
		}
		r.forgetApply(have, q.now())
		return err
	})
	if err != nil || !same {
		return err
	}
	return q.restorePending(ctx, res)
}

// forgetApply sets back what of a result counts as applied.
func (r *Result) forgetApply(have plumbing.Hash, now time.Time) {
	r.Have, r.State, r.Decided = have, Undone, now
	if have != r.BaseTree {
		r.State = Partial
	}
}

// giveBack returns what counts as applied of a result once the files of a partial
// undo do no longer, and lets refs/ftl/applied/ID hold it.
func (q *Queue) giveBack(ctx context.Context, r Result, j *journal) (plumbing.Hash, error) {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	changes, err := objs.Diff(hashOf(j.Record.HaveAfter), hashOf(j.Record.HaveBefore))
	if err != nil {
		return r.Have, err
	}
	undone := map[string]bool{}
	for _, st := range j.Record.Steps {
		undone[string(st.Path)] = true
	}
	for _, st := range j.Record.Index {
		undone[string(st.Path)] = true
	}
	for _, st := range j.Rest.Steps {
		undone[string(st.Path)] = false
	}
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return !undone[c.Path] })
	have, err := objs.Rewrite(r.Have, changes)
	if err != nil {
		return have, err
	}
	j.Rest.HaveAfter = have.String()
	j.Rest.Applied, err = q.holdHave(ctx, objs, r, have)
	return have, err
}

// holdHave adds a tree to what refs/ftl/applied/ID keeps, and returns where the
// ref is then.
func (q *Queue) holdHave(ctx context.Context, objs *git.Objects, r Result, have plumbing.Hash) (string, error) {
	ref := appliedRefs + r.ID
	now, err := q.repo.Ref(ctx, ref)
	if err != nil || now.IsZero() {
		return now.String(), err
	}
	c, err := objs.Commit(now)
	if err != nil {
		return now.String(), err
	}
	for _, parent := range c.ParentHashes {
		if p, err := objs.Commit(parent); err == nil && p.TreeHash == have {
			return now.String(), nil
		}
	}
	keeps, err := (&apply{q: q, objs: objs, r: r}).wrap(have)
	if err != nil {
		return now.String(), err
	}
	c.ParentHashes = append(c.ParentHashes, keeps)
	next, err := objs.WriteCommit(c)
	if err == nil {
		err = objs.Flush()
	}
	if err != nil {
		return now.String(), err
	}
	return next.String(), q.repo.UpdateRefs(ctx, "git-ftl: undo "+r.ID, git.RefUpdate{Name: ref, New: next, Old: now})
}

func (q *Queue) writeApplied(r *appliedRecord) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return q.repo.WriteState(q.appliedName(r.N), data)
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
