package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// ErrNoSpace says that the disk has no room for an export.
var ErrNoSpace = errors.New("not enough free disk space")

// Export is a tree as files and as git objects. It stays as it is until the next
// export of the same name.
type Export struct {
	Dir     string        // has tree/ (raw blobs) and objects/ (a git object folder), readable to all
	ID      string        // hash of the exported tree: names the content of tree/
	From    string        // tree hash that Changed counts from; "" when the folder was new or rebuilt
	Changed []git.Change  // From to ID, sorted by path
	Base    plumbing.Hash // parentless commit of the tree, in objects/
	All     func(ctx context.Context) ([]git.Change, error)
}

// exportState is what an export folder holds. While a change is under way Tree
// is empty, so that a crash is noticed and the folder made anew.
type exportState struct {
	Tree string            `json:"tree"`
	Base string            `json:"base"`
	LFS  map[string]string `json:"lfs,omitempty"` // blobs of LFS content in Tree, by its SHA-256
}

// exportName keeps names within one folder.
var exportName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Export makes the folder exports/name of the state folder equal to a snapshot,
// in place, at a cost that follows the difference. No object of the history and
// none of another snapshot's left-out files gets into it. Where a submodule is
// checked out, the files of the commit that the snapshot names are in its place.
// The caller sees to it that nobody reads the folder meanwhile.
//
// Of snap only ID (for messages), Tree, Commit, Parent, LeftOut and LFS count, so
// that any commit can be exported by a Snapshot made by hand; where Parent is
// zero, the author of the base is that of Commit. Errors: ErrNoSpace.
func (s *Store) Export(ctx context.Context, snap Snapshot, name string) (*Export, error) {
	if !exportName.MatchString(name) {
		return nil, fmt.Errorf("export %s: invalid name %q", snap.ID, name)
	}
	unlock, err := s.repo.Lock(ctx, "export-"+name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	modules, err := findModules(ctx, s.repo, snap.Tree)
	if err != nil {
		return nil, fmt.Errorf("export snapshot %s: %w", snap.ID, err)
	}
	e := &exporter{store: s, name: name, dir: s.repo.Path("exports", name), snap: snap, modules: modules}
	e.repo = s.repo.Overlay(e.dir, objectFolders(modules)...)
	e.was = e.state()
	known := e.was.Tree != ""
	out, err := e.run(ctx)
	if err != nil && known && ctx.Err() == nil && !errors.Is(err, ErrNoSpace) {
		e.was = exportState{} // what it had may be damaged
		out, err = e.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("export snapshot %s: %w", snap.ID, err)
	}
	out.All = func(ctx context.Context) ([]git.Change, error) {
		objects := e.repo.Objects(ctx)
		defer func() { _ = objects.Close() }()
		return objects.Diff(plumbing.ZeroHash, e.tree)
	}
	return out, nil
}

type exporter struct {
	store   *Store
	repo    *git.Repo // writes objects to the export, and reads those of submodules
	objects *git.Objects
	name    string
	dir     string
	snap    Snapshot
	modules []module
	was     exportState
	tree    plumbing.Hash     // what is exported: the snapshot's with its submodules and LFS content
	lfs     map[string]string // as exportState.LFS
}

// run changes the export from what it was.
func (e *exporter) run(ctx context.Context) (out *Export, err error) {
	e.objects = e.repo.Objects(ctx)
	defer func() { _ = e.objects.Close() }()
	if e.was.Tree == "" {
		if err := errors.Join(e.setState(exportState{}), e.empty()); err != nil {
			return nil, err
		}
	}
	if e.tree, err = e.view(ctx); err != nil {
		return nil, err
	}
	from := plumbing.NewHash(e.was.Tree)
	out = &Export{Dir: e.dir, ID: e.tree.String(), From: e.was.Tree}
	if out.Changed, err = e.objects.Diff(from, e.tree); err != nil {
		return nil, err
	}
	base, err := e.baseCommit()
	if err != nil {
		return nil, err
	}
	out.Base = base.hash
	if out.From == out.ID && e.was.Base == base.hash.String() {
		return out, nil
	}
	if err := checkPaths(out.Changed); err != nil {
		return nil, err
	}
	return out, e.change(ctx, from, base, out.Changed)
}

// change makes the folder what the new state says.
func (e *exporter) change(ctx context.Context, from plumbing.Hash, base looseCommit, changes []git.Change) error {
	if err := e.room(ctx, changes); err != nil {
		return err
	}
	if err := e.setState(exportState{}); err != nil {
		return err
	}
	if err := e.writeTree(ctx, changes); err != nil {
		return err
	}
	if err := e.writeObjects(ctx, from, changes); err != nil {
		return err
	}
	if err := e.writeBase(base); err != nil {
		return err
	}
	return e.setState(exportState{Tree: e.tree.String(), Base: base.hash.String(), LFS: e.lfs})
}

func (e *exporter) stateName() string { return "exports/" + e.name + "/state.json" }

// state is zero where there is no export, or one of which nothing is known.
func (e *exporter) state() exportState {
	var st exportState
	data, err := e.repo.ReadState(e.stateName())
	if err != nil || json.Unmarshal(data, &st) != nil {
		return exportState{}
	}
	for _, part := range []string{"tree", "objects"} {
		if info, err := os.Lstat(filepath.Join(e.dir, part)); err != nil || !info.IsDir() {
			return exportState{}
		}
	}
	return st
}

func (e *exporter) setState(st exportState) error {
	data, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return e.repo.WriteState(e.stateName(), data)
}

// empty removes what the two folders hold. The folders themselves stay: a
// sandbox may have them mounted.
func (e *exporter) empty() error {
	for _, dir := range []string{e.dir, filepath.Join(e.dir, "tree"), filepath.Join(e.dir, "objects")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o755); err != nil { // whatever the umask
			return err
		}
	}
	for _, part := range []string{"tree", "objects"} {
		root, err := os.OpenRoot(filepath.Join(e.dir, part))
		if err != nil {
			return err
		}
		if err := errors.Join(emptyRoot(root), root.Close()); err != nil {
			return err
		}
	}
	return nil
}

