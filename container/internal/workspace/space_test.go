//go:build linux

package workspace

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// files maps paths to "mode content", such as "644 text" or "link target".
type files map[string]string

// newSpace makes the folders of a sandbox; the tests run as root, as the guest
// does.
func newSpace(t testing.TB) Space {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: the guest's file work needs root")
	}
	dir := t.TempDir()
	s := Space{
		Root: filepath.Join(dir, "workspace"), Tree: filepath.Join(dir, "tree"), Objects: filepath.Join(dir, "objects"),
		State: filepath.Join(dir, "state"), Home: filepath.Join(dir, "home"), Skel: filepath.Join(dir, "skel"),
		Temp: []string{filepath.Join(dir, "tmp")}, UID: wire.UID,
	}
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{s.Skel, s.Temp[0]} {
		must(t, os.Mkdir(d, 0o755))
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lay makes a folder hold just these files.
func lay(t testing.TB, dir string, all files) {
	t.Helper()
	must(t, os.RemoveAll(dir))
	must(t, os.Mkdir(dir, 0o755))
	for _, p := range slices.Sorted(maps.Keys(all)) {
		put(t, dir, p, all[p])
	}
}

func put(t testing.TB, dir, p, file string) {
	t.Helper()
	name := filepath.Join(dir, p)
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	switch kind, content, _ := strings.Cut(file, " "); kind {
	case "link":
		must(t, os.Symlink(content, name))
	case "submodule":
		must(t, os.Mkdir(name, 0o755))
	case "755":
		must(t, os.WriteFile(name, []byte(content), 0o755))
	default:
		must(t, os.WriteFile(name, []byte(content), 0o644))
	}
}

// take reads a folder back, without top; folders are not part of it.
func take(t testing.TB, dir, top string) files {
	t.Helper()
	all := files{}
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		p, _ := filepath.Rel(dir, name)
		if err != nil || d.IsDir() {
			if err == nil && p == top {
				return filepath.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(name)
			all[p] = "link " + to
			return err
		}
		data, err := os.ReadFile(name)
		all[p] = fmt.Sprintf("%o %s", info.Mode().Perm(), data)
		return err
	}))
	return all
}

// wireFiles lists all files of a base.
func wireFiles(all files) []wire.File {
	var list []wire.File
	for _, p := range slices.Sorted(maps.Keys(all)) {
		list = append(list, wireFile(p, all[p]))
	}
	return list
}

func wireFile(p, file string) wire.File {
	kind, content, _ := strings.Cut(file, " ")
	mode := map[string]uint32{"644": modeFile, "755": modeExec, "link": modeLink, "submodule": modeGitlink}[kind]
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return wire.File{Path: wire.Path(p), Mode: mode, Object: hex.EncodeToString(sum[:])}
}

// resetAll lays the base and resets to it.
func resetAll(t testing.TB, s Space, id string, base files) wire.ResetReport {
	t.Helper()
	lay(t, s.Tree, base)
	return reseti(t, s, wire.Reset{ID: id, All: true, Changed: wireFiles(base)})
}

func reseti(t testing.TB, s Space, r wire.Reset) wire.ResetReport {
	t.Helper()
	report, err := s.Reset(r)
	must(t, err)
	return report
}

// change returns the patch without its end line, and what was dropped.
func change(t testing.TB, s Space) (string, []wire.Dropped) {
	t.Helper()
	c, err := s.Scan()
	must(t, err)
	defer c.Close()
	var out bytes.Buffer
	must(t, c.Write(&out, 1<<30))
	at := strings.LastIndex(out.String(), "ftl-end ")
	if at < 0 {
		t.Fatal("the patch has no end line")
	}
	return out.String()[:at], c.Dropped
}

// applier has git turn bases into trees by patches. It works on an index: on
// disk git trips over links that lead to themselves.
type applier struct{ repo string }

func newApplier(t testing.TB) applier {
	t.Helper()
	a := applier{t.TempDir()}
	git(t, a.repo, "", "init", "-q", "--bare")
	return a
}

func (a applier) apply(t testing.TB, tree, patch string) files {
	t.Helper()
	work := "--work-tree=" + tree
	_ = os.Remove(filepath.Join(a.repo, "index"))
	git(t, a.repo, "", "--git-dir="+a.repo, work, "add", "-A", "-f")
	git(t, a.repo, patch, "--git-dir="+a.repo, work, "apply", "--cached", "--whitespace=nowarn", "--allow-empty")
	out := filepath.Join(t.TempDir(), "out")
	must(t, os.Mkdir(out, 0o755))
	git(t, a.repo, "", "--git-dir="+a.repo, work, "checkout-index", "-a", "--prefix="+out+"/")
	return take(t, out, "")
}

func git(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--work-tree=") }); i >= 0 {
		dir = strings.TrimPrefix(args[i], "--work-tree=")
	}
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s\n%s", args, err, &stderr, stdin[:min(len(stdin), 4000)])
	}
	return string(out)
}

// wantBase fails where the workspace is not the base.
func wantBase(t testing.TB, s Space, base files) {
	t.Helper()
	if diff := cmp.Diff(base, take(t, s.Root, ".git")); diff != "" {
		t.Errorf("workspace differs from the base (-base +workspace):\n%s", diff)
	}
}
