package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// repoPaths takes what followed "--", from where the user stands, as paths from
// the top of the work tree, with slashes.
func (a *app) repoPaths(r *git.Repo) ([]string, error) {
	var paths []string
	for _, p := range a.paths {
		full := p
		if !filepath.IsAbs(p) {
			full = filepath.Join(r.Dir, filepath.FromSlash(r.Prefix), p)
		}
		rel, err := filepath.Rel(r.Dir, full)
		rel = filepath.ToSlash(rel)
		if p == "" || err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("%q is no path in this work tree", p), hints: []string{"paths start where you stand; the work tree begins at " + r.Dir}}
		}
		paths = append(paths, rel)
	}
	return paths, nil
}
