package workspace

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/gitpatch"
	"github.com/git-ftl/git-ftl/container/internal/ignore"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// Change is how the workspace differs from its base.
type Change struct {
	Dropped []wire.Dropped // new paths that the patch leaves out, at most wire.MaxDropped
	root    *root
	tree    *root
	files   []fileChange // sorted by path
}

// fileChange has no old item for a new file and no new mode for a deleted one.
type fileChange struct {
	path string
	old  *item
	mode uint32 // git's
	size int64
	same bool // the content is the base's
}

// scan is one comparison of the workspace with the manifest.
type scan struct {
	*Change
	base  *manifest
	dirs  map[string]bool
	rules func() (*ignore.Rules, error)

	mu    sync.Mutex
	why   map[string]string // new folders that are left out
	err   error             // of reading the rules
	total int64
}

// Scan compares the workspace with the base of the last reset. Paths of the
// base are always compared; new ones are dropped by the base's ignore rules and
// a fixed list. The caller closes the change. Errors: ErrStale without a base,
// ErrTooBig over a bound.
func (s Space) Scan() (*Change, error) {
	base, err := s.loadManifest()
	if err != nil {
		return nil, fmt.Errorf("compare workspace: %w", err)
	}
	c := &Change{}
	if c.root, err = openRoot(s.Root); err != nil {
		return nil, err
	}
	if c.tree, err = openRoot(s.Tree); err != nil {
		c.root.close()
		return nil, err
	}
	d := &scan{Change: c, base: base, dirs: baseDirs(base.items), why: map[string]string{}}
	for i := range base.items {
		if base.items[i].mode == modeGitlink {
			d.why[base.items[i].path] = "submodule"
			delete(d.dirs, base.items[i].path)
		}
	}
	d.rules = sync.OnceValues(func() (*ignore.Rules, error) { return baseRules(c.tree, base.items, base.exclude) })
	if err := d.compare(); err != nil {
		c.Close()
		return nil, fmt.Errorf("compare workspace: %w", err)
	}
	return c, nil
}

// Close frees the descriptors.
func (c *Change) Close() {
	c.root.close()
	c.tree.close()
}

func (d *scan) compare() error {
	have, err := walk(d.root, ".git", d.enter)
	if err = errors.Join(err, d.err); err != nil {
		return err
	}
	at := 0
	for i := range have {
		e := &have[i]
		if e.isDir() {
			err = d.folder(e)
		} else {
			at, err = d.file(e, at)
		}
		if err != nil {
			return err
		}
	}
	d.deleted(at, len(d.base.items))
	return nil
}

