package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// engine collects what is in the container engine. That there is none is no
// error: what is there waits for the next collection.
func (c *collector) engine(ctx context.Context) error {
	e, err := c.connect(ctx)
	if errors.Is(err, container.ErrNoEngine) {
		c.out.Engine = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	defer e.Close()
	err = errors.Join(c.sandboxes(ctx, e), c.orphans(ctx, e))
	for _, r := range c.strangers() {
		err = errors.Join(err, c.vanished(ctx, e, r))
	}
	return errors.Join(err, c.register(), c.images(ctx, e))
}

// sandboxes removes those of work trees that are gone, and those that sleep and
// were not used for long. One that is used, or holds work, stays.
func (c *collector) sandboxes(ctx context.Context, e *engine) error {
	all, err := e.pool.List(ctx)
	if err != nil {
		return err
	}
	groups, err := c.groups()
	if err != nil {
		return err
	}
	var failed error
	for _, b := range all {
		why := c.idle(b, groups)
		if why == "" {
			continue
		}
		gone := Collected{What: "sandbox", Name: b.Name, Why: why, Bytes: e.Size(ctx, b.ID) + sizeOf(c.Repo.Path("exports", b.Name))}
		failed = errors.Join(failed, c.take(gone, func() error { return e.pool.Remove(ctx, b.Name) }))
	}
	return failed
}

// idle says why a sandbox may go, "" where it stays.
func (c *collector) idle(b container.Info, groups map[string]bool) string {
	used := b.LastUsed
	if used.IsZero() {
		used = b.Created
	}
	asleep := b.State == container.Stopped || b.State == container.Gone
	switch {
	case b.Busy || b.Holds != "":
		return ""
	case !groups[b.Name[:max(0, strings.LastIndexByte(b.Name, '-'))]]:
		return "its work tree is gone"
	case asleep && used.Before(c.before):
		return fmt.Sprintf("last used %s ago", days(c.Now().Sub(used)))
	}
	return ""
}

// groups are the names that sandboxes of the work trees can have.
func (s *Session) groups() (map[string]bool, error) {
	keys := []string{"main", s.Repo.Key()}
	linked, err := git.Glob(s.Repo.CommonDir, "worktrees", "*")
	for _, dir := range linked {
		keys = append(keys, "wt-"+filepath.Base(dir))
	}
	set := map[string]bool{}
	for _, key := range keys {
		set[groupOf(key)], set[testGroupOf(key)] = true, true
	}
	return set, err
}

// orphans removes this repository's sandboxes that no record names: a kill while
// one was made or removed left them.
func (c *collector) orphans(ctx context.Context, e *engine) error {
	all, err := e.pool.Orphans(ctx)
	if err != nil {
		return err
	}
	return c.removeFrom(ctx, e, all, "no record names it")
}

func (c *collector) removeFrom(ctx context.Context, e *engine, all []container.Info, why string) (failed error) {
	for _, info := range all {
		gone := Collected{What: "sandbox", Name: info.Name, Why: why, Bytes: e.Size(ctx, info.ID)}
		failed = errors.Join(failed, c.take(gone, func() error { return e.Remove(ctx, info.ID) }))
	}
	return failed
}

// vanished removes the sandboxes of a repository of this user that is gone.
func (c *collector) vanished(ctx context.Context, e *engine, r installed) error {
	if c.before.IsZero() || c.age(r.file) < c.Config.Retention {
		return nil // its disk may only be away
	}
	pool := &container.Pool{Engine: e, Dir: r.State, Owner: r.ID, Now: c.Now}
	all, err := pool.Orphans(ctx)
	if err == nil {
		err = c.removeFrom(ctx, e, all, "its repository is gone: "+r.State)
	}
	if err != nil || c.out.DryRun {
		return err
	}
	return os.Remove(r.file)
}

// imageRest is how old an image is at least that goes, however short the retention
// is: another version of git-ftl, or an agent in another repository, may be about
// to use it, and it takes minutes to build.
const imageRest = 7 * 24 * time.Hour

// images removes those that were built here long ago, are used by no sandbox and
// are not what the next task takes.
func (c *collector) images(ctx context.Context, e *engine) error {
	before := c.before
	if rest := c.Now().Add(-imageRest); rest.Before(before) {
		before = rest
	}
	all, err := e.Images(ctx)
	if err != nil {
		return err
	}
	var failed error
	needed := c.imageRefs(ctx, e.DockerEngine)
	for _, img := range all {
		if img.Used || slices.Contains(needed, img.Ref) || !img.Created.Before(before) {
			continue
		}
		gone := Collected{What: "image", Name: img.Ref, Why: fmt.Sprintf("unused, built %s ago", days(c.Now().Sub(img.Created))), Bytes: img.Size}
		failed = errors.Join(failed, c.take(gone, func() error { return e.RemoveImage(ctx, img.Ref) }))
	}
	return failed
}
