package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Bounds on what a .gitmodules file can make us look for.
const (
	maxModules = 1000
	maxNested  = 8
)

// module is a submodule that a tree names.
type module struct {
	path    string        // from the root of the outermost tree
	commit  plumbing.Hash // that the tree names
	tree    plumbing.Hash // of commit
	objects string        // its object folder
	why     string        // why its files are not here, "" where they are
}

// moduleSearch finds the submodules of a tree, and those inside of them. What
// they hold is read from their own object folders, as they are on this machine:
// nothing is fetched, and no file of their work trees is opened but .git itself.
type moduleSearch struct {
	repo  *git.Repo
	found []module
}

// findModules lists the submodules of a tree, outer ones before inner ones.
func findModules(ctx context.Context, repo *git.Repo, tree plumbing.Hash) ([]module, error) {
	s := &moduleSearch{repo: repo}
	level := []module{{tree: tree}}
	for depth := 0; len(level) > 0 && depth < maxNested; depth++ {
		next, err := s.level(ctx, level)
		if err != nil {
			return nil, fmt.Errorf("find submodules: %w", err)
		}
		level = next
	}
	return s.found, nil
}

// level finds the submodules that are named by the trees of those above, and
// returns the ones whose files are here.
func (s *moduleSearch) level(ctx context.Context, above []module) ([]module, error) {
	first := len(s.found)
	repo := s.repo.Overlay("", objectFolders(s.found)...)
	objects := repo.Objects(ctx)
	for _, m := range above {
		named, err := namedModules(ctx, repo, objects, m)
		if err != nil {
			return nil, errors.Join(err, objects.Close())
		}
		s.found = append(s.found, named[:min(len(named), maxModules-len(s.found))]...)
	}
	if err := objects.Close(); err != nil || len(s.found) == first {
		return nil, err
	}
	return s.open(ctx, s.found[first:])
}

// open finds the trees of submodules, or why these are not here.
func (s *moduleSearch) open(ctx context.Context, named []module) ([]module, error) {
	for i := range named {
		if named[i].objects = moduleObjects(s.repo.Dir, named[i].path); named[i].objects == "" {
			named[i].why = whyNotInitialised
		}
	}
	objects := s.repo.Overlay("", objectFolders(s.found)...).Objects(ctx)
	var there []module
	for i := range named {
		m := &named[i]
		if m.why != "" {
			continue
		}
		c, err := objects.Commit(m.commit)
		switch {
		case errors.Is(err, git.ErrMissing):
			m.why = whyNotFetched
		case err != nil:
			return nil, errors.Join(err, objects.Close())
		default:
			m.tree = c.TreeHash
			there = append(there, *m)
		}
	}
	return there, objects.Close()
}

func objectFolders(all []module) []string {
	var dirs []string
	for _, m := range all {
		if m.objects != "" {
			dirs = append(dirs, m.objects)
		}
	}
	return dirs
}

// namedModules reads the .gitmodules file of a tree. One that git cannot read
// names none.
func namedModules(ctx context.Context, repo *git.Repo, objects *git.Objects, in module) ([]module, error) {
	file, err := objects.Lookup(in.tree, ".gitmodules")
	if err != nil || !file.Mode.IsRegular() && file.Mode != filemode.Executable {
		return nil, err
	}
	out, err := repo.Output(ctx, git.Call{Args: []string{
		"config", "--blob", file.Hash.String(), "-z", "--get-regexp", `^submodule\..*\.path$`}})
	if errors.As(err, new(*git.ExitError)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []module
	for _, pair := range splitNUL(string(out)) {
		_, p, _ := strings.Cut(pair, "\n")
		if p = strings.TrimSuffix(p, "/"); !safePath(p) || len(all) >= maxModules {
			continue
		}
		e, err := objects.Lookup(in.tree, p)
		if err != nil {
			return nil, err
		}
		full := path.Join(in.path, p)
		known := slices.ContainsFunc(all, func(m module) bool { return m.path == full })
		if e.Mode == filemode.Submodule && !known {
			all = append(all, module{path: full, commit: e.Hash})
		}
	}
	return all, nil
}

// moduleObjects returns the object folder of the repository whose work tree is
// at a path below dir, "" where there is none. It reads what git wrote there
// itself, since to ask git costs a process for each.
func moduleObjects(dir, p string) string {
	at := dir
	for part := range strings.SplitSeq(p, "/") {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return ""
		}
	}
	gitDir := filepath.Join(at, ".git")
	if target, ok := pathIn(gitDir, "gitdir: "); ok {
		gitDir = absolute(at, target)
	}
	if common, ok := pathIn(filepath.Join(gitDir, "commondir"), ""); ok {
		gitDir = absolute(gitDir, common)
	}
	objects := filepath.Join(gitDir, "objects")
	if info, err := os.Stat(objects); err != nil || !info.IsDir() {
		return ""
	}
	return objects
}

// pathIn reads the path in a file of one line.
func pathIn(name, prefix string) (string, bool) {
	const most = 1 << 14
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return "", false
	}
	data, err := os.ReadFile(name)
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	return filepath.FromSlash(target), err == nil && ok
}

func absolute(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}
