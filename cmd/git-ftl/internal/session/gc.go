package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/patch"
)

// Collected is one thing that a collection removed, or would remove.
type Collected struct {
	What  string `json:"what"` // result, task, snapshot, work tree, scratch, export, sandbox or image
	Name  string `json:"name"`
	Why   string `json:"why"`   // a few words
	Bytes int64  `json:"bytes"` // of files, images and sandboxes; the objects are git's own to count
}

// Collection is what a collection did.
type Collection struct {
	Removed []Collected `json:"removed"`
	Waiting []Collected `json:"waiting"` // undecided results older than the retention, which stay
	Engine  string      `json:"engine"`  // why sandboxes and images were not looked at; "" where they were
	DryRun  bool        `json:"dry_run"`
}

// Bytes is the sum of what was removed.
func (c Collection) Bytes() (n int64) {
	for _, r := range c.Removed {
		n += r.Bytes
	}
	return n
}

// Collect removes what nobody needs any more: what was decided on or ended a
// retention ago, and what lost its task, work tree, sandbox or repository. What is
// undecided, running, held or foreign stays. Without an engine the rest is done.
// It goes on past failures and returns them all. dryRun removes nothing.
func (s *Session) Collect(ctx context.Context, dryRun bool) (Collection, error) {
	unlock, err := s.Repo.Lock(ctx, "gc")
	if err != nil {
		return Collection{}, err
	}
	defer unlock()
	return s.collect(ctx, dryRun)
}

func (s *Session) collect(ctx context.Context, dryRun bool) (Collection, error) {
	c := &collector{Session: s, out: Collection{Removed: []Collected{}, Waiting: []Collected{}, DryRun: dryRun}}
	if s.Config.Retention > 0 {
		c.before = s.Now().Add(-s.Config.Retention)
	}
	var failed error
	for _, step := range []func(context.Context) error{
		c.look, c.results, c.tasks, c.snapshots, c.workTrees, c.exports, c.scratch, c.engine,
	} {
		failed = errors.Join(failed, step(ctx))
		if ctx.Err() != nil {
			return c.out, ctx.Err()
		}
	}
	return c.out, failed
}

// tidyEvery is how often a collection runs by itself.
const tidyEvery = 24 * time.Hour

// Tidy is Collect after a task, at most daily. It says nothing but which results
// have waited long for a decision, and its failures are those of the next one.
// Where it is not due it costs a look at one file.
func (s *Session) Tidy(ctx context.Context) {
	var last struct{ Time time.Time }
	data, err := s.Repo.ReadState("gc.json")
	if err == nil && json.Unmarshal(data, &last) == nil {
		if since := s.Now().Sub(last.Time); since >= 0 && since < tidyEvery {
			return
		}
	}
	unlock, free, err := s.Repo.TryLock("gc")
	if err != nil || !free {
		return
	}
	defer unlock()
	last.Time = s.Now()
	// First of all: one that fails each time must not cost each task its time.
	if data, err = json.Marshal(last); err != nil || s.Repo.WriteState("gc.json", data) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, _ := s.collect(ctx, false)
	for _, w := range c.Waiting {
		s.note(fmt.Sprintf("%s %s: git ftl apply %s or git ftl reject %s", w.Name, w.Why, w.Name, w.Name))
	}
}

// collector is one collection on its way.
type collector struct {
	*Session
	out    Collection
	before time.Time // what is younger stays; zero keeps everything
	open   []patch.Result
	old    []patch.Result  // whose decision is old enough
	has    map[string]bool // IDs that have a result, a foreign one included
	based  map[string]bool // snapshot commits that results start from which stay
	keep   map[string]bool // tasks that run or whose work a sandbox holds
	known  map[string]bool // IDs that have a record of a task
	boxes  []container.Info
	pool   *container.Pool
}

