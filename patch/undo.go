package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// UndoOptions says how to undo.
type UndoOptions struct {
	DryRun bool     // compute everything, write nothing
	ID     string   // undo the newest apply of this result; "" is the newest of all
	Paths  []string // files or folders to take back, all where it is empty; slashes, from the top
	Merge  bool     // merge with the edits that were made since
}

// EditedError says that files were edited after they were applied, or other
// content of them staged. Nothing was touched.
type EditedError struct {
	ID     string
	Paths  []string // edited, sorted
	Staged []string // staged since, sorted
}

// Error counts them; paths are for the caller to show.
func (e *EditedError) Error() string {
	all := append(slices.Clone(e.Paths), e.Staged...)
	return fmt.Sprintf("%d files were edited since %s was applied, first %s", len(all), e.ID, quoted(all[0]))
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
// apply, and what the apply staged goes. With paths, or where a merge leaves
// something alone, the rest of the apply can still be undone. It first finishes
// what a crash left. Errors: ErrNothing, ErrPaths, *EditedError,
// *CommittedError, *InterruptedError.
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
	u := &undo{q: q, objs: objs, disk: d, r: r, o: o}
	if err := u.check(ctx); err != nil {
		return Applied{}, err
	}
	if !o.DryRun && !u.idle() {
		if err := u.run(ctx); err != nil {
			return Applied{}, fmt.Errorf("undo %s: %w", r.ID, err)
		}
	}
	return u.report(ctx)
}

type undo struct {
	q    *Queue
	objs *git.Objects
	disk *disk
	o    UndoOptions
	r    appliedRecord // of what is taken back

	todo      []step      // those whose file is not as before the apply; New is what is there now
	index     []indexStep // the same of the index
	keptSteps []step      // that stay applied
	keptIndex []indexStep
	conflicts []Conflict
}

func (u *undo) check(ctx context.Context) error {
	if err := u.pick(); err != nil {
		return err
	}
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
			st.New = now
			u.todo = append(u.todo, st)
		case now.same(st.Old):
		case u.o.Merge:
			if err := u.mergeBack(ctx, st); err != nil {
				return err
			}
		default:
			edited.Paths = append(edited.Paths, string(st.Path))
		}
	}
	if err := u.checkIndex(ctx, edited); err != nil {
		return err
	}
	if len(edited.Paths)+len(edited.Staged) > 0 {
		return edited
	}
	return nil
}

// pick splits the apply into what is to be taken back and what stays.
func (u *undo) pick() error {
	if len(u.o.Paths) == 0 {
		return nil
	}
	all := u.r
	u.r.Steps, u.r.Index = nil, nil
	for _, st := range all.Steps {
		if named(u.o.Paths, string(st.Path)) {
			u.r.Steps = append(u.r.Steps, st)
		} else {
			u.keptSteps = append(u.keptSteps, st)
		}
	}
	for _, st := range all.Index {
		if named(u.o.Paths, string(st.Path)) {
			u.r.Index = append(u.r.Index, st)
		} else {
			u.keptIndex = append(u.keptIndex, st)
		}
	}
	if len(u.r.Steps)+len(u.r.Index) == 0 {
		return fmt.Errorf("undo %s: %w", u.r.ID, ErrPaths)
	}
	return nil
}

// checkIndex finds what the index still has of the apply.
func (u *undo) checkIndex(ctx context.Context, edited *EditedError) error {
	if len(u.r.Index) == 0 {
		return nil
	}
	all, err := u.q.readIndex(ctx, u.objs)
	if err != nil {
		return err
	}
	for _, st := range u.r.Index {
		p := string(st.Path)
		switch now := all[p]; {
		case sameEntries(now, st.New):
			st.New = now
			u.index = append(u.index, st)
		case sameEntries(now, st.Old):
		case u.o.Merge:
			u.conflicts = append(u.conflicts, Conflict{Path: p, Why: "staged since, left alone", Against: AgainstIndex})
		default:
			edited.Staged = append(edited.Staged, p)
		}
	}
	return nil
}

// committed returns a *CommittedError where HEAD moved and has all that was
// applied.
func (u *undo) committed(ctx context.Context) error {
	if u.q.committed(ctx, u.r.Commit) {
		return &CommittedError{ID: u.r.ID, Commit: hashOf(u.r.Commit)}
	}
	head, err := u.q.repo.Ref(ctx, "HEAD")
	if err != nil || head.IsZero() || head == hashOf(u.r.Head) || len(u.r.Steps) == 0 {
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

// idle reports that a merge leaves all alone, so that the apply stays as it is.
func (u *undo) idle() bool { return len(u.conflicts) > 0 && len(u.todo)+len(u.index) == 0 }

// run stages the saved bytes and carries the inverse of the apply out.
func (u *undo) run(ctx context.Context) error {
	j := (&journal{What: "apply", ID: u.r.ID, Record: u.r, Steps: u.todo, Index: u.index}).inverse()
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
	u.times(j)
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
// that it removed: they get their own back, once all of the apply is undone. It
// also notes what stays of the apply.
func (u *undo) times(j *journal) {
	var rest []folderTime
	for _, dir := range u.r.Made {
		if fi, err := u.disk.lstat(string(dir)); err == nil && fi.IsDir() {
			j.Back = append(j.Back, folderTime{Path: dir, Perm: fi.Mode() & permBits, Before: fi.ModTime().UnixNano()})
		}
	}
	for _, t := range u.r.Dirs {
		now := timeOf(u.disk, string(t.Path))
		if now != 0 {
			j.Back = append(j.Back, folderTime{Path: t.Path, Perm: t.Perm, Before: now})
		}
		if now == t.After {
			j.Times = append(j.Times, t)
		} else {
			t.After = -1
		}
		rest = append(rest, t)
	}
	if len(u.keptSteps)+len(u.keptIndex) > 0 {
		j.Rest, j.Times = &appliedRecord{}, nil
		*j.Rest = u.r
		j.Rest.Steps, j.Rest.Index, j.Rest.Dirs = u.keptSteps, u.keptIndex, rest
	}
}

func (u *undo) report(ctx context.Context) (Applied, error) {
	done := Applied{ID: u.r.ID, DryRun: u.o.DryRun, Commit: hashOf(u.r.Applied), Conflicts: u.conflicts}
	for _, st := range u.r.Steps {
		if slices.ContainsFunc(u.keptSteps, func(k step) bool { return string(k.Path) == string(st.Path) }) {
			continue
		}
		kind := Modified
		switch {
		case st.Old.Kind == "":
			kind = Deleted
		case st.New.Kind == "":
			kind = Added
		case st.Old.Kind != st.New.Kind:
			kind = Type
		}
		done.Files = append(done.Files, Written{Path: string(st.Path), Change: kind, Merged: u.merged(st)})
	}
	if u.r.Restore {
		done.Result.ID = u.r.ID
		return done, nil
	}
	var err error
	done.Result, err = u.q.readRecord(ctx, u.r.ID)
	if err != nil {
		return done, err
	}
	err = complete(u.objs, &done.Result)
	done.Left = done.Result.Left
	return done, err
}

// merged reports whether a file does not get the bytes from before the apply.
func (u *undo) merged(st step) bool {
	return slices.ContainsFunc(u.todo, func(t step) bool { return string(t.Path) == string(st.Path) && !t.Old.same(st.Old) })
}
