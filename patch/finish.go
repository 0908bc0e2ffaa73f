package patch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
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
	res, err := q.readRecord(r.ID)
	if err != nil {
		return err
	}
	if res.Base != hashOf(r.Base) {
		return nil // a follow-up has gone over to another base meanwhile
	}
	res.Have, res.Decided = hashOf(r.HaveAfter), r.When
	res.State = res.judge()
	if err := q.writeRecord(res); err != nil {
		return err
	}
	if res.State != Whole {
		return nil
	}
	return q.settle(ctx, res)
}
