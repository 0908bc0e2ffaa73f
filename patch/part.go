package patch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Part is a part of a result, as the tree that it leads to.
type Part struct {
	Have plumbing.Hash // what the result had been applied of when it was chosen
	Tree plumbing.Hash // Have with the part
}

// ErrPaths says that a path to apply names nothing of what is left of the
// result.
var ErrPaths = errors.New("names nothing of what is left")

// choose picks what of the rest of the result is taken.
func (a *apply) choose(context.Context) error {
	a.theirs = a.r.Tree
	if a.o.Part != nil {
		a.theirs = a.o.Part.Tree
		return nil
	}
	if len(a.o.Paths) == 0 {
		return nil
	}
	left, err := a.objs.Diff(a.r.Have, a.r.Tree)
	if err != nil {
		return err
	}
	picked, err := pick(left, a.o.Paths)
	if err != nil {
		return err
	}
	a.theirs, err = a.objs.Rewrite(a.r.Have, picked)
	return err
}

// pick takes the changes that paths name, all where there are none. Errors:
// ErrPaths for a path that names none.
func pick(all []git.Change, paths []string) ([]git.Change, error) {
	for _, p := range paths {
		if !slices.ContainsFunc(all, func(c git.Change) bool { return named([]string{p}, c.Path) }) {
			return nil, fmt.Errorf("%s %w", quoted(p), ErrPaths)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c git.Change) bool {
		return len(paths) > 0 && !named(paths, c.Path)
	}), nil
}

// named reports whether one of the paths is p or a folder above it.
func named(paths []string, p string) bool {
	return slices.ContainsFunc(paths, func(sel string) bool {
		sel = path.Clean(sel)
		return sel == "." || p == sel || strings.HasPrefix(p, sel+"/")
	})
}
