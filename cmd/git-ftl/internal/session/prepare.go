package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// prepare takes the snapshot while the sandbox boots, and puts one into the
// other.
func (r *run) prepare() error {
	if err := r.knowSecrets(r.soft); err != nil {
		return err
	}
	if err := r.equip(); err != nil {
		return err
	}
	boot := make(chan error, 1)
	start := r.Now()
	go func() { boot <- r.boot(r.soft) }()
	err := r.snapshot(r.soft)
	if err := errors.Join(err, <-boot); err != nil {
		return err
	}
	if err := r.reset(r.soft); err != nil {
		return err
	}
	r.stage("boot", r.bootResult(), start)
	if err := r.hold(r.soft); err != nil {
		return err
	}
	close(r.ready)
	return nil
}

func (r *run) snapshot(ctx context.Context) error {
	start := r.Now()
	take := r.take
	if r.from != nil {
		take = r.goOn
	}
	err := take(ctx)
	close(r.taken)
	if err != nil {
		return err
	}
	r.out.Snapshot, r.out.Branch, r.out.Dirty = r.snap.Commit.String(), r.snap.Branch, r.snap.Dirty
	if !r.snap.Parent.IsZero() {
		r.out.Head = r.snap.Parent.String()
	}
	r.out.LeftOut = append(r.out.LeftOut, r.snap.LeftOut...)
	r.rememberEnvFiles(r.snap.LeftOut)
	r.out.LFSPointers, r.out.Named = r.snap.Pointers, append(r.out.Named, r.snap.Named...)
	if err := r.gather(ctx); err != nil {
		return err
	}
	took := r.Now().Sub(start)
	<-r.online
	if r.engine == nil {
		return nil // and boot says why
	}
	r.tell(Event{Kind: EventBegin, Outcome: &r.out})
	r.sayUnbound()
	r.stage("snapshot", "", r.Now().Add(-took))
	return nil
}

// snapshotOptions are those of an apply, and but for the scanner those of a task.
func (s *Session) snapshotOptions(id string) snapshot.Options {
	return snapshot.Options{
		ID: id, MaxFile: s.Config.MaxFile, Include: s.Config.Include, Lines: s.Config.Lines, LFS: s.Config.LFS, Now: s.Now(),
		Fetching: func(objects int, remote string) {
			s.note(fmt.Sprintf("this is a partial clone: git fetches %d missing files from %s", objects, remote))
		},
	}
}

func (r *run) boot(ctx context.Context) error {
	e, err := r.connect(ctx)
	r.engine = e
	close(r.online)
	if err != nil {
		return err
	}
	_, progress, flush := r.output()
	defer flush()
	if r.image, err = r.imageFor(ctx, e.DockerEngine, progress); err != nil {
		return err
	}
	spec, err := r.spec(r.image)
	if err != nil {
		return err
	}
	spec.Fresh = r.task.Fresh
	r.box, err = e.pool.Acquire(ctx, spec)
	return err
}

func (r *run) bootResult() string {
	switch {
	case r.box.Replaced != "":
		return "new: " + r.box.Replaced
	case r.box.Warm():
		return "warm"
	}
	return "new"
}

// reset makes the workspace the snapshot, and runs the setup command where the
// sandbox is new or what it depends on has changed.
func (r *run) reset(ctx context.Context) error {
	r.out.Warm, r.out.Sandbox = r.box.Warm(), r.box.Name()
	export, err := r.Store.Export(ctx, r.shown(), r.box.Name())
	if err != nil {
		return err
	}
	base := baseOf(export, r.snap.Branch)
	base.Keep, base.Clean, base.History = r.Config.Keep, r.task.Clean, agent.History()
	report, err := r.box.Reset(ctx, base)
	if err != nil {
		return err
	}
	r.out.Reset = Reset{Files: report.Files, Written: report.Written, Removed: report.Removed, Millis: report.Millis}
	if err := r.writeFiles(ctx); err != nil {
		return err
	}
	if err := r.writeTools(ctx); err != nil {
		return err
	}
	if err := r.aptMirrors(ctx); err != nil {
		return err
	}
	if err := r.writeAgent(ctx); err != nil {
		return err
	}
	if err := r.join(ctx); err != nil {
		return err
	}
	if err := r.sayUser(ctx); err != nil {
		return err
	}
	if err := r.setup(ctx, export, report.Setup); err != nil {
		return err
	}
	return r.attach(ctx)
}

