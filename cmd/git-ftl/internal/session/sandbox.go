package session

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// engine is what a task needs of the engine beside its sandboxes.
type engine struct {
	*container.DockerEngine
	pool *container.Pool
}

// Engine connects to the container engine. Errors: container.ErrNoEngine. The
// caller closes it.
func (s *Session) Engine(ctx context.Context) (*container.DockerEngine, error) {
	return container.Docker(ctx, s.netEnv(), s.Home)
}

// Pool connects to the engine and returns this repository's sandboxes. Errors:
// container.ErrNoEngine.
func (s *Session) Pool(ctx context.Context) (*container.Pool, error) {
	e, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	return e.pool, nil
}

// connect is Engine with this repository's sandboxes.
func (s *Session) connect(ctx context.Context) (*engine, error) {
	docker, err := s.Engine(ctx)
	if err != nil {
		return nil, err
	}
	owner, err := s.Project(ctx)
	if err != nil {
		return nil, err
	}
	return &engine{docker, &container.Pool{Engine: docker, Dir: s.Repo.State, Owner: owner, Now: s.Now}}, nil
}

// spec says what the task's sandbox is made of.
func (s *Session) spec(image container.Image) (container.Spec, error) {
	guest, err := container.Guest(image.Arch)
	if err != nil {
		return container.Spec{}, err
	}
	return container.Spec{
		Name: s.Group(), Image: image.ID, Memory: s.Config.Memory, CPUs: s.Config.CPUs, Disk: s.Config.Disk,
		Guest:  guest,
		Labels: map[string]string{"git-ftl.repository": s.Repo.Dir},
	}, nil
}

// plainName is what may name a sandbox as it is, a number behind it.
var plainName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,89}$`)

// Group is the name that the sandboxes of this work tree share; a number follows.
func (s *Session) Group() string {
	return groupOf(s.Repo.Key())
}

func groupOf(key string) string {
	if plainName.MatchString(key) {
		return key
	}
	return fmt.Sprintf("wt-%x", sha256.Sum256([]byte(key)))[:19]
}

// testGroupOf is the name that the sandboxes of tests of a work tree share. Keys of
// work trees begin otherwise, so that none has it.
func testGroupOf(key string) string { return groupOf("tests-" + key) }

// imageEnv is what an image says its commands need, such as PATH, without what
// would steer the loader or git-ftl's own words to the agent.
func imageEnv(image container.Image) []string {
	var env []string
	path := "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, kv := range image.Env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			path = "PATH=" + safePath(value)
		case strings.HasPrefix(name, "LD_"), slices.Contains([]string{"HOME", "USER", "LOGNAME", "PWD", "TERM", "SHELL", ""}, name):
		default:
			env = append(env, kv)
		}
	}
	return append(env, path)
}

// safePath keeps the absolute folders of a PATH that the agent's user cannot
// have planted.
func safePath(value string) string {
	var dirs []string
	for dir := range strings.SplitSeq(value, ":") {
		if strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir+"/", container.Home+"/") && !strings.HasPrefix(dir+"/", container.Workspace+"/") {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return strings.Join(dirs, ":")
}

// Sandboxes lists this repository's sandboxes.
func (s *Session) Sandboxes(ctx context.Context) ([]container.Info, error) {
	pool, err := s.Pool(ctx)
	if err != nil {
		return nil, err
	}
	return pool.List(ctx)
}

// Enter claims a sandbox by name and runs one command in it as the agent's
// user. What the last task left in the workspace is still there.
func (s *Session) Enter(ctx context.Context, name string, c container.Cmd) (container.Exit, error) {
	e, err := s.connect(ctx)
	if err != nil {
		return container.Exit{}, err
	}
	box, err := e.pool.Reclaim(ctx, name)
	if err != nil {
		return container.Exit{}, fmt.Errorf("enter sandbox %s: %w", name, err)
	}
	defer box.Release()
	defer e.Close()
	var image container.Image
	if found, err := e.Image(ctx, box.Image()); err == nil {
		image = s.withEnv(found)
	}
	c.Env = append(agentEnv(image, ""), c.Env...)
	exit, err := box.Run(ctx, c)
	if err != nil || box.Holds() == "" {
		return exit, err
	}
	return exit, s.retry(context.WithoutCancel(ctx), box)
}

// retry tries once more to store a change that was refused: a person may have
// mended it. The task is not among the running ones meanwhile, so that a crash
// leaves it as it was.
func (s *Session) retry(ctx context.Context, box *container.Sandbox) error {
	unlock, err := s.Repo.Lock(ctx, "task-"+box.Holds())
	if err != nil {
		return err
	}
	defer unlock()
	out, err := s.Task(box.Holds())
	if err != nil {
		return err
	}
	if s, err = s.of(ctx, out); err != nil {
		return err
	}
	r := &run{Session: s, out: out, soft: ctx, box: box, held: true}
	if err := r.startedFrom(ctx); err != nil {
		return err
	}
	if err := r.collect(ctx, nil); err != nil {
		return err
	}
	s.note(fmt.Sprintf("%s: %s", out.ID, r.rescued()))
	return nil
}
