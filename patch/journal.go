package patch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// step is one path of an apply or undo: what is there before and after.
type step struct {
	Path   []byte `json:"path"`
	Old    state  `json:"old"`
	New    state  `json:"new"`
	Clean  entry  `json:"clean"`            // what the apply's tree has, for finding it in a commit
	Staged string `json:"staged,omitempty"` // name in the stage, "" for a deletion
}

// folderTime is a folder that an apply touched. Times are nanoseconds since
// 1970; After is 0 where the folder is gone.
type folderTime struct {
	Path   []byte      `json:"path"`
	Perm   fs.FileMode `json:"perm"`
	Before int64       `json:"before"`
	After  int64       `json:"after"`
}

// appliedRecord is what undo needs to know of an apply.
type appliedRecord struct {
	N          int          `json:"n"` // counts the applies of this work tree
	ID         string       `json:"id"`
	Restore    bool         `json:"restore,omitempty"` // of the snapshot of that ID: the result has no part in it
	Head       string       `json:"head"`
	When       time.Time    `json:"when"`
	Applied    string       `json:"applied"` // refs/ftl/applied/ID
	Prev       string       `json:"prev"`    // where that ref was before
	Base       string       `json:"base"`    // of the result then
	HaveBefore string       `json:"haveBefore"`
	HaveAfter  string       `json:"haveAfter"`
	Steps      []step       `json:"steps"`
	Dirs       []folderTime `json:"dirs"`
	Made       [][]byte     `json:"made"` // folders, each before those in it
	Gone       [][]byte     `json:"gone"` // folders that may be empty now, each after those in it
	Index      []indexStep  `json:"index,omitempty"`
	Commit     string       `json:"commit,omitempty"` // that the apply made on HEAD
}

// journal is a change of the work tree under way. Its file exists from the
// moment when all content is staged until all is done.
type journal struct {
	What   string         `json:"what"` // apply or undo
	ID     string         `json:"id"`
	Stage  string         `json:"stage"` // folder of the staged content
	Record appliedRecord  `json:"record"`
	Steps  []step         `json:"steps"`
	Index  []indexStep    `json:"index,omitempty"`
	Commit *commitPlan    `json:"commit,omitempty"`
	Rest   *appliedRecord `json:"rest,omitempty"` // undo: what of the apply stays, nil for none of it
	Times  []folderTime   `json:"times"`          // undo: folders that get Before as their time
	Back   []folderTime   `json:"back,omitempty"` // undo: folders as they are, for its rollback
	Done   bool           `json:"done"`           // every path is in place

	passOver bool         // leave what is neither old nor new to the user, who changed it meanwhile
	live     bool         // not after a crash
	said     bytes.Buffer // by hooks
}

// folders returns what to make and what to remove if empty.
func (j *journal) folders() (make, gone [][]byte) {
	if j.What == "apply" {
		return j.Record.Made, j.Record.Gone
	}
	make, gone = slices.Clone(j.Record.Gone), slices.Clone(j.Record.Made)
	slices.Reverse(make)
	slices.Reverse(gone)
	return make, gone
}

// inverse takes a journal back, from content staged anew.
func (j *journal) inverse() *journal {
	back := &journal{
		What: map[string]string{"apply": "undo", "undo": "apply"}[j.What],
		ID:   j.ID, Record: j.Record, passOver: j.passOver,
	}
	for _, s := range j.Steps {
		back.Steps = append(back.Steps, step{Path: s.Path, Old: s.New, New: s.Old, Clean: s.Clean})
	}
	for _, s := range j.Index {
		back.Index = append(back.Index, indexStep{Path: s.Path, Old: s.New, New: s.Old})
	}
	return back
}

// stopped wraps the error of a hook: what follows is as after a crash.
type stopped struct{ error }

// Unwrap implements errors.Unwrap.
func (s stopped) Unwrap() error { return s.error }

func (q *Queue) step(format string, args ...any) error {
	if err := q.hook(fmt.Sprintf(format, args...)); err != nil {
		return stopped{err}
	}
	return nil
}

func (q *Queue) journalName() string { return path.Join("journal", q.repo.Key()+".json") }

// execute writes the journal down and carries it out. Where that fails, it
// takes back what was done: all or nothing. From here on ctx stops hooks only.
func (q *Queue) execute(ctx context.Context, d *disk, j *journal) error {
	stoppable := ctx
	ctx = context.WithoutCancel(ctx)
	if err := q.step("staged"); err != nil {
		return err
	}
	if err := q.writeJournal(j); err != nil {
		return err
	}
	j.live = true
	err := q.carryOut(stoppable, d, j)
	var stop stopped
	if err == nil {
		return q.finishMarked(ctx, d, j)
	}
	if errors.As(err, &stop) {
		return err
	}
	j.passOver = true
	if j.Commit != nil && j.Commit.Hooks != "" {
		dropped, absorbed := q.absorb(ctx, d, j)
		var hook *HookError
		if errors.As(err, &hook) {
			hook.Dropped = dropped
		}
		err = errors.Join(err, absorbed)
	}
	if back := q.rollBack(ctx, d, j); back != nil {
		return errors.Join(err, fmt.Errorf("roll back: %w", back))
	}
	return err
}

