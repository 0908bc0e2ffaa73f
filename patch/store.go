package patch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Store applies a patch to its base, and keeps the outcome as a commit at
// refs/ftl/results/ID, which becomes this work tree's pending result in the same
// move. A follow-up is applied to m.On and comes upon it; what was applied of the
// result stays so where the base is the same. Errors: *UnsafeError where patch
// and base do not fit or the tree would be unsafe, ErrChanged where the result is
// not at m.Replaces; then no ref moves.
func (q *Queue) Store(ctx context.Context, base Base, p *Patch, m Meta) (Result, error) {
	if !idPattern.MatchString(m.ID) {
		return Result{}, fmt.Errorf("store result: %q is no ID", m.ID)
	}
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	if len(p.Files) > manyFiles {
		objs.Batch()
	}
	s := &store{q: q, objs: objs, base: base, m: m}
	r, err := s.run(ctx, p)
	if err != nil {
		return Result{}, fmt.Errorf("store result %s: %w", m.ID, err)
	}
	return r, nil
}

// store is one result on its way.
type store struct {
	q       *Queue
	objs    *git.Objects
	base    Base
	m       Meta
	on      Base         // what the patch applies to
	changes []git.Change // the whole result
}

func (s *store) run(ctx context.Context, p *Patch) (Result, error) {
	m := s.m
	r := Result{
		ID: m.ID, Task: m.Task, Agent: m.Agent, Subject: m.Subject, State: Undecided,
		Base: s.base.Commit, BaseTree: s.base.Tree, Have: s.base.Tree, Worktree: s.q.repo.Key(), Created: m.When,
	}
	var err error
	if s.on, err = s.start(ctx); err != nil {
		return r, err
	}
	if r.Tree, err = s.q.build(ctx, s.objs, s.on, p); err != nil {
		return r, err
	}
	if s.changes, err = s.objs.Diff(r.BaseTree, r.Tree); err != nil {
		return r, err
	}
	if r.Commit, err = s.objs.WriteCommit(s.q.commit(ctx, r, s.on.Commit)); err != nil {
		return r, err
	}
	if err := s.objs.Flush(); err != nil {
		return r, err
	}
	if err := s.check(ctx, r.Tree); err != nil {
		return r, err
	}
	if r.Files, err = s.q.stat(ctx, r, s.changes); err != nil {
		return r, err
	}
	return s.publish(ctx, r)
}

// start finds what the patch applies to.
func (s *store) start(ctx context.Context) (Base, error) {
	on := s.base
	if s.m.On.IsZero() || s.m.On == on.Commit {
		return on, nil
	}
	err := s.q.repo.Do(ctx, git.Call{Args: []string{"merge-base", "--is-ancestor", on.Commit.String(), s.m.On.String()}})
	if err != nil {
		return on, fmt.Errorf("%s does not come upon its base %s: %w", s.m.On, on.Commit, err)
	}
	c, err := s.objs.Commit(s.m.On)
	if err != nil {
		return on, err
	}
	on.Commit, on.Tree = s.m.On, c.TreeHash
	return on, nil
}

// check lets git check what it reads itself, and takes a follow-up through the
// gate as a whole: its patch can turn what an earlier one brought.
func (s *store) check(ctx context.Context, tree plumbing.Hash) error {
	if s.on.Commit != s.base.Commit {
		g := gate{repo: s.q.repo, view: newView(s.objs, tree), left: newOuts(s.base.LeftOut)}
		if err := g.check(ctx, s.changes); err != nil {
			return err
		}
	}
	return s.q.fsck(ctx, s.objs, tree, s.changes)
}

// publish writes the record of a result beside that of the commit before it,
// moves its refs, and lets the record take its place: a result without a record
// would be foreign.
func (s *store) publish(ctx context.Context, r Result) (Result, error) {
	unlock, err := s.q.lock(ctx)
	if err != nil {
		return r, err
	}
	defer unlock()
	unlockRecords, err := s.q.lockRecords(ctx)
	if err != nil {
		return r, err
	}
	defer unlockRecords()
	if err := s.follow(ctx, &r); err != nil {
		return r, err
	}
	if err := s.q.writeRecordAs(nextName(r.ID), r); err != nil {
		return r, err
	}
	pending, baseRef := s.q.pendingRefs()
	err = s.q.repo.UpdateRefs(ctx, "git-ftl: result "+r.ID,
		git.RefUpdate{Name: resultRefs + r.ID, New: r.Commit, Old: s.m.Replaces},
		git.RefUpdate{Name: pending, New: r.Commit, Any: true},
		git.RefUpdate{Name: baseRef, New: r.Base, Any: true})
	if errors.Is(err, git.ErrMoved) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	if err != nil {
		return r, errors.Join(err, os.Remove(s.q.repo.Path(filepath.FromSlash(nextName(r.ID)))))
	}
	return r, s.q.adopt(r.ID)
}

// follow checks that the result is where it is expected, and takes over what was
// applied of it.
func (s *store) follow(ctx context.Context, r *Result) error {
	was, err := s.q.repo.Ref(ctx, resultRefs+r.ID)
	if err != nil {
		return err
	}
	if was != s.m.Replaces {
		if s.m.Replaces.IsZero() {
			return fmt.Errorf("the ID is taken: %w", ErrChanged)
		}
		return ErrChanged
	}
	if was.IsZero() {
		return complete(s.objs, r)
	}
	old, err := s.q.load(ctx, s.objs, r.ID, was)
	if err != nil {
		return err
	}
	if old.State == Foreign {
		return ErrForeign
	}
	if old.Base == r.Base {
		r.inherit(old)
	}
	return complete(s.objs, r)
}

// inherit takes over what was applied of the commit before on the same base.
func (r *Result) inherit(old Result) {
	if old.Have != old.BaseTree {
		r.Have, r.Decided = old.Have, old.Decided
		r.State = r.judge()
	}
}

// stat counts lines as git does: the hunks that came are the sandbox's word, and
// may call a line changed that is not.
func (q *Queue) stat(ctx context.Context, r Result, changes []git.Change) ([]FileStat, error) {
	out, err := q.repo.Output(ctx, git.Call{Args: []string{
		"diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", r.BaseTree.String(), r.Tree.String(),
	}})
	if err != nil {
		return nil, err
	}
	lines := map[string][2]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if f := strings.SplitN(line, "\t", 3); len(f) == 3 {
			lines[f[2]] = [2]string{f[0], f[1]}
		}
	}
	var files []FileStat
	for _, c := range changes {
		n := lines[c.Path]
		ins, _ := strconv.Atoi(n[0]) // "-" where binary
		del, _ := strconv.Atoi(n[1])
		files = append(files, FileStat{c.Path, kindOf(c), ins, del, n[0] == "-"})
	}
	return files, nil
}

func asExit(err error, exit **git.ExitError) bool { return errors.As(err, exit) }
