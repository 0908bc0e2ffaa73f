package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// writeTree applies changes to tree/: first all removals, so that a file may
// become a folder and a folder a file.
func (e *exporter) writeTree(ctx context.Context, changes []git.Change) error {
	root, err := os.OpenRoot(filepath.Join(e.dir, "tree"))
	if err != nil {
		return err
	}
	w := &treeWriter{root: root, objects: e.objects, dirs: map[string]bool{".": true}}
	return errors.Join(w.apply(ctx, changes), root.Close())
}

// treeWriter writes below root and through no symbolic link.
type treeWriter struct {
	root    *os.Root
	objects *git.Objects
	dirs    map[string]bool // folders that are known to be folders
}

func (w *treeWriter) apply(ctx context.Context, changes []git.Change) error {
	for _, c := range changes {
		if c.New == (git.Entry{}) {
			if err := w.remove(c.Path); err != nil {
				return fmt.Errorf("remove %q: %w", c.Path, err)
			}
		}
	}
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.New == (git.Entry{}) {
			continue
		}
		if err := w.write(c); err != nil {
			return fmt.Errorf("write %q: %w", c.Path, err)
		}
	}
	return nil
}

// remove also removes the folders that it leaves empty.
func (w *treeWriter) remove(p string) error {
	if !w.isFolder(path.Dir(p)) {
		return nil
	}
	if err := w.root.RemoveAll(p); err != nil {
		return err
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if w.root.Remove(dir) != nil {
			break // not empty
		}
		delete(w.dirs, dir)
	}
	return nil
}

func (w *treeWriter) isFolder(dir string) bool {
	if w.dirs[dir] {
		return true
	}
	if !w.isFolder(path.Dir(dir)) {
		return false
	}
	info, err := w.root.Lstat(dir)
	w.dirs[dir] = err == nil && info.IsDir()
	return w.dirs[dir]
}

// folder makes dir and those above it; whatever else has such a name goes.
func (w *treeWriter) folder(dir string) error {
	if w.isFolder(dir) {
		return nil
	}
	if err := w.folder(path.Dir(dir)); err != nil {
		return err
	}
	if err := w.root.RemoveAll(dir); err != nil {
		return err
	}
	if err := w.root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	w.dirs[dir] = true
	return w.root.Chmod(dir, 0o755) // whatever the umask
}

func (w *treeWriter) write(c git.Change) error {
	if c.New.Mode == filemode.Submodule {
		return w.folder(c.Path)
	}
	if err := w.folder(path.Dir(c.Path)); err != nil {
		return err
	}
	if err := w.clear(c.Path); err != nil {
		return err
	}
	if c.New.Mode == filemode.Symlink {
		target, err := w.objects.Blob(c.New.Hash)
		if err != nil {
			return err
		}
		return w.root.Symlink(string(target), c.Path)
	}
	return w.file(c)
}

func (w *treeWriter) clear(p string) error {
	err := w.root.Remove(p)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	delete(w.dirs, p)
	return w.root.RemoveAll(p)
}

func (w *treeWriter) file(c git.Change) error {
	mode := fs.FileMode(0o644)
	if c.New.Mode == filemode.Executable {
		mode = 0o755
	}
	f, err := w.root.OpenFile(c.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = w.objects.Stream(c.New.Hash, plumbing.BlobObject, func(_ int64, r io.Reader) error {
		_, err := io.Copy(f, r)
		return err
	})
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// safePath reports whether a tree's path stays in its folder and names nothing
// that git would take for its own.
func safePath(p string) bool {
	if strings.ContainsRune(p, 0) || refusedByGit(p) {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." || os.PathSeparator != '/' && strings.ContainsRune(part, os.PathSeparator) {
			return false
		}
	}
	return true
}

// sizes adds up the blobs that changes bring, in bytes.
func (e *exporter) sizes(ctx context.Context, changes []git.Change) (int64, error) {
	var in bytes.Buffer
	for _, c := range changes {
		if c.New.Mode.IsFile() {
			in.WriteString(c.New.Hash.String() + "\n")
		}
	}
	if in.Len() == 0 {
		return 0, nil
	}
	out, err := e.repo.Output(ctx, git.Call{Args: []string{"cat-file", "--batch-check=%(objectsize)", "--buffer"}, Stdin: &in})
	if err != nil {
		return 0, err
	}
	var sum int64
	for line := range strings.Lines(string(out)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("blob %w", git.ErrMissing)
		}
		sum += n
	}
	return sum, nil
}
