package patch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// readByGit reports whether git itself reads files of that name out of a tree,
// so that their content can make a repository one that "git fsck" and a strict
// server refuse.
func readByGit(p string) bool {
	name := fold(path.Base(p))
	return slices.ContainsFunc([]string{".gitmodules", ".gitattributes", ".gitignore", ".mailmap"}, func(known string) bool {
		return name == fold(known)
	})
}

// fsck lets git check such files of a stored tree, each with the tree it is in:
// as a pack that is thrown away, since a whole fsck would cost as much as the
// repository is large. Errors: *UnsafeError.
func (q *Queue) fsck(ctx context.Context, objs *git.Objects, tree plumbing.Hash, changes []git.Change) error {
	var ids bytes.Buffer
	first := ""
	for _, f := range changes {
		if f.New == (git.Entry{}) || !readByGit(f.Path) {
			continue
		}
		folder := git.Entry{Hash: tree}
		file, err := objs.Lookup(tree, f.Path)
		if dir := path.Dir(f.Path); err == nil && dir != "." {
			folder, err = objs.Lookup(tree, dir)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(&ids, "%s\n%s\n", folder.Hash, file.Hash)
		if first == "" {
			first = f.Path
		}
	}
	if first == "" {
		return nil
	}
	return q.fsckPack(ctx, first, &ids)
}

func (q *Queue) fsckPack(ctx context.Context, first string, ids *bytes.Buffer) error {
	dir, err := os.MkdirTemp(q.repo.State, "fsck-")
	if err != nil {
		return fmt.Errorf("check objects: %w", err)
	}
	defer os.RemoveAll(dir)
	pack := filepath.Join(dir, "check.pack")
	data, err := q.repo.Output(ctx, git.Call{Args: []string{"pack-objects", "-q", "--stdout"}, Stdin: ids})
	if err == nil {
		err = os.WriteFile(pack, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("check objects: %w", err)
	}
	err = q.repo.Do(ctx, git.Call{Args: []string{"index-pack", "--fsck-objects", "-o", filepath.Join(dir, "check.idx"), pack}})
	var exit *git.ExitError
	if asExit(err, &exit) {
		return &UnsafeError{Path: first, Why: "git fsck refuses it or a file like it: " + oneLine(exit.Stderr)}
	}
	return err
}
