package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// InUseError says why git-ftl may not be taken out of a repository.
type InUseError struct {
	Running bool     // a task or a shell is at work: nothing but its end helps
	What    []string // a line each
}

// Error counts them.
func (e *InUseError) Error() string {
	if e.Running {
		return "a task or a shell is at work here"
	}
	return "there is work here that is not decided on"
}

// Removal is what an uninstall takes out of a repository.
type Removal struct {
	Removed []Collected `json:"removed"`
	Kept    []Collected `json:"kept"`   // what is the user's own, or cannot be reached
	Engine  string      `json:"engine"` // why sandboxes and images could not be removed; "" where they were
	DryRun  bool        `json:"dry_run"`

	refs  []git.RefUpdate
	boxes []container.Info
	files []configFile
}

// Uninstall is how to take git-ftl out of a repository.
type Uninstall struct {
	DryRun bool
	Force  bool // drop undecided work, and leave behind what an engine that is away has
	// Confirm is asked with what would be removed; nil is yes.
	Confirm func(Removal) bool
}

// ErrDeclined says that nothing was removed because Confirm said no.
var ErrDeclined = errors.New("nothing was removed")

// Uninstall removes all that git-ftl has put into the repository, of all its work
// trees, and into the engine for it. What is left, objects aside, is as if it had
// never been there. After a kill another call does the rest: the state folder goes
// last. Errors: *InUseError, container.ErrNoEngine, ErrDeclined.
func (s *Session) Uninstall(ctx context.Context, o Uninstall) (Removal, error) {
	unlock, err := s.Repo.Lock(ctx, "gc")
	if err != nil {
		return Removal{}, err
	}
	defer unlock()
	u := &uninstall{Session: s, o: o, out: Removal{Removed: []Collected{}, Kept: []Collected{}, DryRun: o.DryRun}}
	defer u.close()
	if err := inOrder(ctx, u.idle, u.decided, u.meetEngine, u.findHooks, u.findRefs, u.findConfig, u.findFiles); err != nil {
		return u.out, err
	}
	if o.DryRun {
		return u.out, nil
	}
	if o.Confirm != nil && !o.Confirm(u.out) {
		return u.out, ErrDeclined
	}
	release, err := u.shut(ctx)
	if err != nil {
		return u.out, err
	}
	defer release()
	if err := inOrder(ctx, u.acts()...); err != nil {
		return u.out, err
	}
	if runtime.GOOS == "windows" { // where a file that is open cannot be removed
		release()
		unlock()
	}
	return u.out, os.RemoveAll(s.Repo.State)
}

// uninstallLock is held while a task gets its name, and by an uninstall.
const uninstallLock = "uninstall"

// shut keeps new tasks, and decisions in any work tree, out until it is released.
func (u *uninstall) shut(ctx context.Context) (release func(), err error) {
	tasks, err := u.Repo.Lock(ctx, uninstallLock)
	if err != nil {
		return nil, err
	}
	decisions, err := u.Queue.Freeze(ctx)
	if err != nil {
		tasks()
		return nil, err
	}
	return func() { decisions(); tasks() }, nil
}

// acts are what is done to the repository, but for its state folder.
func (u *uninstall) acts() []func(context.Context) error {
	return []func(context.Context) error{u.idle, u.decided, u.listRefs, u.dropSandboxes, u.dropImages, u.dropHooks, u.dropConfig, u.dropRefs, u.dropFolders, u.forgetNote}
}