func emptyRoot(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, name := range names {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// room checks the disk before files are changed: they are written once as they
// are and once packed.
func (e *exporter) room(ctx context.Context, changes []git.Change) error {
	need, err := e.sizes(ctx, changes)
	if err != nil {
		return err
	}
	return room(e.repo, need*2)
}

// spare is what stays free, in bytes.
const spare = 64 << 20

// room wants space for some bytes beside what stays free.
func room(repo *git.Repo, need int64) error {
	free, err := freeSpace(repo.State)
	if err != nil {
		return fmt.Errorf("ask for free disk space: %w", err)
	}
	if need+spare > free {
		return fmt.Errorf("%w for %s: %d MB free, %d MB needed", ErrNoSpace, repo.State, free>>20, (need+spare)>>20)
	}
	return nil
}

// looseCommit is a commit with its name.
type looseCommit struct {
	hash   plumbing.Hash
	object *plumbing.MemoryObject
}

// baseCommit is the snapshot's tree without history, under the author and the
// subject of HEAD.
func (e *exporter) baseCommit() (looseCommit, error) {
	c := &object.Commit{TreeHash: e.tree, Message: "snapshot\n"}
	from := e.snap.Commit
	if !e.snap.Parent.IsZero() {
		from = e.snap.Parent
	}
	head, err := e.objects.Commit(from)
	if err != nil {
		return looseCommit{}, err
	}
	c.Author, c.Committer = head.Author, head.Committer
	if !e.snap.Parent.IsZero() {
		c.Message = subject(head.Message)
	}
	if e.snap.Hide != nil {
		c.Message = e.snap.Hide(c.Message)
	}
	mem := &plumbing.MemoryObject{}
	if err := c.Encode(mem); err != nil {
		return looseCommit{}, err
	}
	return looseCommit{mem.Hash(), mem}, nil
}

func checkPaths(changes []git.Change) error {
	bad := slices.IndexFunc(changes, func(c git.Change) bool { return !safePath(c.Path) })
	if bad >= 0 {
		return fmt.Errorf("tree has the unsafe path %q", changes[bad].Path)
	}
	return nil
}
