package patch

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

const maxBatch = 64 << 20 // bytes of content that wait in memory for one pack

// build makes the tree that a patch leads to, and checks both against the base.
func (q *Queue) build(ctx context.Context, objs *git.Objects, base Base, p *Patch) (plumbing.Hash, error) {
	b := builder{objs: objs, base: newView(objs, base.Tree), patch: p, gone: map[string]bool{}, batch: len(p.Files) > manyFiles}
	for _, f := range p.Files {
		if f.Change == Deleted || f.Change == Type {
			b.gone[f.Path] = true
		}
	}
	for _, f := range p.Files {
		if err := b.file(f); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	tree, err := objs.Rewrite(base.Tree, b.changes)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if err := b.same(base.Tree, tree); err != nil {
		return plumbing.ZeroHash, err
	}
	return tree, gate{repo: q.repo, view: newView(objs, tree), left: newOuts(base.LeftOut)}.check(ctx, b.changes)
}

type builder struct {
	objs    *git.Objects
	base    *view
	patch   *Patch
	gone    map[string]bool // paths of the base that are no longer what they were
	changes []git.Change
	batch   bool
	waiting int64 // bytes
}

// same checks that the tree differs from its base in the patch's paths only: a
// file in place of a folder that is not empty would take more away.
func (b *builder) same(base, tree plumbing.Hash) error {
	got, err := b.objs.Diff(base, tree)
	if err != nil {
		return err
	}
	for i, c := range b.changes {
		if i >= len(got) || got[i] != c {
			return &UnsafeError{Path: c.Path, Why: "does not fit what else is at this place"}
		}
	}
	if len(got) > len(b.changes) {
		return &UnsafeError{Path: got[len(b.changes)].Path, Why: "would vanish although the patch does not name it"}
	}
	return nil
}

// file checks one file against the base and stores its new content.
func (b *builder) file(f File) error {
	old, err := b.before(f)
	if err != nil {
		return err
	}
	change := git.Change{Path: f.Path, Old: old}
	for _, s := range f.sections {
		sec, err := readSection(b.patch.src, s)
		if err != nil {
			return err
		}
		if sec.Change == Deleted {
			continue
		}
		change.New = git.Entry{Mode: sec.NewMode, Hash: old.Hash}
		if sec.Old == sec.New {
			continue
		}
		if change.New.Hash, err = b.write(sec, old); err != nil {
			return err
		}
	}
	b.changes = append(b.changes, change)
	return nil
}

// before returns what the base has at a file's path, and refuses a claim that
// does not fit it.
func (b *builder) before(f File) (git.Entry, error) {
	refuse := func(format string, args ...any) (git.Entry, error) {
		return git.Entry{}, &UnsafeError{Path: f.Path, Why: fmt.Sprintf(format, args...)}
	}
	above, e, err := b.base.blocker(f.Path)
	switch {
	case err != nil:
		return e, err
	case above != "" && e.Mode == filemode.Symlink && !b.gone[above]:
		return refuse("is below the symlink %s", quoted(above))
	case above != "" && !b.gone[above]:
		return refuse("is below %s, which is no folder", quoted(above))
	}
	old, err := b.base.lookup(f.Path)
	switch {
	case err != nil:
		return old, err
	case f.Change == Added && (old == git.Entry{} || old.Mode == filemode.Dir):
		return git.Entry{}, nil
	case f.Change == Added:
		return refuse("is added, but the base has it")
	case old == git.Entry{} || old.Mode == filemode.Dir:
		return refuse("is %s, but the base does not have it", f.Change)
	case old.Mode != f.OldMode && (old.Mode != filemode.Deprecated || f.OldMode != filemode.Regular):
		return refuse("has the mode %o in the base, not %o", old.Mode, f.OldMode)
	case f.Old != f.New && old.Hash != f.Old:
		return refuse("is not in the base as the patch says")
	}
	return old, nil
}

// write makes and stores a file's new content.
func (b *builder) write(sec *section, old git.Entry) (plumbing.Hash, error) {
	var was []byte
	if sec.Change == Modified && !sec.Binary {
		var err error
		if was, err = b.objs.Blob(old.Hash); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	content, err := sec.content(was, b.patch.limits)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	sec.body = nil
	if b.waiting += int64(len(content)); b.batch && b.waiting > maxBatch {
		if err := b.objs.Flush(); err != nil {
			return plumbing.ZeroHash, err
		}
		b.objs.Batch()
		b.waiting = 0
	}
	return b.objs.WriteBlob(content)
}
