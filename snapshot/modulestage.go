package snapshot

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// nameModules says of submodules which files the sandbox does not see: all of
// those that are not here, edits inside the others, and files that stay outside
// by their names.
func (st *staging) nameModules(ctx context.Context) error {
	x := st.index
	if len(x.mem.Mods) == 0 {
		return nil
	}
	modules, err := findModules(ctx, x.repo, st.tree)
	if err != nil {
		return err
	}
	overlay := x.repo.Overlay("", objectFolders(modules)...)
	objects := overlay.Objects(ctx)
	defer func() { _ = objects.Close() }()
	var here []string
	named := pathSet{}
	for _, m := range modules {
		named[m.path] = true
		if m.why != "" {
			st.left[m.path] = m.why
			continue
		}
		here = append(here, m.path)
		hidden, err := hiddenIn(ctx, &Store{x.repo}, objects, m)
		if err != nil {
			return err
		}
		if err := st.hideInModule(ctx, objects, m); err != nil {
			return err
		}
		if err := st.lookIntoModule(ctx, overlay, objects, m); err != nil {
			return err
		}
		maps.Copy(st.left, hidden)
	}
	if st.held != nil {
		x.mem.Scan.Modules = st.modules
	}
	if err := st.nameUnknown(named); err != nil {
		return err
	}
	return st.nameEdits(ctx, here)
}

// hideInModule leaves out what .ftlignore matches of a submodule's files.
func (st *staging) hideInModule(ctx context.Context, objects *git.Objects, m module) error {
	if !st.rules.ignore {
		return nil
	}
	all, err := objects.Diff(plumbing.ZeroHash, m.tree)
	if err != nil {
		return err
	}
	hidden, err := st.hiddenOf(ctx, func(yield func(string) bool) {
		for _, c := range all {
			if !yield(m.path + "/" + c.Path) {
				return
			}
		}
	})
	for _, p := range hidden {
		st.left[p] = whyIgnored
	}
	return err
}

// nameUnknown names repositories in the index that no .gitmodules file knows.
func (st *staging) nameUnknown(named pathSet) error {
	for p := range st.index.mem.Mods {
		if named[p] || st.left[p] != "" {
			continue
		}
		e, err := st.objects.Lookup(st.tree, p)
		if err != nil {
			return err
		}
		if e.Mode == filemode.Submodule {
			st.left[p] = whyModuleUnknown
		}
	}
	return nil
}

// nameEdits asks git which submodules have edits of their own, by the user's
// index and without refreshing any.
func (st *staging) nameEdits(ctx context.Context, modules []string) error {
	outer := slices.DeleteFunc(slices.Clone(modules), func(p string) bool { return !st.index.mem.Mods[p] })
	if len(outer) == 0 {
		return nil
	}
	out, err := st.index.repo.Output(ctx, git.Call{Args: append([]string{
		"status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=none", "--"}, outer...)})
	if err != nil {
		return err
	}
	for _, line := range splitNUL(string(out)) {
		f := strings.SplitN(line, " ", 9)
		if len(f) == 9 && f[0] == "1" && len(f[2]) == 4 && f[2][0] == 'S' && (f[2][2] == 'M' || f[2][3] == 'U') {
			st.left[f[8]] = whyModuleEdits
		}
	}
	return nil
}
