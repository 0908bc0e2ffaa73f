package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const testImage = "debian:bookworm-slim"

// engine connects to the real one. FTL_REQUIRE_DOCKER=1 makes its absence a
// failure; -short leaves such tests out.
func engine(t *testing.T) *DockerEngine {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT TESTED: -short leaves out what needs an engine")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Docker(t.Context(), os.Environ(), home)
	if err == nil {
		_, err = e.Image(t.Context(), testImage)
	}
	if err != nil && os.Getenv("FTL_REQUIRE_DOCKER") == "1" {
		t.Fatalf("no engine with %s: %v; run testdata/engine/up.sh", testImage, err)
	}
	if err != nil {
		t.Skipf("NOT TESTED, since it needs an engine with %s (testdata/engine/up.sh): %v", testImage, err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// builtGuest compiles the guest once; a test in a process of its own is given its
// parent's.
var builtGuest = sync.OnceValues(func() ([]byte, error) {
	if path := os.Getenv("FTL_TEST_GUEST"); path != "" {
		return os.ReadFile(path)
	}
	dir, err := os.MkdirTemp("", "ftl-guest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "guest")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "./guest")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build guest: %w\n%s", err, out)
	}
	return os.ReadFile(bin)
})

// pool is one of its own for a test, which leaves nothing in the engine.
func pool(t *testing.T, e Engine) *Pool {
	t.Helper()
	p := &Pool{Engine: e, Dir: t.TempDir(), Owner: nonce(16), Now: time.Now}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		left, err := e.List(ctx, map[string]string{labelOwner: p.Owner})
		for _, info := range left {
			err = errors.Join(err, e.Remove(ctx, info.ID))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return p
}

// specOf fills in what every test wants.
func specOf(t *testing.T, s Spec) Spec {
	t.Helper()
	bin, err := builtGuest()
	if err != nil {
		t.Fatal(err)
	}
	if s.Image == "" {
		s.Image = testImage
	}
	if s.Memory == 0 {
		s.Memory = 512 << 20
	}
	s.Name, s.Guest = "repo", loaded(bin)
	return s
}

// acquire claims a sandbox until the end of the test, or an earlier Release.
func acquire(t *testing.T, p *Pool, s Spec) *Sandbox {
	t.Helper()
	sb, err := p.Acquire(t.Context(), specOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { release(t, sb) })
	return sb
}

// release gives a sandbox back, once.
func release(t *testing.T, s *Sandbox) {
	t.Helper()
	if err := s.Release(); err != nil {
		t.Error(err)
	}
}

// agentEnv is what an agent's shell needs.
func agentEnv() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/home/ftl"}
}

// shell runs a script as the agent and gives its output and errors.
func shell(t *testing.T, s *Sandbox, script string) string {
	t.Helper()
	out, exit := tryShell(t, s, script)
	if exit.Died {
		t.Fatalf("the guest died of %s", script)
	}
	return out
}

func tryShell(t *testing.T, s *Sandbox, script string) (string, Exit) {
	t.Helper()
	var out bytes.Buffer
	exit, err := s.Run(t.Context(), Cmd{Argv: []string{"/bin/sh", "-c", script}, Env: agentEnv(), Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatalf("run %s: %v\n%s", script, err, &out)
	}
	return out.String(), exit
}

// git runs git in dir.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// repository is a real one whose commits become bases.
type repository struct {
	t    *testing.T
	dir  string
	last string // tree that the export is at
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	git(t, r.dir, "init", "-q", "-b", "main")
	return r
}

// base commits files (nil text removes) and brings the sandbox's export folder to
// the commit.
func (r *repository) base(s *Sandbox, files map[string]string, gone ...string) Base {
	r.t.Helper()
	for name, text := range files {
		write(r.t, r.dir, name, text)
	}
	for _, name := range gone {
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
			r.t.Fatal(err)
		}
	}
	git(r.t, r.dir, "add", "-A")
	git(r.t, r.dir, "commit", "-q", "--allow-empty", "-m", "base")
	tree := strings.TrimSpace(git(r.t, r.dir, "rev-parse", "HEAD^{tree}"))
	b := Base{ID: tree, From: r.last, Commit: strings.TrimSpace(git(r.t, r.dir, "rev-parse", "HEAD")), Branch: "main"}
	if r.last != "" {
		b.Changed = changes(r.t, git(r.t, r.dir, "diff-tree", "-r", "-z", "--no-renames", r.last, tree))
	}
	b.All = func(context.Context) ([]File, error) {
		return all(r.t, git(r.t, r.dir, "ls-tree", "-r", "-z", tree)), nil
	}
	r.export(s)
	r.last = tree
	return b
}

// export copies tree and objects in place, as a base's maker does.
func (r *repository) export(s *Sandbox) {
	r.t.Helper()
	to := s.pool.export(s.name)
	for _, sub := range [][2]string{{".", "tree"}, {".git/objects", "objects"}} {
		dest := filepath.Join(to, sub[1])
		old, err := os.ReadDir(dest)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, entry := range old {
			if err := os.RemoveAll(filepath.Join(dest, entry.Name())); err != nil {
				r.t.Fatal(err)
			}
		}
		if err := copyTree(dest, filepath.Join(r.dir, sub[0])); err != nil {
			r.t.Fatal(err)
		}
	}
}

func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		dest := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(dest, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(dest, data, 0o644)
	})
}

func all(t *testing.T, out string) []File {
	var files []File
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		head, path, _ := strings.Cut(entry, "\t")
		f := strings.Fields(head)
		files = append(files, File{Path: path, Mode: octal(t, f[0]), Object: f[2]})
	}
	return files
}

func changes(t *testing.T, out string) []File {
	var files []File
	parts := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		f := strings.Fields(parts[i])
		file := File{Path: parts[i+1], Mode: octal(t, f[1])}
		if file.Mode != 0 {
			file.Object = f[3]
		}
		files = append(files, file)
	}
	return files
}

func octal(t *testing.T, s string) uint32 {
	t.Helper()
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// reset makes the workspace equal to a base.
func reset(t *testing.T, s *Sandbox, b Base) ResetReport {
	t.Helper()
	report, err := s.Reset(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// diff gives the patch without its end line.
func diff(t *testing.T, s *Sandbox) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := s.Diff(t.Context(), &out, 1<<20); err != nil {
		t.Fatal(err)
	}
	patch, end, found := strings.Cut(out.String(), "ftl-end ")
	if !found || !strings.HasPrefix(end, "files=") {
		t.Fatalf("no end line: %q", &out)
	}
	return patch
}

// until polls for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(2 * time.Minute); !holds(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within two minutes", what)
		}
	}
}
