package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Scanner looks into files that a snapshot would hold, and says of some that they
// have to stay outside. Look may be called by several goroutines at once.
type Scanner struct {
	Generation string // another one where Look would say something else of the same bytes
	Look       func(r io.Reader) (why string, err error)
}

// scanned is what is remembered of looking into files.
type scanned struct {
	Generation string
	Tree       plumbing.Hash      // every file of it was looked into, and may stay
	Held       reasons            // files that stay outside
	Modules    map[string]reasons // likewise of submodules, by their trees
}

// reasons are sentences by path, of any encoding.
type reasons map[string]string

// MarshalJSON writes paths and reasons, each with a NUL behind it, in base64.
func (r reasons) MarshalJSON() ([]byte, error) {
	var raw []byte
	for _, p := range slices.Sorted(maps.Keys(r)) {
		raw = append(raw, p+"\x00"+r[p]+"\x00"...)
	}
	return json.Marshal(raw)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *reasons) UnmarshalJSON(data []byte) error {
	var raw []byte
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*r = reasons{}
	for pair := range slices.Chunk(splitNUL(string(raw)), 2) {
		if len(pair) == 2 {
			(*r)[pair[0]] = pair[1]
		}
	}
	return nil
}

// openScanner asks the caller for what looks into files, now that it is known
// which ones are left out by their names.
func (st *staging) openScanner() (err error) {
	if st.opt.Scan == nil {
		return nil
	}
	st.scanner, err = st.opt.Scan(st.staged().LeftOut)
	if err == nil && st.scanner.Look != nil {
		st.held, st.modules = reasons{}, map[string]reasons{}
	}
	return err
}

// knows reports whether the scanner is the one that looked into the last tree.
func (st *staging) knows() bool {
	return st.held == nil || st.index.mem.Scan.Generation == st.scanner.Generation
}

// lookAhead looks into files before any byte of them enters the object store. What
// does enter is looked into again: a file can change meanwhile.
func (st *staging) lookAhead() error {
	if st.held == nil {
		return nil
	}
	for p, o := range st.add {
		why, err := st.lookAt(p)
		if err != nil {
			return fmt.Errorf("look into %s: %w", p, err)
		}
		if why != "" {
			st.hold(p, why, o)
		}
	}
	return nil
}

func (st *staging) hold(p, why string, o origin) {
	st.held[p] = why
	st.leave(p, why, o)
}