// enter is called by two goroutines.
func (d *scan) enter(p string) bool {
	if _, ok := d.dirs[p]; ok {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.why[p] != "" {
		return false
	}
	why, err := d.drops(p, true)
	d.err = errors.Join(d.err, err)
	if why != "" {
		d.why[p] = why
	}
	return why == ""
}

func (d *scan) folder(e *entry) error {
	if e.entered {
		return nil
	}
	why := d.why[e.path]
	if len(e.path) > maxPath {
		why = "long path"
	}
	bytes, err := d.measure(e.path)
	if err != nil || why == "submodule" && bytes < 0 {
		return err
	}
	d.drop(e.path, max(bytes, 0), why)
	return nil
}

// drops says why a new path is left out, "" if it is not.
func (d *scan) drops(p string, dir bool) (string, error) {
	_, name := split(p)
	switch {
	case strings.EqualFold(name, ".git"):
		return "repository", nil
	case len(p) > maxPath:
		return "long path", nil
	case litter(name, dir):
		return "litter", nil
	}
	rules, err := d.rules()
	if err == nil && rules.Match(p, dir) {
		return "ignored", nil
	}
	return "", err
}

// litter names what tools leave behind and no project keeps.
func litter(name string, dir bool) bool {
	if !dir {
		return name == ".DS_Store" || strings.HasSuffix(name, ".pyc")
	}
	switch name {
	case "__pycache__", "node_modules", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox":
		return true
	}
	return false
}

func (d *scan) drop(p string, bytes int64, why string) {
	if len(d.Dropped) < wire.MaxDropped {
		d.Dropped = append(d.Dropped, wire.Dropped{Path: p[:min(len(p), maxPath)], Bytes: bytes, Why: why})
	}
}

// measure adds up the files of a folder, the first some thousand of them. It is
// -1 for an empty folder.
func (d *scan) measure(p string) (int64, error) {
	const enough = 5000
	if len(p) > maxPath || len(d.Dropped) == wire.MaxDropped {
		return 0, nil
	}
	bytes, seen := int64(-1), 0
	for todo := []string{p}; len(todo) > 0 && seen < enough; {
		entries, err := list(d.root, todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			bytes = max(bytes, 0)
			switch {
			case e.isDir() && len(e.path) <= maxPath:
				todo = append(todo, e.path)
			case e.kind() == unix.S_IFREG:
				bytes += e.size
			}
			seen++
		}
	}
	return bytes, nil
}

// list returns the entries of one folder.
func list(r *root, p string) ([]entry, error) {
	f := &folder{path: p}
	w := &walker{root: r, enter: func(string) bool { return false }}
	_, err := w.read(f, make([]byte, 32<<10))
	return f.entries, err
}

// file moves on to the item of e and returns the next one.
func (d *scan) file(e *entry, at int) (int, error) {
	items := d.base.items
	from := at
	for at < len(items) && items[at].path < e.path {
		at++
	}
	d.deleted(from, at)
	if at == len(items) || items[at].path != e.path {
		return at, d.added(e)
	}
	it := &items[at]
	if it.mode == modeGitlink {
		d.drop(e.path, e.size, "submodule")
		return at + 1, nil
	}
	if e.gitMode() == 0 {
		d.drop(e.path, 0, "special")
		d.deleted(at, at+1)
		return at + 1, nil
	}
	return at + 1, d.modified(e, it)
}

// deleted takes a missing submodule for an untouched one.
func (d *scan) deleted(from, to int) {
	for i := from; i < to; i++ {
		if it := &d.base.items[i]; it.mode != modeGitlink {
			d.files = append(d.files, fileChange{path: it.path, old: it})
		}
	}
}

func (d *scan) added(e *entry) error {
	why, err := d.drops(e.path, false)
	if err != nil {
		return err
	}
	if e.gitMode() == 0 && why == "" {
		why = "special"
	}
	if why != "" {
		d.drop(e.path, e.size, why)
		return nil
	}
	return d.change(fileChange{path: e.path, mode: e.gitMode(), size: e.size})
}

func (d *scan) modified(e *entry, it *item) error {
	f := fileChange{path: e.path, old: it, mode: e.gitMode(), size: e.size}
	link := it.mode == modeLink
	switch {
	case link != (f.mode == modeLink):
		return d.change(f)
	case e.stat() == it.stat() && e.ctime < d.base.stamp:
		f.same = true
	case e.size != it.size:
	default:
		var err error
		if f.same, err = equal(d.root, d.tree, e.path, link); err != nil {
			return err
		}
	}
	if f.same && f.mode == it.mode {
		return nil
	}
	return d.change(f)
}

func (d *scan) change(f fileChange) error {
	if !f.same {
		d.total += f.size
	}
	if f.size > maxFile && !f.same {
		return fmt.Errorf("%q has %d bytes, over the bound of %d: %w", f.path, f.size, maxFile, ErrTooBig)
	}
	if d.total > maxTotal {
		return fmt.Errorf("changed files have more than %d bytes, the last one is %q: %w", maxTotal, f.path, ErrTooBig)
	}
	d.files = append(d.files, f)
	return nil
}

// Write writes the change as one patch with its end line. Errors: ErrTooBig
// after max bytes; without the end line the patch is not whole.
func (c *Change) Write(w io.Writer, max int64) error {
	p := gitpatch.NewWriter(w, max)
	for _, f := range c.files {
		err := p.Section(f.path, c.oldSide(f), c.newSide(f))
		if errors.Is(err, gitpatch.ErrTooBig) {
			return fmt.Errorf("the change has more than %d bytes at %q: %w", max, f.path, ErrTooBig)
		}
		if err != nil {
			return fmt.Errorf("write change of %q: %w", f.path, err)
		}
	}
	return p.End()
}

func (c *Change) oldSide(f fileChange) *gitpatch.Side {
	if f.old == nil {
		return nil
	}
	return &gitpatch.Side{
		Mode: f.old.mode, Object: hex.EncodeToString(f.old.object[:]), Size: f.old.size,
		Open: func() (io.ReadCloser, error) { return c.tree.reader(f.path, f.old.mode) },
	}
}

func (c *Change) newSide(f fileChange) *gitpatch.Side {
	if f.mode == 0 {
		return nil
	}
	s := &gitpatch.Side{
		Mode: f.mode, Size: f.size,
		Open: func() (io.ReadCloser, error) { return c.root.reader(f.path, f.mode) },
	}
	if f.same {
		s.Object = hex.EncodeToString(f.old.object[:])
	}
	return s
}

func (r *root) reader(p string, mode uint32) (io.ReadCloser, error) {
	if mode == modeLink {
		to, err := r.link(p)
		return io.NopCloser(strings.NewReader(to)), err
	}
	f, _, err := r.file(p)
	if err != nil {
		return nil, err
	}
	return f, nil
}
