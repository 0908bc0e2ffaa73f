package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/shadow/vault"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type setupCmd struct {
	Yes   bool     `short:"y" help:"Take every default and ask nothing."`
	Agent []string `short:"a" placeholder:"NAME" sep:"," help:"Agent to put into the image: claude-code, codex, aider, gemini or opencode; can be repeated."`
}

// Run implements the verb: it ends with everything that a first task needs.
func (c *setupCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.anywhere(ctx)
	if err != nil {
		return err
	}
	e, err := s.Engine(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	info, err := e.Describe(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "engine    %s %s at %s\n", clean(info.Name), clean(info.Version), clean(info.Address))
	steps := session.NewLines(func(text string) { a.ui.line("  %s", text) })
	undo, err := c.choose(ctx, a, s)
	if err != nil {
		return errors.Join(err, undo())
	}
	image, err := s.Image(ctx, e, steps)
	steps.Flush()
	if err != nil {
		return errors.Join(err, undo())
	}
	if err := s.CheckAgents(ctx, e, image, c.Agent); err != nil {
		return err
	}
	with := ""
	for _, name := range s.Agents() {
		if v, _, _ := strings.Cut(s.VersionIn(image, name), " "); v != "" {
			with += " + " + name + " " + v
		}
	}
	fmt.Fprintf(a.stdout, "image     %s%s, %s\n", clean(s.ImageRef()), with, config.FormatSize(image.Size))
	if err := c.setupVault(ctx, a); err != nil {
		return err
	}
	if err := a.setupKeys(ctx, c, s); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "ready     git ftl exec CMD runs any command as the agent\n")
	return nil
}

// anywhere is open, but outside of a repository too: then with the settings of
// no repository.
func (a *app) anywhere(ctx context.Context) (*session.Session, error) {
	s, err := a.open(ctx)
	if !errors.Is(err, git.ErrNotRepository) {
		return s, err
	}
	return a.nowhere(), nil
}

// nowhere has the settings of no repository.
func (a *app) nowhere() *session.Session {
	return &session.Session{Config: config.Default(), Env: a.env, Home: homeDir(a.env), Report: a.ui, Tell: a.tell, Now: a.now, Tools: a.tools, UserDir: configDir(a.env), Wheels: a.wheels}
}

func homeDir(env []string) string {
	if runtime.GOOS == "windows" {
		return lookup(env, "USERPROFILE")
	}
	return lookup(env, "HOME")
}

// engineHints are the ways to an engine, by system and by what is wrong.
func engineHints(env []string, err error) []string {
	if errors.Is(err, fs.ErrPermission) && runtime.GOOS == "linux" {
		return []string{`an engine is there, and you may not use it: sudo usermod -aG docker "$USER" and log in again, or run a rootless one`, "then: git ftl doctor"}
	}
	for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT"} {
		if value := lookup(env, name); value != "" {
			return []string{fmt.Sprintf("%s is %s: is an engine there? unset it for the local one", name, value), "then: git ftl doctor"}
		}
	}
	switch runtime.GOOS {
	case "linux":
		hint := "start one: sudo systemctl start docker"
		if _, err := exec.LookPath("dockerd"); err != nil {
			hint = "install and start one: sudo apt-get install docker.io (or podman), or set DOCKER_HOST"
		}
		return []string{hint, "then: git ftl doctor"}
	default:
		return []string{"start Docker Desktop, or set DOCKER_HOST", "then: git ftl doctor"}
	}
}

type doctorCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// check is one line of doctor.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// Run implements the verb. It changes nothing. The exit code is 5 without an
// engine, 1 where something else is missing.
func (c *doctorCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	checks := a.examine(ctx)
	if c.JSON {
		if err := a.json(checks); err != nil {
			return err
		}
	}
	code := 0
	for _, k := range checks {
		if !c.JSON {
			a.showCheck(k)
		}
		switch {
		case k.OK:
		case k.Name == "engine":
			code = exitNoEngine
		case code == 0:
			code = exitFailed
		}
	}
	if code != 0 {
		return &exitError{code: code, err: errors.New("something is missing"), quiet: true}
	}
	return nil
}

func (a *app) showCheck(k check) {
	mark := "ok"
	if !k.OK {
		mark = "missing"
	}
	fmt.Fprintf(a.stdout, "%-9s %-8s %s\n", k.Name, mark, clean(k.Detail))
	if k.Hint != "" {
		fmt.Fprintf(a.stdout, "%-18s %s\n", "", clean(k.Hint))
	}
}

