package git

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// errRaw says that git printed something else than was asked for.
var errRaw = errors.New("read raw diff: unknown format")

// ParseRaw reads what "git diff-index --raw -z --no-abbrev --no-renames" and its
// like print. Of an unmerged path each line counts.
func ParseRaw(out []byte) ([]Change, error) {
	var all []Change
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(out) == 0 {
		return nil, nil
	}
	if len(fields)%2 != 0 {
		return nil, errRaw
	}
	for i := 0; i < len(fields); i += 2 {
		words := strings.Fields(strings.TrimPrefix(string(fields[i]), ":"))
		if len(words) != 5 {
			return nil, errRaw
		}
		old, err := rawEntry(words[0], words[2])
		if err != nil {
			return nil, err
		}
		is, err := rawEntry(words[1], words[3])
		if err != nil {
			return nil, err
		}
		all = append(all, Change{Path: string(fields[i+1]), Old: old, New: is})
	}
	return all, nil
}

// rawEntry reads one side. A side without an object name is none, or, with
// intent to add, nothing yet.
func rawEntry(mode, hash string) (Entry, error) {
	m, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || !plumbing.IsHash(hash) {
		return Entry{}, errRaw
	}
	e := Entry{Mode: filemode.FileMode(m), Hash: plumbing.NewHash(hash)}
	if m == 0 || e.Hash.IsZero() {
		return Entry{}, nil
	}
	return e, nil
}

// Introduced returns what a commit has that none of its parents has, and the tree
// of its first parent, zero where it has none. commit is the hex name of the
// commit and of its parents, as "git rev-list --parents" prints them.
func (o *Objects) Introduced(commit []string) (base plumbing.Hash, changes []Change, err error) {
	trees := make([]plumbing.Hash, len(commit))
	for i, name := range commit {
		c, err := o.Commit(plumbing.NewHash(name))
		if err != nil {
			return base, nil, err
		}
		trees[i] = c.TreeHash
	}
	if len(trees) > 1 {
		base = trees[1]
	}
	if changes, err = o.Diff(base, trees[0]); err != nil {
		return base, nil, err
	}
	for _, parent := range trees[min(2, len(trees)):] {
		others, err := o.Diff(parent, trees[0])
		if err != nil {
			return base, nil, err
		}
		changes = slices.DeleteFunc(changes, func(c Change) bool {
			_, differs := slices.BinarySearchFunc(others, c, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
			return !differs
		})
	}
	return base, changes, nil
}