// lookAt looks into a file of the work tree. What cannot be read is for git to
// find out.
func (st *staging) lookAt(p string) (string, error) {
	full := filepath.Join(st.index.repo.Dir, filepath.FromSlash(p))
	info, err := st.lstat(p)
	switch {
	case err != nil:
		return "", nil
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(full)
		return st.scanner.Look(strings.NewReader(p + "\n" + target))
	case !info.Mode().IsRegular():
		return "", nil
	}
	f, err := os.OpenFile(full, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe by now
	if err != nil {
		return "", nil
	}
	defer func() { _ = f.Close() }()
	return st.scanner.Look(io.MultiReader(strings.NewReader(p+"\n"), f))
}

// lookInto looks into all that the tree has and the last one looked into had not,
// and takes out of it what has to stay outside.
func (st *staging) lookInto(ctx context.Context) error {
	if st.held == nil {
		return nil
	}
	mem := &st.index.mem
	from := mem.Scan.Tree
	if !st.knows() {
		from, mem.Scan.Modules = plumbing.ZeroHash, nil
	}
	changes, err := st.objects.Diff(from, st.tree)
	if errors.Is(err, git.ErrMissing) && !from.IsZero() { // it was pruned
		changes, err = st.objects.Diff(plumbing.ZeroHash, st.tree)
	}
	if err != nil {
		return fmt.Errorf("compare with the last tree: %w", err)
	}
	found, err := st.scanner.lookAll(ctx, st.index.repo, changes)
	if err != nil {
		return err
	}
	if err := st.withdraw(ctx, found); err != nil {
		return err
	}
	mem.Scan = scanned{Generation: st.scanner.Generation, Tree: st.tree, Held: st.held, Modules: mem.Scan.Modules}
	return nil
}

// withdraw takes files out of the tree that was made.
func (st *staging) withdraw(ctx context.Context, found reasons) (err error) {
	if len(found) == 0 {
		return nil
	}
	paths := slices.Sorted(maps.Keys(found))
	for _, p := range paths {
		st.hold(p, found[p], origin{tracked: !st.index.mem.Extras[p], inside: true})
	}
	if st.before == nil {
		if err := st.index.set(ctx, paths, nil); err != nil {
			return err
		}
		return st.writeTree(ctx)
	}
	gone := make([]git.Change, len(paths))
	for i, p := range paths {
		gone[i] = git.Change{Path: p}
	}
	st.tree, err = st.objects.Rewrite(st.tree, gone)
	return err
}

// Held looks into what a tree has and another has not, which was looked into, and
// gives the files that would have to stay outside, by path.
func (s *Store) Held(ctx context.Context, looked, tree plumbing.Hash, scan Scanner) ([]LeftOut, error) {
	if scan.Look == nil {
		return nil, nil
	}
	objects := s.repo.Objects(ctx)
	defer func() { _ = objects.Close() }()
	changes, err := objects.Diff(looked, tree)
	if err != nil {
		return nil, fmt.Errorf("look into tree %s: %w", tree, err)
	}
	found, err := scan.lookAll(ctx, s.repo, changes)
	var held []LeftOut
	for _, p := range slices.Sorted(maps.Keys(found)) {
		held = append(held, LeftOut{p, found[p]})
	}
	return held, err
}

// alone is how many files one reader looks into; more readers are worth their
// start where there are more.
const alone = 500

// lookAll looks into the new side of changes, each blob of a path of its own.
func (s Scanner) lookAll(ctx context.Context, repo *git.Repo, changes []git.Change) (reasons, error) {
	changes = slices.DeleteFunc(changes, func(c git.Change) bool {
		return !c.New.Mode.IsFile() || c.New.Mode == filemode.Submodule
	})
	if len(changes) == 0 {
		return nil, nil
	}
	readers := min(1+len(changes)/alone, runtime.NumCPU(), 4)
	share := (len(changes) + readers - 1) / readers
	found, mu := reasons{}, sync.Mutex{}
	var look []func() error
	for part := range slices.Chunk(changes, share) {
		look = append(look, func() error {
			some, err := s.lookPart(ctx, repo, part)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(found, some)
			return err
		})
	}
	return found, parallel(look...)
}

func (s Scanner) lookPart(ctx context.Context, repo *git.Repo, part []git.Change) (reasons, error) {
	objects := repo.Objects(ctx)
	defer func() { _ = objects.Close() }()
	found := reasons{}
	for _, c := range part {
		err := objects.Stream(c.New.Hash, plumbing.BlobObject, func(_ int64, r io.Reader) error {
			why, err := s.Look(io.MultiReader(strings.NewReader(c.Path+"\n"), r))
			if why != "" {
				found[c.Path] = why
			}
			return err
		})
		if err != nil {
			return found, fmt.Errorf("look into %s: %w", c.Path, err)
		}
	}
	return found, nil
}

// lookIntoModule names the files of a submodule that have to stay outside.
func (st *staging) lookIntoModule(ctx context.Context, repo *git.Repo, objects *git.Objects, m module) error {
	if st.held == nil {
		return nil
	}
	key := m.tree.String()
	held, known := st.index.mem.Scan.Modules[key]
	if !known {
		changes, err := objects.Diff(plumbing.ZeroHash, m.tree)
		if err != nil {
			return err
		}
		if held, err = st.scanner.lookAll(ctx, repo, changes); err != nil {
			return err
		}
	}
	st.modules[key] = held
	for p, why := range held {
		st.left[m.path+"/"+p] = why
	}
	return nil
}