func (a *app) examine(ctx context.Context) []check {
	checks := []check{a.checkGit(ctx), a.checkVault()}
	s, err := a.open(ctx)
	switch {
	case err == nil:
		checks = append(checks, check{Name: "repo", OK: true, Detail: s.Repo.Dir})
	case errors.Is(err, git.ErrNotRepository):
		checks = append(checks, check{Name: "repo", OK: true, Detail: "none here"})
	default:
		checks = append(checks, a.failing("repo", err))
	}
	if s == nil {
		s = a.nowhere()
	}
	return append(checks, a.checkEngine(ctx, s)...)
}

// failing is what an error says of something that is missing.
func (a *app) failing(name string, err error) check {
	f := a.tell(err)
	var more []string
	for _, line := range slices.Concat(f.Details, f.Hints) {
		if line = strings.TrimSpace(line); line != "" {
			more = append(more, line)
		}
	}
	return check{Name: name, Detail: f.Error, Hint: strings.Join(more, "; ")}
}

// checkVault says where secrets are, without opening anything.
func (a *app) checkVault() check {
	k := check{Name: "vault", OK: true, Detail: "none: git ftl auth set NAME makes it"}
	o, err := a.vaultOptions()
	if err != nil {
		return check{Name: "vault", Detail: err.Error()}
	}
	status, err := vault.Inspect(o.File)
	switch {
	case err != nil:
		return check{Name: "vault", Detail: err.Error(), Hint: "git ftl auth status"}
	case status.Exists:
		k.Detail = status.File + ", its key in " + status.Where
	}
	return k
}

func (a *app) checkGit(ctx context.Context) check {
	cmd := exec.CommandContext(ctx, "git", "version")
	cmd.Env = a.env
	out, err := cmd.Output()
	if err != nil {
		return check{Name: "git", Detail: err.Error(), Hint: "install git 2.38 or later"}
	}
	return check{Name: "git", OK: true, Detail: strings.TrimSpace(string(out))}
}

// checkAgents looks whether the agents that the user has set up can run in the image.
func (a *app) checkAgents(ctx context.Context, s *session.Session, e *container.DockerEngine) check {
	k := check{Name: "agents", OK: true, Detail: "none: git ftl setup --agent NAME adds one"}
	names := s.Agents()
	if len(names) == 0 {
		return k
	}
	k.Detail = strings.Join(names, ", ")
	image, err := s.Present(ctx, e)
	if err != nil {
		image, err = e.Image(ctx, s.ImageRef())
	}
	if err != nil {
		return k // which is said of the image
	}
	if err := s.CheckAgents(ctx, e, image, names); err != nil {
		f := explain(err, a.env).failure()
		k.OK, k.Detail, k.Hint = false, f.Error, strings.Join(f.Hints, "; ")
	}
	return k
}

func (a *app) checkEngine(ctx context.Context, s *session.Session) []check {
	e, err := s.Engine(ctx)
	if err != nil {
		return []check{a.failing("engine", err)}
	}
	defer e.Close()
	info, err := e.Describe(ctx)
	if err != nil {
		return []check{{Name: "engine", Detail: err.Error()}}
	}
	where := "remote: files travel over the connection"
	if info.Local {
		where = "local"
	}
	checks := []check{{Name: "engine", OK: true, Detail: fmt.Sprintf("%s %s, %d CPUs, %s, %s", info.Name, info.Version, info.CPUs, config.FormatSize(info.Memory), where)}}
	limits := check{Name: "limits", OK: info.Limits, Detail: "memory, CPUs and processes are bounded"}
	if !info.Limits {
		limits.Detail, limits.Hint = "this engine does not enforce memory and CPU bounds", "run it as root, or with cgroup delegation"
	}
	checks = append(checks, limits)
	image := check{Name: "image", OK: true, Detail: s.ImageRef()}
	if _, err := e.Image(ctx, s.ImageRef()); err != nil {
		image.OK, image.Detail, image.Hint = false, err.Error(), "git ftl setup"
	}
	return append(checks, image, a.checkAgents(ctx, s, e), check{Name: "disk", OK: true, Detail: "a task is stopped at the bound of --disk; the engine itself sets no quota"})
}