// inOrder takes steps until one fails.
func inOrder(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// uninstall is one Uninstall on its way.
type uninstall struct {
	*Session
	o      Uninstall
	out    Removal
	engine *engine // nil where none is needed or there
	images []container.Built
}

func (u *uninstall) close() {
	if u.engine != nil {
		_ = u.engine.Close()
	}
}

// idle refuses while a task or a shell is at work, in any work tree.
func (u *uninstall) idle(context.Context) error {
	busy := &InUseError{Running: true}
	ids, err := u.ids("running")
	if err != nil {
		return err
	}
	for _, id := range ids {
		unlock, free, err := u.Repo.TryLock("task-" + id)
		if err != nil {
			return err
		}
		if !free {
			busy.What = append(busy.What, "task "+id+" runs")
			continue
		}
		unlock()
	}
	pool := &container.Pool{Dir: u.Repo.State, Now: u.Now}
	if u.out.boxes, err = pool.Recorded(); err != nil {
		return err
	}
	for _, b := range u.out.boxes {
		if b.Busy {
			busy.What = append(busy.What, "sandbox "+b.Name+" is in use")
		}
	}
	if len(busy.What) > 0 {
		return busy
	}
	return nil
}

// decided refuses while a result waits, or a sandbox holds work.
func (u *uninstall) decided(ctx context.Context) error {
	open, _, err := u.Queue.Standing(ctx)
	if err != nil || u.o.Force {
		return err
	}
	left := &InUseError{}
	for _, r := range open {
		left.What = append(left.What, fmt.Sprintf("result %s is %s", r.ID, r.State))
	}
	for _, b := range u.out.boxes {
		if b.Holds != "" {
			left.What = append(left.What, fmt.Sprintf("sandbox %s holds the change of %s", b.Name, b.Holds))
		}
	}
	journals, err := git.Glob(u.Repo.State, "journal", "*.json")
	for _, j := range journals {
		key := strings.TrimSuffix(filepath.Base(j), ".json")
		left.What = append(left.What, fmt.Sprintf("an apply in work tree %s was cut off: git ftl status there finishes it", strings.TrimPrefix(key, "wt-")))
	}
	if len(left.What) > 0 {
		return left
	}
	return err
}

// meetEngine finds what this repository has in the engine. Where no engine was
// ever asked for, it has nothing there.
func (u *uninstall) meetEngine(ctx context.Context) error {
	if u.identity().ID == "" {
		return nil
	}
	e, err := u.connect(ctx)
	if errors.Is(err, container.ErrNoEngine) && u.o.Force {
		u.out.Engine = err.Error()
		for _, b := range u.out.boxes {
			u.out.Kept = append(u.out.Kept, Collected{What: "sandbox", Name: b.Name, Why: "no engine answers; its container is " + b.ID})
		}
		return nil
	}
	if err != nil {
		return err
	}
	u.engine = e
	for _, b := range u.out.boxes {
		u.removes(Collected{What: "sandbox", Name: b.Name, Why: "of this repository", Bytes: e.Size(ctx, b.ID)})
	}
	orphans, err := e.pool.Orphans(ctx)
	for _, b := range orphans {
		u.removes(Collected{What: "sandbox", Name: b.Name, Why: "no record names it", Bytes: e.Size(ctx, b.ID)})
	}
	return errors.Join(err, u.findImages(ctx))
}

func (u *uninstall) removes(c Collected) { u.out.Removed = append(u.out.Removed, c) }

// findImages finds the images that were built here, from this repository's own
// Dockerfile or as what only its sandboxes are made of.
func (u *uninstall) findImages(ctx context.Context) error {
	all, err := u.engine.Images(ctx)
	if err != nil {
		return err
	}
	others, owner := u.imagesOfOthers(), u.identity().ID
	for _, img := range all {
		own := slices.ContainsFunc(u.out.boxes, func(b container.Info) bool { return b.Image == img.ID })
		own = own || owner != "" && strings.HasPrefix(img.Ref, container.ForeignRefs(owner))
		if own && !others[img.ID] {
			u.images = append(u.images, img)
			u.removes(Collected{What: "image", Name: img.Ref, Why: "only this repository uses it", Bytes: img.Size})
		}
	}
	return nil
}

// imagesOfOthers are those that sandboxes of the user's other repositories are
// made of.
func (s *Session) imagesOfOthers() map[string]bool {
	used := map[string]bool{}
	for _, r := range s.others() {
		pool := &container.Pool{Dir: r.State, Now: s.Now}
		boxes, err := pool.Recorded()
		if err != nil {
			continue
		}
		for _, b := range boxes {
			used[b.Image] = true
		}
	}
	return used
}

func (u *uninstall) dropSandboxes(ctx context.Context) error {
	if u.engine == nil {
		return nil
	}
	for _, b := range u.out.boxes {
		if err := u.engine.pool.Discard(ctx, b.Name); err != nil && !errors.Is(err, container.ErrGone) {
			return err
		}
	}
	_, err := u.engine.pool.Sweep(ctx)
	return err
}

// forgetNote leaves the note of this repository where an engine still has its
// sandboxes: once they are old, gc in another repository removes them.
func (u *uninstall) forgetNote(context.Context) error {
	if u.out.Engine != "" {
		return u.register()
	}
	return u.unregister()
}

// dropImages leaves one that another's container is made of after all.
func (u *uninstall) dropImages(ctx context.Context) error {
	for _, img := range u.images {
		err := u.engine.RemoveImage(ctx, img.Ref)
		if errors.Is(err, container.ErrBusy) {
			u.out.Removed = slices.DeleteFunc(u.out.Removed, func(c Collected) bool { return c.Name == img.Ref })
			u.out.Kept = append(u.out.Kept, Collected{What: "image", Name: img.Ref, Why: "another container is made of it"})
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// findFiles counts the state folder, and names what stays.
func (u *uninstall) findFiles(context.Context) error {
	u.removes(Collected{What: "folder", Name: u.Repo.State, Why: "records, indexes, exports", Bytes: sizeOf(u.Repo.State)})
	for _, name := range []string{".ftlconfig", ".ftlignore", ".ftlinclude", ".ftllint"} {
		if _, err := os.Lstat(filepath.Join(u.Repo.Dir, name)); err == nil {
			u.out.Kept = append(u.out.Kept, Collected{What: "file", Name: name, Why: "yours: git rm takes it away"})
		}
	}
	return nil
}

// findRefs counts the refs.
func (u *uninstall) findRefs(ctx context.Context) error {
	err := u.listRefs(ctx)
	if n := len(u.out.refs); n > 0 {
		u.removes(Collected{What: "refs", Name: "refs/ftl, refs/notes/ftl", Why: fmt.Sprintf("%d refs", n)})
	}
	return err
}

// listRefs lists the refs below refs/ftl and the notes. A symbolic one, which
// git-ftl never makes, would have the update of what it points to.
func (u *uninstall) listRefs(ctx context.Context) error {
	out, err := u.Repo.Output(ctx, git.Call{Args: []string{"for-each-ref", "--format=%(refname)%00%(symref)", "refs/ftl/", "refs/notes/ftl"}})
	if err != nil {
		return err
	}
	u.out.refs = nil
	for line := range strings.Lines(string(out)) {
		name, symbolic, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		if symbolic != "" {
			return fmt.Errorf("%s is a symbolic ref, which git-ftl never makes: git symbolic-ref --delete %s", name, name)
		}
		u.out.refs = append(u.out.refs, git.RefUpdate{Name: name, Any: true})
	}
	return nil
}
