package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// view makes the tree that an export shows of a snapshot: in place of each
// submodule whose files are here the tree of its commit, and in place of LFS
// pointers what they point to. What it writes lies in the export alone.
func (e *exporter) view(ctx context.Context) (tree plumbing.Hash, err error) {
	tree = e.snap.Tree
	for i, m := range e.modules {
		if m.why != "" {
			continue
		}
		if tree, err = e.put(ctx, tree, i); err != nil {
			return tree, err
		}
	}
	if e.snap.LFS {
		return e.fill(ctx, tree)
	}
	return tree, nil
}

// put puts the files of the i-th submodule into a tree, but for what is left out.
func (e *exporter) put(ctx context.Context, tree plumbing.Hash, i int) (plumbing.Hash, error) {
	m := e.modules[i]
	hidden, err := hiddenIn(ctx, e.store, e.objects, m)
	if err != nil {
		return tree, err
	}
	var gone []git.Change
	for p := range hidden {
		gone = append(gone, git.Change{Path: p})
	}
	for _, l := range e.snap.LeftOut {
		if strings.HasPrefix(l.Path, m.path+"/") && !e.isModule(l.Path, i) {
			gone = append(gone, git.Change{Path: l.Path})
		}
	}
	files := git.Change{Path: m.path, New: git.Entry{Mode: filemode.Dir, Hash: m.tree}}
	tree, err = e.objects.Rewrite(tree, []git.Change{files})
	if err != nil || len(gone) == 0 {
		return tree, err
	}
	return e.objects.Rewrite(tree, gone)
}

// isModule reports whether a path is one of the submodules from the i-th on.
func (e *exporter) isModule(p string, i int) bool {
	return slices.ContainsFunc(e.modules[i:], func(m module) bool { return m.path == p })
}

// hiddenIn returns the files of a submodule's tree that stay outside by their
// names, as full paths with the reasons. What a tree holds of them is kept, for
// it never changes.
func hiddenIn(ctx context.Context, s *Store, objects *git.Objects, m module) (map[string]string, error) {
	rules, why := newNames(), map[string]string{}
	name := fmt.Sprintf("modules/%s-%x", m.tree, sha256.Sum256([]byte(fmt.Sprint(rules))))
	var paths [][]byte
	data, err := s.repo.ReadState(name)
	if err != nil || json.Unmarshal(data, &paths) != nil {
		all, err := objects.Diff(plumbing.ZeroHash, m.tree)
		if err != nil {
			return nil, err
		}
		paths = [][]byte{}
		for _, c := range all {
			if rules.why(c.Path, true) != "" {
				paths = append(paths, []byte(c.Path))
			}
		}
		if data, err = json.Marshal(paths); err != nil {
			return nil, err
		}
		if err := s.repo.WriteState(name, data); err != nil {
			return nil, err
		}
	}
	for _, p := range paths {
		why[m.path+"/"+string(p)] = rules.why(string(p), true)
	}
	return why, ctx.Err()
}