// carryOut does everything that a journal says, in an order that lets each step
// be taken back until the last.
func (q *Queue) carryOut(ctx context.Context, d *disk, j *journal) error {
	if err := q.place(d, j); err != nil {
		return err
	}
	if err := q.commitWithHooks(ctx, j); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := q.moveIndex(ctx, j); err != nil {
		return err
	}
	return q.moveHead(ctx, j)
}

func (q *Queue) writeJournal(j *journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return q.repo.WriteState(q.journalName(), data)
}

// finishMarked notes that every path is in place before it finishes: edits that
// follow are then nobody's concern but the user's.
func (q *Queue) finishMarked(ctx context.Context, d *disk, j *journal) error {
	j.Done = true
	if err := q.writeJournal(j); err != nil {
		return err
	}
	return q.finish(ctx, d, j)
}

// place makes each path what the journal says: deletions, deepest first, then
// folders, then renames. Steps that are done already are passed over.
func (q *Queue) place(d *disk, j *journal) error {
	s, err := reopenStage(j.Stage)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := q.step("begin"); err != nil {
		return err
	}
	makes, gone := j.folders()
	if err := q.clear(d, j, gone); err != nil {
		return err
	}
	if err := q.makeFolders(d, j, makes); err != nil {
		return err
	}
	for _, st := range j.Steps {
		if st.New.Kind != "" {
			if err := q.rename(d, j, s, st); err != nil {
				return err
			}
		}
	}
	return q.syncFolders(j)
}

// clear does the deletions, and removes the folders that are empty then.
func (q *Queue) clear(d *disk, j *journal, gone [][]byte) error {
	for _, st := range slices.Backward(j.Steps) {
		if st.New.Kind == "" {
			if err := q.remove(d, j, st); err != nil {
				return err
			}
		}
	}
	for _, dir := range gone {
		if err := q.step("rmdir %s", dir); err != nil {
			return err
		}
		if err := d.rmdir(string(dir)); err != nil {
			return err
		}
	}
	return nil
}

// pending checks a path just before it is written: done is true where it is
// what it is to be, and an error names one that is neither old nor new.
func (q *Queue) pending(d *disk, j *journal, st step) (done bool, err error) {
	now, err := d.sum(string(st.Path))
	switch {
	case err != nil:
		return false, err
	case now.same(st.New):
		return true, nil
	case !now.same(st.Old) && j.passOver:
		return true, nil
	case !now.same(st.Old):
		return false, &ConflictError{j.ID, []Conflict{{Path: string(st.Path), Why: "changed meanwhile"}}}
	}
	return false, nil
}

func (q *Queue) remove(d *disk, j *journal, st step) error {
	done, err := q.pending(d, j, st)
	if err != nil || done {
		return err
	}
	if err := q.step("delete %s", st.Path); err != nil {
		return err
	}
	dir, err := d.folder(path.Dir(string(st.Path)))
	if err != nil {
		return err
	}
	return dir.Remove(path.Base(string(st.Path)))
}

func (q *Queue) rename(d *disk, j *journal, s *stage, st step) error {
	done, err := q.pending(d, j, st)
	if err != nil || done {
		return err
	}
	if err := q.step("rename %s", st.Path); err != nil {
		return err
	}
	dir, err := d.folder(path.Dir(string(st.Path)))
	if err != nil {
		return fmt.Errorf("write %s: %w", quoted(string(st.Path)), err)
	}
	if err := s.move(st.Staged, dir, path.Base(string(st.Path))); err != nil {
		return fmt.Errorf("write %s: %w", quoted(string(st.Path)), err)
	}
	return nil
}

// makeFolders makes the folders that steps need; one that an apply removed gets
// its permissions back.
func (q *Queue) makeFolders(d *disk, j *journal, dirs [][]byte) error {
	needed := foldersOf(j.Steps)
	perms := map[string]fs.FileMode{}
	for _, t := range j.Record.Dirs {
		perms[string(t.Path)] = t.Perm
	}
	for _, raw := range dirs {
		dir := string(raw)
		if !needed[dir] {
			continue
		}
		if err := q.step("mkdir %s", dir); err != nil {
			return err
		}
		if err := d.mkdir(dir, 0o777&^q.umask); err != nil {
			return fmt.Errorf("make folder %s: %w", quoted(dir), err)
		}
		if perm, ok := perms[dir]; ok && permBits != 0 {
			if err := d.chmod(dir, perm|0o700); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldersOf lists the folders that the new files of steps lie in.
func foldersOf(steps []step) map[string]bool {
	set := map[string]bool{}
	for _, s := range steps {
		for dir := path.Dir(string(s.Path)); s.New.Kind != "" && dir != "." && !set[dir]; dir = path.Dir(dir) {
			set[dir] = true
		}
	}
	return set
}

// syncFolders makes the renames durable before the journal goes.
func (q *Queue) syncFolders(j *journal) error {
	seen := map[string]bool{}
	var dirs []string
	for _, s := range j.Steps {
		dir := filepath.Join(q.repo.Dir, filepath.FromSlash(path.Dir(string(s.Path))))
		if fi, err := os.Lstat(dir); !seen[dir] && err == nil && fi.IsDir() {
			dirs = append(dirs, dir)
		}
		seen[dir] = true
	}
	if len(dirs) == 0 {
		return nil
	}
	return syncAll(dirs)
}
