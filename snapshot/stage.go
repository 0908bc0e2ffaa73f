package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// defaultMaxFile is Options.MaxFile where that is 0, in bytes.
const defaultMaxFile = 50 << 20

// staging is one pass from the work tree to a tree object.
type staging struct {
	index  *index
	opt    Options
	status status
	rules  userRules
	dirs   map[string]bool // whether a folder is reached through folders only
	swept  *sweep

	scanner Scanner
	held    reasons            // what it left out; nil without a scanner
	modules map[string]reasons // likewise of submodules, by their trees

	drop    pathSet           // to be removed from the private index
	add     map[string]origin // to be staged
	left    map[string]string // reasons of what is left out
	tree    plumbing.Hash
	cached  bool    // tree is the one of an earlier call
	before  *memory // of the private index, where this pass leaves that alone
	objects *git.Objects
	dirty   int

	lfs      bool // the files of LFS pointers are to be exported
	pointers int  // files that are LFS pointers all the same
}

// stage uses the private index as it is; whatever goes wrong with it, one made
// anew from the user's gets a second chance.
func (s *Store) stage(ctx context.Context, o Options) (*staging, error) {
	x, err := s.openIndex()
	if err != nil {
		return nil, err
	}
	o = o.filled()
	if err = x.ready(ctx, o.MaxFile); err == nil {
		st := newStaging(x, o)
		if err = st.run(ctx); err == nil {
			return st, nil
		}
	}
	if ctx.Err() != nil || errors.Is(err, ErrNotFetched) {
		return nil, fmt.Errorf("stage work tree: %w", err)
	}
	return s.restage(ctx, o)
}

// restage stages with a new private index, around what may have failed before.
func (s *Store) restage(ctx context.Context, o Options) (*staging, error) {
	x, err := s.openIndex()
	if err != nil {
		return nil, err
	}
	x.recall() // what was looked into, and told
	o = o.filled()
	x.lenient = x.lenientFilters(ctx)
	if err := x.seed(ctx, o.MaxFile); err != nil {
		return nil, fmt.Errorf("make private index: %w", err)
	}
	st := newStaging(x, o)
	if err := st.run(ctx); err != nil {
		return nil, fmt.Errorf("stage work tree: %w", err)
	}
	return st, nil
}

func (o Options) filled() Options {
	if o.MaxFile == 0 {
		o.MaxFile = defaultMaxFile
	}
	return o
}

func newStaging(x *index, o Options) *staging {
	return &staging{
		index: x, opt: o, dirs: map[string]bool{".": true},
		drop: pathSet{}, add: map[string]origin{}, left: map[string]string{},
	}
}

func (st *staging) run(ctx context.Context) error {
	st.objects = st.index.repo.Objects(ctx)
	defer func() { _ = st.objects.Close() }()
	ignored, err := st.look(ctx)
	if err != nil {
		return err
	}
	known := st.index.mem.clone()
	if st.converts() && !st.index.fresh {
		return errStale
	}
	if err := st.readRules(ctx); err != nil {
		return err
	}
	if err := st.plan(ignored); err != nil {
		return err
	}
	if err := st.nameSwept(ctx, st.swept); err != nil {
		return err
	}
	if err := st.makeTree(ctx, known); err != nil {
		return err
	}
	if st.dirty, err = st.countDirty(ctx); err != nil {
		return err
	}
	if err := st.countPointers(ctx); err != nil {
		return err
	}
	return st.nameModules(ctx)
}

// makeTree makes the tree that the plan leads to, of files that may be in it.
func (st *staging) makeTree(ctx context.Context, known memory) error {
	if err := st.openScanner(); err != nil {
		return err
	}
	if err := st.lookAhead(); err != nil {
		return err
	}
	quick, err := st.quick(ctx, known)
	if err == nil && !quick {
		if err = st.update(ctx); err == nil {
			err = st.writeTree(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := st.complete(ctx); err != nil {
		return err
	}
	return st.lookInto(ctx)
}

// look finds what changed in the work tree, and in the user's index since the
// private one was in step with it: mostly that was only refreshed.
func (st *staging) look(ctx context.Context) (ignored pathSet, err error) {
	x, listed := st.index, ""
	st.swept = x.sweepAll()
	look := []func() error{
		func() error { st.swept.run(); return nil },
		func() (err error) { st.status, err = x.readStatus(ctx, st.opt.started); return err },
		func() (err error) { ignored, err = st.ignoredExtras(ctx); return err },
	}
	if x.doubt != "" {
		look = append(look, func() (err error) { _, listed, err = x.listing(ctx, ""); return err })
	}
	if err := parallel(look...); err != nil {
		return nil, err
	}
	switch {
	case x.doubt == "":
		return ignored, nil
	case listed == x.mem.Listed:
		x.mem.User, x.doubt = x.doubt, ""
		return ignored, nil
	}
	if err := x.sync(ctx); err != nil {
		return nil, err
	}
	st.swept = x.sweepAll()
	return ignored, parallel(look[:3]...)
}

// converts reports whether attributes changed. What is staged under the old ones
// then says nothing: git converts a file when it enters the index.
func (st *staging) converts() bool {
	return slices.ContainsFunc(st.status.others, isAttributes) ||
		slices.ContainsFunc(st.status.changed, func(r record) bool { return r.work != '.' && isAttributes(r.path) })
}

func parallel(fs ...func() error) error {
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// staged is the result for callers.
func (st *staging) staged() Staged {
	out := Staged{Tree: st.tree, Head: st.status.head, Branch: st.status.branch, Dirty: st.dirty, LFS: st.lfs, Pointers: st.pointers}
	for p, why := range st.left {
		out.LeftOut = append(out.LeftOut, LeftOut{Path: p, Why: why})
	}
	slices.SortFunc(out.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// save remembers this pass for the next one.
func (st *staging) save() error {
	mem := &st.index.mem
	if st.before != nil {
		st.before.Scan = mem.Scan
		*mem = *st.before
	} else {
		mem.Tree, mem.Head, mem.Dirty = st.tree, st.status.head, st.dirty
	}
	if err := st.index.remember(); err != nil {
		return fmt.Errorf("remember private index: %w", err)
	}
	return nil
}

// countDirty compares trees, for a status can call dirty what hashes the same,
// and cannot tell a path that was staged earlier and changed back since.
func (st *staging) countDirty(ctx context.Context) (int, error) {
	mem := &st.index.mem
	if st.cached && mem.Head == st.status.head {
		return mem.Dirty, nil
	}
	objects := st.objects
	var head plumbing.Hash
	if !st.status.head.IsZero() {
		c, err := objects.Commit(st.status.head)
		if err != nil {
			return 0, fmt.Errorf("read HEAD: %w", err)
		}
		head = c.TreeHash
	}
	changes, err := objects.Diff(head, st.tree)
	if err != nil {
		return 0, fmt.Errorf("compare with HEAD: %w", err)
	}
	n := 0
	for _, c := range changes {
		if st.left[c.Path] == "" && st.index.names.why(c.Path, true) == "" {
			n++
		}
	}
	return n, nil
}