// look finds out what there is before anything goes.
func (c *collector) look(ctx context.Context) error {
	c.has, c.based, c.keep, c.known = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	all, err := c.Queue.List(ctx)
	if err != nil {
		return err
	}
	open, settled, err := c.Queue.Standing(ctx)
	if err != nil {
		return err
	}
	c.open = open
	for _, r := range settled {
		if r.Decided.Before(c.before) {
			c.old = append(c.old, r)
		}
	}
	for _, r := range all {
		c.has[r.ID] = true
		if !slices.ContainsFunc(c.old, func(o patch.Result) bool { return o.ID == r.ID }) {
			c.based[r.Base.String()] = true
		}
	}
	return c.lookAtTasks()
}

func (c *collector) lookAtTasks() error {
	running, err := c.ids("running")
	if err != nil {
		return err
	}
	records, err := c.ids("tasks")
	if err != nil {
		return err
	}
	for _, id := range records {
		c.known[id] = true
	}
	c.pool = &container.Pool{Dir: c.Repo.State, Now: c.Now}
	if c.boxes, err = c.pool.Recorded(); err != nil {
		return err
	}
	for _, id := range running {
		c.keep[id] = true
	}
	for _, b := range c.boxes {
		c.keep[b.Holds] = true
	}
	return nil
}

// results forgets what was decided on long ago, and names what was not.
func (c *collector) results(ctx context.Context) error {
	var failed error
	for _, r := range c.old {
		failed = errors.Join(failed, c.forget(ctx, Collected{
			What: "result", Name: r.ID, Why: fmt.Sprintf("%s %s ago", r.State, days(c.Now().Sub(r.Decided))),
		}))
	}
	for _, r := range c.open {
		if r.Created.Before(c.before) {
			c.out.Waiting = append(c.out.Waiting, Collected{
				What: "result", Name: r.ID, Why: fmt.Sprintf("is %s for %s", r.State, days(c.Now().Sub(r.Created))),
			})
		}
	}
	return failed
}

// tasks forgets those that ended long ago and left no result, and records that a
// kill left of a result.
func (c *collector) tasks(ctx context.Context) error {
	all, err := c.Tasks()
	if err != nil {
		return err
	}
	var failed error
	for _, o := range all {
		at := o.Ended
		if at.IsZero() {
			at = o.Created
		}
		if c.has[o.ID] || !at.Before(c.before) {
			continue
		}
		failed = errors.Join(failed, c.forget(ctx, Collected{
			What: "task", Name: o.ID, Why: fmt.Sprintf("%s %s ago", o.Status, days(c.Now().Sub(at))),
		}))
	}
	left, err := c.ids("results")
	for _, name := range left {
		id := strings.TrimSuffix(name, ".next") // of a commit that its ref never came to
		if !c.has[id] && !c.known[id] && c.age(c.Repo.Path("results", name+".json")) > tidyEvery {
			failed = errors.Join(failed, c.forget(ctx, Collected{What: "result", Name: id, Why: "its ref is gone"}))
		}
	}
	return errors.Join(failed, err)
}

// snapshots drops those that no task and no result knows any more.
func (c *collector) snapshots(ctx context.Context) error {
	all, err := c.Store.List(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, s := range all {
		if c.has[s.ID] || c.known[s.ID] || c.keep[s.ID] || c.based[s.Commit.String()] || !s.Created.Before(c.before) {
			continue
		}
		gone := Collected{What: "snapshot", Name: s.ID, Why: fmt.Sprintf("no task knows it, taken %s ago", days(c.Now().Sub(s.Created)))}
		failed = errors.Join(failed, c.take(gone, func() error { return c.Store.Drop(ctx, s.ID) }))
	}
	return failed
}

// take removes a thing, unless this is a dry run. What another command is at, or
// was faster to take, is passed over.
func (c *collector) take(gone Collected, remove func() error) error {
	if !c.out.DryRun {
		err := remove()
		if errors.Is(err, container.ErrBusy) || errors.Is(err, container.ErrHeld) || errors.Is(err, container.ErrGone) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	c.out.Removed = append(c.out.Removed, gone)
	return nil
}

// days words a long time.
func days(d time.Duration) string {
	switch n := int(d / (24 * time.Hour)); n {
	case 0:
		return "less than a day"
	case 1:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", n)
	}
}
