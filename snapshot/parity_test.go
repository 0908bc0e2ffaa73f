package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestParityOverRandomSequences drives the private index through what users do
// and compares each tree with that of a fresh "git add -A".
func TestParityOverRandomSequences(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1 // the full tier has the others
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t)
			r := &random{world: w, Rand: rand.New(rand.NewPCG(seed, 7))}
			for step := range 100 {
				did := r.step()
				r.log = append(r.log, did)
				if r.IntN(3) > 0 {
					w.checkParity(fmt.Sprintf("step %d, after %q", step, r.log[max(0, len(r.log)-12):]))
				}
			}
		})
	}
}

type random struct {
	*world
	*rand.Rand
	log []string
}

func (r *random) name() string {
	names := []string{"a", "b", "c.log", "d/a", "d/b.log", "d/e/f", "d/e/g.log", "h", "sp ace", "x/y/z/w", "x/y.log", "gen/out"}
	return names[r.IntN(len(names))]
}

func (r *random) content() string {
	return strings.Repeat(fmt.Sprintln(r.IntN(6)), 1+r.IntN(3))
}

func (r *random) step() string {
	n := r.name()
	switch r.IntN(22) {
	case 0, 1, 2, 3:
		return r.edit(n)
	case 4:
		r.RemoveAll(n)
		return "delete " + n
	case 5:
		return r.run("add", "--", n)
	case 6:
		return r.run("add", "-f", "--", n)
	case 7:
		return r.run("rm", "-r", "-f", "-q", "--", n)
	case 8, 9:
		return r.run("rm", "-r", "--cached", "-q", "--", n)
	case 10, 11:
		return r.ignore()
	case 12:
		mode := []os.FileMode{0o644, 0o755}[r.IntN(2)]
		_ = os.Chmod(r.path(n), mode)
		return fmt.Sprint("chmod ", n, mode)
	case 13:
		r.RemoveAll(n)
		_ = os.MkdirAll(filepath.Dir(r.path(n)), 0o755)
		_ = os.Symlink([]string{"a", "d", "nowhere"}[r.IntN(3)], r.path(n))
		return "symlink " + n
	case 14:
		to := r.name()
		_ = os.MkdirAll(filepath.Dir(r.path(to)), 0o755)
		_ = os.Rename(r.path(n), r.path(to))
		return "rename " + n + " " + to
	case 15:
		r.RemoveAll(n)
		r.write(n+"/in", r.content())
		return "folder in place of " + n
	default:
		return r.rare(n)
	}
}

func (r *random) rare(n string) string {
	switch r.IntN(11) {
	case 0:
		return r.run("commit", "-q", "--allow-empty", "-am", "x")
	case 1:
		return r.run("add", "-A") + r.run("commit", "-q", "--allow-empty", "-m", "all")
	case 2:
		return r.run("checkout", "-q", "-f", "-B", fmt.Sprint("br", r.IntN(3)))
	case 3:
		return r.run("checkout", "-q", "-f", fmt.Sprint("br", r.IntN(3)))
	case 4:
		return r.run("update-index", []string{"--assume-unchanged", "--no-assume-unchanged"}[r.IntN(2)], "--", n)
	case 5:
		return r.run("update-index", []string{"--skip-worktree", "--no-skip-worktree"}[r.IntN(2)], "--", n)
	case 6:
		return r.run("stash", "-q", "-u")
	case 7:
		return r.run("reset", "-q", []string{"--soft", "--mixed", "--hard"}[r.IntN(3)], "HEAD~1")
	case 8:
		return r.run("add", "-N", "--", n)
	case 9:
		r.write(".gitattributes", []string{"* -text\n", "*.log text\n", "* text=auto eol=lf\n"}[r.IntN(3)])
		return "attributes"
	default:
		return r.run("config", "core.autocrlf", []string{"true", "false", "input"}[r.IntN(3)])
	}
}

func (r *random) RemoveAll(n string) { _ = os.RemoveAll(r.path(n)) }

func (r *random) edit(n string) string {
	dir := filepath.Dir(n)
	for p := dir; p != "."; p = filepath.Dir(p) {
		if info, err := os.Lstat(r.path(p)); err == nil && !info.IsDir() {
			r.RemoveAll(p)
		}
	}
	r.RemoveAll(n)
	text := r.content()
	if r.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	r.write(n, text)
	return fmt.Sprintf("edit %s %q", n, text)
}

func (r *random) ignore() string {
	file := []string{".gitignore", "d/.gitignore", ".git/info/exclude"}[r.IntN(3)]
	text := []string{"", "*.log\n", "d/\n", "a\nx/y\n", "*.log\n!c.log\n", "gen/\nsp*\n", "/d/e\n"}[r.IntN(7)]
	if info, err := os.Lstat(r.path("d")); file == "d/.gitignore" && (err != nil || !info.IsDir()) {
		file = ".gitignore"
	}
	r.write(file, text)
	return fmt.Sprintf("%s %q", file, text)
}

func (r *random) run(args ...string) string {
	_, err := r.try(args...)
	return fmt.Sprintf("git %s (%t) ", strings.Join(args, " "), err == nil)
}