// baseOf is an export as a sandbox takes it.
func baseOf(export *snapshot.Export, branch string) container.Base {
	return container.Base{
		ID: export.ID, From: export.From, Changed: files(export.Changed),
		All: func(ctx context.Context) ([]container.File, error) {
			all, err := export.All(ctx)
			return files(all), err
		},
		Commit: export.Base.String(), Branch: branch,
	}
}

func files(changes []git.Change) []container.File {
	all := make([]container.File, len(changes))
	for i, c := range changes {
		all[i] = container.File{Path: c.Path}
		if c.New != (git.Entry{}) {
			all[i].Mode, all[i].Object = uint32(c.New.Mode), c.New.Hash.String()
		}
	}
	return all
}

// setup runs the setup command as the agent's user: in a fresh sandbox, and when
// it or what it depends on changed. Its failure is said and does not end the task:
// the agent may do without.
func (r *run) setup(ctx context.Context, export *snapshot.Export, fresh bool) error {
	last, _ := r.Repo.ReadState("setup/" + r.box.Name())
	command := r.hidden(r.Config.Setup)
	if command == "" || !fresh && !r.setupDue(export.Changed) && string(last) == command {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	start := r.Now()
	stdout, stderr, flush := r.output()
	exit, err := r.box.Run(ctx, container.Cmd{
		Argv: []string{"sh", "-c", command}, Env: r.env(""),
		Stdout: stdout, Stderr: stderr, Grace: 2 * time.Second,
	})
	flush()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("setup: %w", err)
	}
	result := "done"
	if err != nil {
		result = "stopped after 5 minutes"
	} else if exit.Code != 0 {
		result = fmt.Sprintf("failed with exit code %d; the task goes on", exit.Code)
	}
	r.tell(Event{Kind: EventStage, Stage: "setup", Result: result, Millis: millis(r.Now().Sub(start))})
	return r.Repo.WriteState("setup/"+r.box.Name(), []byte(command))
}

func (r *run) setupDue(changed []git.Change) bool {
	return slices.ContainsFunc(changed, func(c git.Change) bool {
		name := c.Path[strings.LastIndexByte(c.Path, '/')+1:]
		return slices.Contains(r.Config.SetupWhen, name) || slices.Contains(r.Config.SetupWhen, c.Path)
	})
}

// hold marks the sandbox as the only place of a change, from now until it is
// stored.
func (r *run) hold(ctx context.Context) error {
	// The record names the sandbox first: should git-ftl die before the agent begins,
	// the mark can be taken off again.
	if err := r.save(ctx, r.out); err != nil {
		return err
	}
	if err := r.box.Hold(r.out.ID); err != nil {
		return err
	}
	r.held = true
	r.out.Started = r.Now()
	return r.save(ctx, r.out)
}

// identity is who this repository is to git-ftl: a random name, bound to a
// place, so that a copy of the folder does not own the sandboxes of the first.
type identity struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	File string `json:"file"` // device and inode of the state folder, where the system has them
}

// Project is the identity of a repository, "" where it has none yet: where nobody
// has asked for it since it was cloned or copied.
func Project(r *git.Repo) string {
	here := identity{Path: r.State, File: fileID(r.State)}
	was := readIdentity(r.State)
	if was.File == here.File && (here.File != "" || was.Path == here.Path) {
		return was.ID
	}
	return ""
}

// Project returns the identity of the repository, which is made when it is first
// asked for.
func (s *Session) Project(ctx context.Context) (string, error) {
	unlock, err := s.Repo.Lock(ctx, "identity")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := s.Repo.ReadState("identity.json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err // a new one would give up what the old one owns
	}
	if id := Project(s.Repo); id != "" {
		return id, nil
	}
	var id [8]byte
	_, _ = rand.Read(id[:])
	here := identity{ID: hex.EncodeToString(id[:]), Path: s.Repo.State, File: fileID(s.Repo.State)}
	data, err := json.Marshal(here)
	if err != nil {
		return "", err
	}
	return here.ID, s.Repo.WriteState("identity.json", data)
}
