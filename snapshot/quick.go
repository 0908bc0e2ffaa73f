package snapshot

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gitindex "github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// What a pass may stage without the private index: writing that costs as much as
// the repository is large, this as much as the change. Each pass stages it again
// until it is more than this.
const (
	quickFiles = 200     // at most, and fewer where the index is small
	quickBytes = 8 << 20 // of all files together
)

// most is how many files may be staged so beside an index of that size in bytes.
func most(index int64) int { return int(min(16+index/20000, quickFiles)) }

func (m memory) clone() memory {
	m.Extras, m.Absent = maps.Clone(m.Extras), maps.Clone(m.Absent)
	m.Links, m.Rules = maps.Clone(m.Links), maps.Clone(m.Rules)
	m.Mods, m.Attrs = maps.Clone(m.Mods), maps.Clone(m.Attrs)
	m.Creds, m.Folders = maps.Clone(m.Creds), maps.Clone(m.Folders)
	return m
}

// quick stages a small change in a scratch index of its own, and puts what comes
// out into the tree of the private index, which stays as it is. It reports false
// where the change is not of that kind, or a file of it cannot be staged.
func (st *staging) quick(ctx context.Context, known memory) (bool, error) {
	if !st.isQuick() {
		return false, nil
	}
	entries := map[string]*gitindex.Entry{}
	if len(st.add) > 0 {
		var err error
		warm := make(chan error, 1)
		go func() { _, err := st.objects.Tree(known.Tree); warm <- err }()
		entries, err = st.scratch(ctx)
		if lost := <-warm; lost != nil {
			return false, lost
		}
		var exit *git.ExitError
		if errors.As(err, &exit) {
			return false, nil // the private index finds which file it is
		}
		if err != nil {
			return false, err
		}
	}
	tree, err := st.objects.Rewrite(known.Tree, st.changes(entries))
	if err != nil {
		return false, err
	}
	st.tree, st.before = tree, &known
	return true, nil
}

func (st *staging) isQuick() bool {
	x := st.index
	n := len(st.add) + len(st.drop)
	if x.fresh || x.dirty || x.mem.Flags || x.mem.Tree.IsZero() || !st.knows() || len(x.lenient) > 0 || n == 0 {
		return false
	}
	if own, err := os.Stat(x.path); err != nil || n > most(own.Size()) {
		return false
	}
	if slices.ContainsFunc(st.status.changed, func(r record) bool { return r.open || r.link }) {
		return false
	}
	var bytes int64
	for p := range st.add {
		info, err := st.lstat(p)
		if err != nil || !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
			return false
		}
		bytes += info.Size()
	}
	return bytes <= quickBytes
}

// scratch stages what is to be added in an index that holds just these paths, as
// the private index has them: git looks there for modes and line ends.
func (st *staging) scratch(ctx context.Context) (map[string]*gitindex.Entry, error) {
	var was gitindex.Index
	was.Version = 2
	for _, r := range st.status.changed {
		mode, err := strconv.ParseUint(r.mode, 8, 32)
		if _, ok := st.add[r.path]; !ok || err != nil || mode == 0 || r.hash.IsZero() {
			continue
		}
		was.Entries = append(was.Entries, &gitindex.Entry{Name: r.path, Mode: filemode.FileMode(mode), Hash: r.hash})
	}
	path := st.index.path + ".quick"
	if err := errors.Join(remove(path+".lock"), writeIndex(path, &was)); err != nil {
		return nil, err
	}
	defer func() { _ = remove(path) }()
	err := st.index.repo.Do(ctx, git.Call{
		Args:  []string{"update-index", "-z", "--add", "--remove", "--replace", "--stdin"},
		Index: path, Config: []string{"core.safecrlf=false"},
		Stdin: strings.NewReader(strings.Join(slices.Sorted(maps.Keys(st.add)), "\x00") + "\x00"),
	})
	if err != nil {
		return nil, errors.Join(err, remove(path+".lock"))
	}
	return readIndex(path)
}

func writeIndex(path string, index *gitindex.Index) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f) // the encoder writes field by field
	return errors.Join(gitindex.NewEncoder(w).Encode(index), w.Flush(), f.Close())
}

func readIndex(path string) (map[string]*gitindex.Entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var index gitindex.Index
	if err := gitindex.NewDecoder(f).Decode(&index); err != nil {
		return nil, err
	}
	entries := map[string]*gitindex.Entry{}
	for _, e := range index.Entries {
		entries[e.Name] = e
	}
	return entries, nil
}

// changes are what the plan does to the tree of the private index.
func (st *staging) changes(entries map[string]*gitindex.Entry) []git.Change {
	var all []git.Change
	for p := range st.drop {
		if _, back := st.add[p]; !back {
			all = append(all, git.Change{Path: p})
		}
	}
	for p := range st.add {
		c := git.Change{Path: p}
		if e := entries[p]; e != nil {
			c.New = git.Entry{Mode: e.Mode, Hash: e.Hash}
		}
		all = append(all, c)
	}
	return all
}

// stagedRef keeps a tree that the private index does not hold.
func (s *Store) stagedRef(tree plumbing.Hash) git.RefUpdate {
	return git.RefUpdate{Name: stagedRefs + s.repo.Key(), New: tree, Any: true}
}
