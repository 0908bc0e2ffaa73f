package session

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
)

// maxModuleFile bounds a go.mod or go.sum that is read, in bytes.
const maxModuleFile = 16 << 20

// modules lists what the go.mod and go.sum files of the task's start name: those
// at the top, in the folders right below it, and on the way to where the user
// stands.
func (r *run) modules(ctx context.Context) []string {
	objs := r.Repo.Objects(ctx)
	defer objs.Close()
	top, err := objs.Tree(r.startTree)
	if err != nil {
		return nil
	}
	dirs := []string{"."}
	for _, e := range top.Entries {
		if e.Mode == filemode.Dir {
			dirs = append(dirs, e.Name)
		}
	}
	for dir := strings.Trim(r.Repo.Prefix, "/"); dir != "." && dir != ""; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	var files [][]byte
	for _, dir := range slices.Compact(dirs) {
		for _, name := range []string{"go.mod", "go.sum"} {
			e, err := objs.Lookup(r.startTree, path.Join(dir, name))
			if err != nil || !e.Mode.IsFile() || e.Mode == filemode.Symlink {
				continue
			}
			if text, err := objs.Blob(e.Hash); err == nil && len(text) <= maxModuleFile {
				files = append(files, text)
			}
		}
	}
	return registry.GoModules(files...)
}
