package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if code, ok := asGuest(os.Args); ok {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"git-ftl":       main,
		"git-ftl-small": func() { start(smallAider(smallWheel().SHA256())) },
		"git-ftl-wrong": func() { start(smallAider(strings.Repeat("0", 64))) },
	})
}

// TestScript runs the behaviours that need no engine.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("testdata/script"))
}

// TestSandbox runs the behaviours of tasks, in real sandboxes.
func TestSandbox(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN: scripts with sandboxes (-short)")
	}
	needEngine(t)
	testscript.Run(t, params("testdata/sandbox"))
}

// TestAgents runs the real agents, in an image that has them, against the scripted
// model. The image is built once and then found by its content.
func TestAgents(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN: scripts with real agents (-short)")
	}
	needEngine(t)
	needAgents(t, "claude-code", "codex")
	testscript.Run(t, params("testdata/agents"))
}

// TestMoreAgents runs those that are slow to start: make test-agents.
func TestMoreAgents(t *testing.T) {
	if os.Getenv("FTL_TEST_AGENTS") == "" {
		t.Skip("NOT RUN: scripts with gemini and opencode (make test-agents)")
	}
	needEngine(t)
	needAgents(t, "claude-code", "codex", "gemini", "opencode")
	testscript.Run(t, params("testdata/agents-slow"))
}

// needAgents builds the image with the caller's own settings: where it comes from
// is theirs. Scripts add agents in the same order.
func needAgents(t *testing.T, names ...string) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "git-ftl")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, link)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, "setup", "--yes", "--agent", strings.Join(names, ","))
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the image of the agents: %v\n%s", err, out)
	}
}

// needEngine fails where FTL_REQUIRE_DOCKER=1 and there is none, and skips
// otherwise.
func needEngine(t *testing.T) {
	t.Helper()
	err := exec.Command("docker", "info").Run()
	if err == nil {
		return
	}
	if os.Getenv("FTL_REQUIRE_DOCKER") == "1" {
		t.Fatalf("FTL_REQUIRE_DOCKER=1, and no engine answers: %v", err)
	}
	t.Skipf("NOT RUN: no container engine answers: %v", err)
}

func params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               scriptSetup,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			if cond == "postgres" {
				return hasPostgres()
			}
			if path, ok := strings.CutPrefix(cond, "file:"); ok {
				_, err := os.Stat(path)
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo":   cmdRepo,
			"exits":  cmdExits,
			"tree":   cmdTree,
			"setenv": cmdSetenv,

			"agent":     cmdAgent,
			"inside":    cmdInside,
			"roundtrip": cmdRoundtrip,
			"upstream":  cmdUpstream,
			"models":    cmdModels,
			"canned":    cmdCanned,
			"echo":      cmdEcho,
			"mirror":    cmdMirror,
			"token":     cmdToken,
			"obey":      cmdObey,
			"image":     cmdImage,
			"postgres":  cmdPostgres,
			"npm":       cmdNpm,
			"pypi":      cmdPypi,
			"goproxy":   cmdGoproxy,
			"screen":    cmdScreen,
		},
	}
}

const gitConfig = `[user]
	name = User
	email = user@example.com
[init]
	defaultBranch = main
[core]
	pager = cat
[protocol "file"]
	allow = always
`

// scriptSetup gives each script a home of its own, and removes its sandboxes at
// the end.
func scriptSetup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o644); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("DBUS_SESSION_BUS_ADDRESS", keyringBus()) // never the keyring of whoever runs the tests
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir))
	env.Defer(func() { removeSandboxes(env); unmount(env) })
	return nil
}

func removeSandboxes(env *testscript.Env) {
	_ = filepath.WalkDir(env.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "sandboxes" || !d.IsDir() {
			return nil
		}
		state := filepath.Dir(path)
		git := filepath.Dir(state)
		if out, err := exec.Command("git", "-C", git, "config", "core.bare").Output(); err == nil && strings.TrimSpace(string(out)) == "true" {
			return nil
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		link := filepath.Join(env.WorkDir, ".bin-git-ftl", "git-ftl")
		_ = os.MkdirAll(filepath.Dir(link), 0o755)
		_ = os.Symlink(self, link)
		cmd := exec.Command(link, "sandbox", "rm", "--all", "--force")
		cmd.Dir, cmd.Env = filepath.Dir(git), append(slices.Clone(env.Vars), "GIT_DIR="+git, "GIT_WORK_TREE="+filepath.Dir(git))
		if out, err := cmd.CombinedOutput(); err != nil {
			env.T().Log("sandboxes were not removed:", err, string(out))
		}
		return filepath.SkipDir
	})
}

// cmdRepo makes a repository with a commit: repo DIR. Its work tree has one file
// modified, one staged, one untracked and one ignored.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	run := func(args ...string) { ts.Check(ts.Exec("git", append([]string{"-C", dir}, args...)...)) }
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, []byte(text), 0o644))
	}
	ts.Check(os.MkdirAll(dir, 0o755))
	run("init", "-q")
	write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")
	write("sub/b.txt", "bee\n")
	write("gone.txt", "to be deleted\n")
	write(".gitignore", "*.log\n")
	run("add", ".")
	run("commit", "-qm", "first")
	write("a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n")
	write("staged.txt", "staged\n")
	run("add", "staged.txt")
	write("untracked.txt", "untracked\n")
	write("ignored.log", "ignored\n")
	write(".env", "SECRET=not for agents\n")
}

// cmdExits runs a command and wants its exit code: exits CODE CMD ARG…
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE CMD ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// cmdTree writes down a work tree: tree DIR FILE. One line for each file with
// type, mode, mtime, content and target; folders with mode and mtime.
func cmdTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tree DIR FILE")
	}
	dir := ts.MkAbs(args[0])
	var lines []string
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(data))
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		}
		lines = append(lines, fmt.Sprintf("%q %v %d %s", strings.TrimPrefix(path, dir), info.Mode(), info.ModTime().UnixNano(), content))
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

// cmdInside runs a command as root in a sandbox of the repository at hand, beside
// the task that it does: inside NAME CMD ARG…
func cmdInside(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: inside NAME CMD ARG…")
	}
	ts.Check(inside(ts.MkAbs("."), args[0], args[1:]...))
}

func inside(repo, name string, argv ...string) error {
	data, err := os.ReadFile(filepath.Join(repo, ".git", "git-ftl", "sandboxes", name+".json"))
	if err != nil {
		return err
	}
	var box struct{ ID string }
	if err := json.Unmarshal(data, &box); err != nil {
		return err
	}
	if out, err := exec.Command("docker", append([]string{"exec", box.ID}, argv...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%q in %s: %w\n%s", argv, name, err, out)
	}
	return nil
}

// cmdSetenv sets a variable to the text of a file: setenv NAME FILE.
func cmdSetenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: setenv NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}
