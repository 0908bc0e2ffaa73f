package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// maxPacks is the number of packs at which one takes the place of all.
const maxPacks = 20

// writeObjects packs the trees and blobs that the folder lacks. All are packed
// anew where there are too many packs, and where a file of the folder is now
// left out: its blob must not stay behind.
func (e *exporter) writeObjects(ctx context.Context, from plumbing.Hash, changes []git.Change) error {
	if from == e.tree {
		return nil
	}
	dir := filepath.Join(e.dir, "objects", "pack")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	packs := slices.DeleteFunc(slices.Clone(old), func(d os.DirEntry) bool { return path.Ext(d.Name()) != ".pack" })
	renew := e.withdraws(changes) || len(packs) >= maxPacks
	if renew {
		from = plumbing.ZeroHash
	}
	name, err := e.pack(ctx, dir, from)
	if err != nil {
		return err
	}
	for _, d := range old {
		if renew && !strings.HasPrefix(d.Name(), "pack-"+name) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, d.Name())))
		}
	}
	return errors.Join(err, e.openUp())
}

// withdraws reports whether a file of the folder is left out now.
func (e *exporter) withdraws(changes []git.Change) bool {
	left := pathSet{}
	for _, l := range e.snap.LeftOut {
		left[l.Path] = true
	}
	return slices.ContainsFunc(changes, func(c git.Change) bool { return c.New == git.Entry{} && left[c.Path] })
}

// pack packs what the exported tree has and another tree has not, without
// looking for deltas, and returns the pack's name.
func (e *exporter) pack(ctx context.Context, dir string, from plumbing.Hash) (string, error) {
	var in bytes.Buffer
	seen := map[plumbing.Hash]bool{}
	if err := e.newObjects(from, e.tree, func(h plumbing.Hash) {
		if !seen[h] {
			in.WriteString(h.String() + "\n")
		}
		seen[h] = true
	}); err != nil {
		return "", err
	}
	out, err := e.repo.Output(ctx, git.Call{
		Args:   []string{"pack-objects", "-q", filepath.Join(dir, "pack")},
		Config: []string{"pack.window=0", "pack.packSizeLimit=0", "pack.writeReverseIndex=false"},
		Stdin:  &in,
	})
	return strings.TrimSpace(string(out)), err
}

// newObjects names the trees and blobs below one tree that are not at the same
// place of another; the zero hash is no tree.
func (e *exporter) newObjects(old, new plumbing.Hash, found func(plumbing.Hash)) error {
	if old == new {
		return nil
	}
	found(new)
	was, err := e.entriesOf(old)
	if err != nil {
		return err
	}
	t, err := e.objects.Tree(new)
	if err != nil {
		return err
	}
	for _, entry := range t.Entries {
		before := was[kind(entry.Mode)+entry.Name]
		switch {
		case entry.Mode == filemode.Submodule || before == entry.Hash:
		case entry.Mode == filemode.Dir:
			if err := e.newObjects(before, entry.Hash, found); err != nil {
				return err
			}
		default:
			found(entry.Hash)
		}
	}
	return nil
}

// entriesOf maps kind and name to the object, for trees and blobs.
func (e *exporter) entriesOf(tree plumbing.Hash) (map[string]plumbing.Hash, error) {
	all := map[string]plumbing.Hash{}
	if tree.IsZero() {
		return all, nil
	}
	t, err := e.objects.Tree(tree)
	if err != nil {
		return nil, err
	}
	for _, entry := range t.Entries {
		if entry.Mode != filemode.Submodule {
			all[kind(entry.Mode)+entry.Name] = entry.Hash
		}
	}
	return all, nil
}

func kind(mode filemode.FileMode) string {
	if mode == filemode.Dir {
		return "tree "
	}
	return "blob "
}

// writeBase puts the base commit into objects/, in place of all that lies there
// unpacked: the commit before, and trees that are in the pack by now.
func (e *exporter) writeBase(base looseCommit) error {
	root, err := os.OpenRoot(filepath.Join(e.dir, "objects"))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	names, err := fs.Glob(root.FS(), "[0-9a-f][0-9a-f]")
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := root.RemoveAll(name); err != nil {
			return err
		}
	}
	disk := filesystem.NewStorage(osfs.New(e.dir), cache.NewObjectLRU(1))
	if _, err := disk.SetEncodedObject(base.object); err != nil {
		return err
	}
	return e.openUp()
}

// openUp makes the object folder readable to all, whatever the umask.
func (e *exporter) openUp() error {
	return filepath.WalkDir(filepath.Join(e.dir, "objects"), func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(p, 0o755)
		}
		return os.Chmod(p, 0o444)
	})
}

// subject is the first line of a commit message.
func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n")
	return first + "\n"
}
