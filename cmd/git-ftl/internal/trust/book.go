package trust

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// bookFile is in the state folder.
const bookFile = "trust.json"

// Book is what the user has trusted in one project: for each work tree the newest
// content, so that an older one does not come back by a commit.
type Book struct {
	Project string `json:"project"` // identity of the repository
	Trees   []Tree `json:"trees"`   // the newest last
}

// Tree is what was trusted in one work tree.
type Tree struct {
	Key     string  `json:"key"` // as in git.Repo.Key
	Content Content `json:"content"`
}

// Open reads the book of a project. What another project wrote, such as the one
// that a folder was copied from, and what cannot be read holds nothing.
func Open(r *git.Repo, project string) Book {
	empty := Book{Project: project}
	data, err := r.ReadState(bookFile)
	if err != nil || project == "" {
		return empty
	}
	var b Book
	if json.Unmarshal(data, &b) != nil || b.Project != project {
		return empty
	}
	return b
}

// Covers reports whether exactly this content was trusted, in any work tree.
func (b Book) Covers(c Content) bool {
	digest := c.Digest()
	return slices.ContainsFunc(b.Trees, func(t Tree) bool { return t.Content.Digest() == digest })
}

// Before returns what was trusted last in a work tree, or else in another one.
func (b Book) Before(key string) (Content, bool) {
	for _, t := range b.Trees {
		if t.Key == key {
			return t.Content, true
		}
	}
	if n := len(b.Trees); n > 0 {
		return b.Trees[n-1].Content, true
	}
	return Content{}, false
}

// Take trusts a content in r, in place of what was trusted there before. What was
// trusted in work trees that are gone is forgotten.
func Take(ctx context.Context, r *git.Repo, project string, c Content) error {
	unlock, err := r.Lock(ctx, "trust")
	if err != nil {
		return err
	}
	defer unlock()
	there, err := keys(r)
	if err != nil {
		return err
	}
	b := Open(r, project)
	b.Trees = slices.DeleteFunc(b.Trees, func(t Tree) bool { return t.Key == r.Key() || !there[t.Key] })
	b.Trees = append(b.Trees, Tree{r.Key(), Content{Files: c.Files}})
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return r.WriteState(bookFile, data)
}

// keys are those of the work trees that are there.
func keys(r *git.Repo) (map[string]bool, error) {
	linked, err := r.LinkedTrees()
	if err != nil {
		return nil, err
	}
	there := map[string]bool{"main": true}
	for _, l := range linked {
		there[l.Key()] = true
	}
	return there, nil
}

// Forget takes all trust of a repository back, of all its work trees; false where
// there was none.
func Forget(ctx context.Context, r *git.Repo) (bool, error) {
	unlock, err := r.Lock(ctx, "trust")
	if err != nil {
		return false, err
	}
	defer unlock()
	err = os.Remove(r.Path(bookFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("forget trust: %w", err)
	}
	return true, nil
}
