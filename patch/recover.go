package patch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// InterruptedError says that an apply or undo was interrupted and cannot be
// finished or taken back by itself, since files were changed after it. Once
// they are as they were before or after it, any command goes on.
type InterruptedError struct {
	What  string // apply or undo
	ID    string
	Paths []string
	Saved []plumbing.Hash // blobs of the raw bytes that the paths had before, zero where there was no file
}

// Error names the first file.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("the interrupted %s of %s cannot go on: %d files were changed since, first %s",
		e.What, e.ID, len(e.Paths), quoted(e.Paths[0]))
}

// Recover finishes or takes back an apply or undo that a crash interrupted, and
// says which; "" where there was none. Errors: *InterruptedError.
func (q *Queue) Recover(ctx context.Context) (string, error) {
	unlock, err := q.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	return q.recover(ctx)
}

func (q *Queue) recover(ctx context.Context) (string, error) {
	data, err := q.repo.ReadState(q.journalName())
	if errors.Is(err, fs.ErrNotExist) {
		return "", q.dropStage()
	}
	if err != nil {
		return "", err
	}
	j := &journal{}
	if err := json.Unmarshal(data, j); err != nil {
		return "", fmt.Errorf("read journal: %w", err)
	}
	d, err := openDisk(q.repo.Dir)
	if err != nil {
		return "", err
	}
	defer d.Close()
	if j.Done || j.Commit != nil && q.committed(ctx, j.Commit.Commit) {
		return "finished the interrupted " + j.What + " of " + j.ID, q.finish(ctx, d, j)
	}
	forward, err := q.judge(d, j)
	if j.Commit != nil {
		forward = false // HEAD would have moved last
	}
	if err != nil {
		return "", err
	}
	if !forward {
		return "took back the interrupted " + j.What + " of " + j.ID, q.rollBack(ctx, d, j)
	}
	if err := q.resume(ctx, d, j); err != nil {
		return "", err
	}
	return "finished the interrupted " + j.What + " of " + j.ID, nil
}

// resume goes on where a crash stopped.
func (q *Queue) resume(ctx context.Context, d *disk, j *journal) error {
	if err := os.MkdirAll(j.Stage, 0o700); err != nil {
		return err
	}
	if err := q.carryOut(ctx, d, j); err != nil {
		return err
	}
	return q.finishMarked(ctx, d, j)
}

// judge looks at each path and decides the way: forward where something is new
// and the rest is still staged, else back.
func (q *Queue) judge(d *disk, j *journal) (forward bool, err error) {
	foreign := &InterruptedError{What: j.What, ID: j.ID}
	staged, begun := true, false
	for _, st := range j.Steps {
		now, err := d.sum(string(st.Path))
		switch {
		case err != nil:
			return false, err
		case now.same(st.New):
			begun = true
		case !now.same(st.Old):
			foreign.Paths = append(foreign.Paths, string(st.Path))
			foreign.Saved = append(foreign.Saved, hashOf(st.Old.Hash))
		case st.New.Kind != "":
			_, err := os.Lstat(filepath.Join(j.Stage, st.Staged))
			staged = staged && err == nil
		}
	}
	if len(foreign.Paths) > 0 {
		return false, foreign
	}
	return begun && staged, nil
}

// rollBack makes every path what it was, from the raw bytes in the object
// store, and forgets the journal.
func (q *Queue) rollBack(ctx context.Context, d *disk, j *journal) error {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	s, err := q.openStage(d)
	if err != nil {
		return err
	}
	defer s.Close()
	back := j.inverse()
	back.Stage = s.dir
	if err := (blobStage{d, objs, s, "back-"}).put(back.Steps); err != nil {
		return err
	}
	if err := q.place(d, back); err != nil {
		return err
	}
	if err := q.moveIndex(ctx, back); err != nil {
		return err
	}
	d.forget()
	if err := errors.Join(os.RemoveAll(j.Stage), q.dropStage()); err != nil {
		return err
	}
	setTimes(d, j.Back)
	if j.What == "apply" {
		setTimes(d, j.Record.Dirs)
		if err := q.moveApplied(ctx, j.Record); err != nil {
			return err
		}
	}
	return q.dropJournal()
}

// blobStage stages raw blobs. What a rollback stages has other names than what
// it rolls back, so that a crash within it never confuses the two.
type blobStage struct {
	disk   *disk
	objs   *git.Objects
	stage  *stage
	prefix string
}

// put stages what the steps bring, where it is not in place yet.
func (b blobStage) put(steps []step) error {
	for i := range steps {
		st := &steps[i]
		if st.New.Kind == "" {
			continue
		}
		now, err := b.disk.sum(string(st.Path))
		if err != nil {
			return err
		}
		if now.same(st.New) {
			continue
		}
		content, err := b.objs.Blob(hashOf(st.New.Hash))
		if err != nil {
			return fmt.Errorf("restore %s: %w", quoted(string(st.Path)), err)
		}
		st.Staged = b.prefix + strconv.Itoa(i)
		if err := b.stage.put(st.Staged, st.New, content); err != nil {
			return fmt.Errorf("restore %s: %w", quoted(string(st.Path)), err)
		}
	}
	return b.stage.sync()
}

// moveApplied puts refs/ftl/applied/ID back to where it was before an apply.
func (q *Queue) moveApplied(ctx context.Context, r appliedRecord) error {
	name := appliedRefs + r.ID
	now, err := q.repo.Ref(ctx, name)
	if err != nil || now != hashOf(r.Applied) || now == plumbing.ZeroHash {
		return err
	}
	return q.repo.UpdateRefs(ctx, "git-ftl: undo "+r.ID, git.RefUpdate{Name: name, New: hashOf(r.Prev), Old: now})
}
