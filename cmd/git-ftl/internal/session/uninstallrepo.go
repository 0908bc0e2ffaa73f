package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// configFile is one of the repository's own config files and the sections in it
// that are git-ftl's.
type configFile struct {
	path     string
	sections []string
}

// findConfig finds ftl.* in the config files of the repository and its work trees,
// and names what the user has elsewhere.
func (u *uninstall) findConfig(ctx context.Context) error {
	files := []string{filepath.Join(u.Repo.CommonDir, "config"), filepath.Join(u.Repo.CommonDir, "config.worktree")}
	linked, err := u.Repo.LinkedTrees()
	if err != nil {
		return err
	}
	for _, tree := range linked {
		files = append(files, filepath.Join(tree.GitDir, "config.worktree"))
	}
	for _, f := range files {
		if err := u.findSections(ctx, f); err != nil {
			return err
		}
	}
	out, err := u.Repo.Output(ctx, git.Call{Args: []string{"config", "--includes", "--show-origin", "-z", "--name-only", "--get-regexp", `^ftl\.`}})
	if none(err) {
		return nil
	}
	seen := map[string]bool{}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		origin := strings.TrimPrefix(fields[i], "file:")
		if !filepath.IsAbs(origin) {
			origin = filepath.Join(u.Repo.Dir, origin)
		}
		if line := fields[i+1] + origin; !seen[line] && !slices.ContainsFunc(files, func(f string) bool { return sameFile(f, origin) }) {
			seen[line] = true
			u.out.Kept = append(u.out.Kept, Collected{What: "setting", Name: fields[i+1], Why: "in " + origin})
		}
	}
	return err
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// none tells that git config found nothing.
func none(err error) bool {
	var exit *git.ExitError
	return errors.As(err, &exit) && exit.Code == 1
}

func (u *uninstall) findSections(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	keys, err := u.ownKeys(ctx, path)
	if err != nil || len(keys) == 0 {
		return err
	}
	f := configFile{path: path}
	for _, key := range keys {
		section := key[:strings.LastIndexByte(key, '.')]
		if !slices.Contains(f.sections, section) {
			f.sections = append(f.sections, section)
		}
		u.removes(Collected{What: "setting", Name: key, Why: "in " + path})
	}
	u.out.files = append(u.out.files, f)
	return nil
}

// ownKeys lists the settings of git-ftl in one file.
func (u *uninstall) ownKeys(ctx context.Context, path string) ([]string, error) {
	out, err := u.Repo.Output(ctx, git.Call{Args: []string{"config", "--file", path, "--no-includes", "-z", "--name-only", "--get-regexp", `^ftl\.`}})
	if none(err) {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// dropConfig removes the sections. A config.worktree that held nothing else was
// made for them.
func (u *uninstall) dropConfig(ctx context.Context) error {
	for _, f := range u.out.files {
		if err := u.dropSections(ctx, f); err != nil {
			return fmt.Errorf("remove settings from %s: %w", f.path, err)
		}
		if info, err := os.Stat(f.path); err == nil && info.Size() == 0 && filepath.Base(f.path) == "config.worktree" {
			if err := os.Remove(f.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropSections removes whole sections, which leaves no trace of them, and then
// what is left one by one: git does not find a section by another case than its
// own, as in [FTL].
func (u *uninstall) dropSections(ctx context.Context, f configFile) error {
	var exit *git.ExitError
	for _, section := range f.sections {
		err := u.Repo.Do(ctx, git.Call{Args: []string{"config", "--file", f.path, "--remove-section", section}})
		if err != nil && !errors.As(err, &exit) {
			return err
		}
	}
	left, err := u.ownKeys(ctx, f.path)
	for _, key := range left {
		if err := u.Repo.Do(ctx, git.Call{Args: []string{"config", "--file", f.path, "--unset-all", key}}); err != nil {
			return err
		}
	}
	return err
}

// dropRefs deletes all refs in one transaction, and those of each linked work tree
// in another.
func (u *uninstall) dropRefs(ctx context.Context) error {
	if len(u.out.refs) > 0 {
		if err := u.Repo.UpdateRefs(ctx, "", u.out.refs...); err != nil {
			return err
		}
	}
	linked, err := u.Repo.LinkedTrees()
	if err != nil {
		return err
	}
	for _, tree := range linked {
		refs, err := tree.Refs(ctx, "refs/worktree/ftl/")
		if err != nil {
			return err
		}
		var updates []git.RefUpdate
		for name := range refs {
			updates = append(updates, git.RefUpdate{Name: name, Any: true})
		}
		if len(updates) == 0 {
			continue
		}
		if err := tree.UpdateRefs(ctx, "", updates...); err != nil {
			return err
		}
	}
	return nil
}

// dropFolders removes the folders that refs and reflogs leave behind: what is
// git-ftl's alone with all that is in it, what others can use where it is empty and
// was not there before.
func (u *uninstall) dropFolders(context.Context) error {
	before := u.foldersBefore()
	for i, dir := range u.gitDirs() {
		for _, own := range []string{"refs/ftl", "refs/worktree/ftl", "logs/refs/ftl", "logs/refs/worktree/ftl", "logs/refs/notes/ftl"} {
			if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(own))); err != nil {
				return err
			}
		}
		shared := sharedFolders()
		if i > 0 {
			shared = append(shared, "refs") // newer versions of git make it for every work tree
		}
		for _, name := range shared {
			if name := filepath.Join(dir, filepath.FromSlash(name)); !before[name] {
				_ = os.Remove(name) // where it is empty
			}
		}
	}
	return nil
}

// sharedFolders are those that git makes for refs of git-ftl and for others too,
// each after those in it.
func sharedFolders() []string {
	return []string{"refs/notes", "refs/worktree", "logs/refs/notes", "logs/refs/worktree", "logs/refs", "logs"}
}

// gitDirs are the git dirs of all work trees, the common one first.
func (s *Session) gitDirs() []string {
	dirs := []string{s.Repo.CommonDir}
	linked, _ := s.Repo.LinkedTrees()
	for _, tree := range linked {
		dirs = append(dirs, tree.GitDir)
	}
	return dirs
}

const foldersFile = "folders.json"

// rememberFolders notes which of the folders that git-ftl's refs share with others
// are there before its first one in this work tree, so that an uninstall can leave
// them.
func (s *Session) rememberFolders() error {
	seen := s.foldersBefore()
	if seen[s.Repo.GitDir] {
		return nil
	}
	for _, dir := range []string{s.Repo.CommonDir, s.Repo.GitDir} {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		for _, name := range append(sharedFolders(), "refs") {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if _, err := os.Stat(name); err == nil {
				seen[name] = true
			}
		}
	}
	data, err := json.Marshal(seen)
	if err != nil {
		return err
	}
	return s.Repo.WriteState(foldersFile, data)
}

func (s *Session) foldersBefore() map[string]bool {
	seen := map[string]bool{}
	if data, err := s.Repo.ReadState(foldersFile); err == nil {
		_ = json.Unmarshal(data, &seen) // a broken one is none
	}
	return seen
}
