package workspace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/ignore"
	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// reset is one change of the workspace to a base.
type reset struct {
	Space
	req    wire.Reset
	root   *root
	tree   *root
	stamp  int64 // of the old manifest
	items  []item
	dirs   map[string]bool // the base's folders; true once found sound
	rules  func() (*ignore.Rules, error)
	remove []string
	fix    []string // folders with other mode, owner or attributes
	write  []int    // indexes of items
	report wire.ResetReport
}

// Reset makes the workspace equal to the base, gives it a .git of its own, and
// reverts the home and the temporary folders. A reset that fails leaves the
// workspace without a base. Errors: ErrStale where r counts from another base.
func (s Space) Reset(r wire.Reset) (wire.ResetReport, error) {
	start := time.Now()
	old, err := s.loadManifest()
	if err != nil && !errors.Is(err, ErrStale) {
		return wire.ResetReport{}, err
	}
	items, err := target(old, r)
	if err != nil {
		return wire.ResetReport{}, fmt.Errorf("reset to %s: %w", r.ID, err)
	}
	c := &reset{Space: s, req: r, items: items, dirs: baseDirs(items)}
	if old != nil {
		c.stamp = old.stamp
	}
	if c.root, err = openRoot(s.Root); err != nil {
		return c.report, err
	}
	defer c.root.close()
	if c.tree, err = openRoot(s.Tree); err != nil {
		return c.report, err
	}
	defer c.tree.close()
	c.rules = sync.OnceValues(func() (*ignore.Rules, error) { return baseRules(c.tree, items, r.Ignored) })
	if err := c.run(old == nil); err != nil {
		return c.report, fmt.Errorf("reset to %s: %w", r.ID, err)
	}
	c.report.Files = len(items)
	c.report.FreeDisk, err = freeDisk(c.root.fd)
	c.report.Millis = float64(time.Since(start).Microseconds()) / 1000
	return c.report, err
}

func (c *reset) run(fresh bool) error {
	names, err := readNames(c.root.fd, make([]byte, 64<<10))
	if err != nil {
		return err
	}
	c.report.Setup = fresh && len(names) == 0
	if err := c.dropManifest(); err != nil {
		return err
	}
	for _, step := range []func() error{c.plan, c.removeAll, c.makeDirs, c.writeAll, c.makeGit, c.resetHome, c.emptyTemp} {
		if err := step(); err != nil {
			return err
		}
	}
	// The coarse clock is the one that stamps files: a later change gets this
	// time or a later one.
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	return c.saveManifest(&manifest{base: c.req.ID, stamp: now.Nano(), exclude: c.req.Ignored, items: c.items})
}

// baseDirs returns every folder of the base, submodules among them.
func baseDirs(items []item) map[string]bool {
	dirs := map[string]bool{}
	last := ""
	for i := range items {
		dir, _ := split(items[i].path)
		if items[i].mode == modeGitlink {
			dirs[items[i].path] = false
		}
		if dir == last {
			continue
		}
		last = dir
		for ; dir != ""; dir, _ = split(dir) {
			if _, known := dirs[dir]; known {
				break
			}
			dirs[dir] = false
		}
	}
	return dirs
}

// plan compares the workspace with the base.
func (c *reset) plan() error {
	have, err := walk(c.root, ".git", func(p string) bool {
		_, ok := c.dirs[p]
		return ok
	})
	if err != nil {
		return err
	}
	at := 0
	for i := range have {
		e := &have[i]
		if e.isDir() {
			err = c.planDir(e)
		} else {
			at, err = c.planFile(e, at)
		}
		if err != nil {
			return err
		}
	}
	c.missing(at, len(c.items))
	return nil
}

func (c *reset) planDir(e *entry) error {
	if _, ok := c.dirs[e.path]; ok {
		c.dirs[e.path] = true
		if e.attrs || e.mode&0o7777 != 0o755 || !c.owns(e) {
			c.fix = append(c.fix, e.path)
		}
		return nil
	}
	keep, err := c.keeps(e.path)
	if keep {
		c.report.Kept = append(c.report.Kept, e.path)
	} else {
		c.remove = append(c.remove, e.path)
	}
	return err
}

func (c *reset) owns(e *entry) bool { return e.uid == uint32(c.UID) && e.gid == uint32(c.UID) }

func (c *reset) keeps(p string) (bool, error) {
	_, name := split(p)
	if c.req.Clean || !slices.Contains(c.req.Keep, name) {
		return false, nil
	}
	rules, err := c.rules()
	return err == nil && rules.Match(p, true), err
}

// planFile moves on to the item of e and returns the next one.
func (c *reset) planFile(e *entry, at int) (int, error) {
	from := at
	for at < len(c.items) && c.items[at].path < e.path {
		at++
	}
	c.missing(from, at)
	if at == len(c.items) || c.items[at].path != e.path || c.items[at].mode == modeGitlink {
		c.remove = append(c.remove, e.path)
		return at, nil
	}
	same, err := c.same(e, &c.items[at])
	if !same {
		c.write = append(c.write, at)
	}
	return at + 1, err
}

func (c *reset) missing(from, to int) {
	for i := from; i < to; i++ {
		if c.items[i].mode != modeGitlink {
			c.write = append(c.write, i)
		}
	}
}

// same is false for a file that must be written anew. A second name of a file
// could be kept somewhere to change it later.
func (c *reset) same(e *entry, it *item) (bool, error) {
	if e.gitMode() != it.mode || e.links != 1 || !c.owns(e) {
		return false, nil
	}
	if it.mode != modeLink && e.mode&0o7777 != it.mode&0o777 {
		return false, nil
	}
	if it.known && e.stat() != it.stat() {
		return false, nil
	}
	if it.known && e.ctime < c.stamp {
		return true, nil
	}
	same, err := equal(c.root, c.tree, it.path, it.mode == modeLink)
	if same {
		it.learn(e.stat())
	}
	return same, err
}

func (c *reset) removeAll() error {
	r := newRemover(c.root)
	at := cursor{root: c.root}
	defer at.close()
	for _, p := range append(c.remove, ".git") {
		fd, name, err := at.at(p)
		if err != nil {
			return err
		}
		if err := r.remove(fd, name); err != nil {
			return err
		}
	}
	c.report.Removed = r.count
	return r.close()
}

func (c *reset) makeDirs() error {
	at := cursor{root: c.root}
	defer at.close()
	for _, p := range slices.Sorted(maps.Keys(c.dirs)) {
		if c.dirs[p] {
			continue
		}
		fd, name, err := at.at(p)
		if err != nil {
			return err
		}
		if err := unix.Mkdirat(fd, name, 0o755); err != nil {
			return fmt.Errorf("make folder %q: %w", p, err)
		}
		c.fix = append(c.fix, p)
	}
	for _, p := range append(c.fix, "") {
		if err := fixDir(c.root, p, c.UID); err != nil {
			return err
		}
	}
	return nil
}
