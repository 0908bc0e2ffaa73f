package hooks_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/hooks"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// world is a user's home with repositories in it.
type world struct {
	t   *testing.T
	dir string
	env []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir}
	w.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_SYSTEM=" + w.path("system"),
		"GIT_CONFIG_GLOBAL=" + w.path("global"), "GIT_CEILING_DIRECTORIES=" + dir,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@x"}
	w.write("global", "[protocol \"file\"]\n\tallow = always\n[init]\n\tdefaultBranch = main\n", 0o644)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// git runs git in a folder below the home.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.path(dir), w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo makes a repository with a commit.
func (w *world) repo(dir string) {
	w.t.Helper()
	w.git("", "init", "-q", dir)
	w.write(dir+"/a.txt", "a\n", 0o644)
	w.git(dir, "add", ".")
	w.git(dir, "commit", "-qm", "first")
}

func (w *world) write(name, text string, mode fs.FileMode) {
	w.t.Helper()
	w.do(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.do(os.WriteFile(w.path(name), []byte(text), mode))
	w.do(os.Chmod(w.path(name), mode))
}

func (w *world) link(target, name string) {
	w.t.Helper()
	w.do(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.do(os.Symlink(target, w.path(name)))
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	w.do(err)
	return string(data)
}

func (w *world) do(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) open(dir string) *git.Repo {
	w.t.Helper()
	r, err := git.OpenAny(w.t.Context(), w.path(dir), w.env)
	w.do(err)
	return r
}

func (w *world) install(dir string, names ...string) []hooks.Change {
	w.t.Helper()
	done, err := w.tryInstall(dir, names...)
	w.do(err)
	return done
}

func (w *world) tryInstall(dir string, names ...string) ([]hooks.Change, error) {
	w.t.Helper()
	if len(names) == 0 {
		names = hooks.Default()
	}
	return hooks.Install{Names: names, Program: "/opt/git-ftl"}.Do(w.t.Context(), w.open(dir))
}

func (w *world) uninstall(dir string) []hooks.Change {
	w.t.Helper()
	done, err := hooks.Uninstall(w.t.Context(), w.open(dir), hooks.Names(), false)
	w.do(err)
	return done
}

// states are those of Look, by name.
func (w *world) states(dir string) map[string]string {
	w.t.Helper()
	s, err := hooks.Look(w.t.Context(), w.open(dir))
	w.do(err)
	all := map[string]string{}
	for _, h := range s.Hooks {
		all[h.Name] = strings.TrimSpace(h.State + " " + h.With)
	}
	return all
}

// listing is all below a folder but git-ftl's state: type, mode, content, target.
func (w *world) listing(dir string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	w.do(filepath.WalkDir(w.path(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == git.StateDir {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch info.Mode().Type() {
		case 0:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		case fs.ModeSymlink:
			if content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		all[strings.TrimPrefix(path, w.dir)] = fmt.Sprint(info.Mode(), content)
		return nil
	}))
	return all
}
