package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Setting is core.hooksPath as git has it here.
type Setting struct {
	Value  string `json:"value"`  // as an absolute path, "" where it is set to nothing
	Scope  string `json:"scope"`  // system, global, local, worktree or command
	Origin string `json:"origin"` // as git says: "file:PATH", "command line:"
}

// PathError says why nothing is written to the folder that git runs hooks from.
type PathError struct {
	Dir     string   // "" where core.hooksPath is empty
	Setting *Setting // nil where core.hooksPath is not set
	Why     string

	ways []string
}

// Error names the folder, and the setting it comes from.
func (e *PathError) Error() string {
	switch {
	case e.Setting == nil:
		return fmt.Sprintf("the folder of the hooks is %s: %s", e.Dir, e.Why)
	case e.Dir == "":
		return fmt.Sprintf("core.hooksPath is empty (%s, %s): %s", e.Setting.Scope, e.Setting.Origin, e.Why)
	}
	return fmt.Sprintf("core.hooksPath is %s (%s, %s): %s", e.Dir, e.Setting.Scope, e.Setting.Origin, e.Why)
}

// Hints are the lines that add git-ftl by hand, and the other ways out.
func (e *PathError) Hints() []string { return e.ways }

// place is the folder that git runs the hooks of a work tree from.
type place struct {
	repo    *git.Repo
	dir     string
	setting *Setting // nil where core.hooksPath is not set
}

func find(ctx context.Context, repo *git.Repo) (place, error) {
	s, err := setting(ctx, repo)
	if err != nil {
		return place{}, err
	}
	if s != nil {
		return place{repo, s.Value, s}, nil
	}
	return place{repo, filepath.Join(repo.CommonDir, "hooks"), nil}, nil
}

// setting reads core.hooksPath, nil where it is not set.
func setting(ctx context.Context, repo *git.Repo) (*Setting, error) {
	out, err := repo.Output(ctx, git.Call{
		Args: []string{"config", "--show-scope", "--show-origin", "-z", "--type=path", "--get-all", "core.hooksPath"},
	})
	if err != nil {
		return nil, fmt.Errorf("read core.hooksPath: %w", err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields) < 6 { // the last is our own, which turns hooks off for our calls
		return nil, nil
	}
	last := fields[len(fields)-6 : len(fields)-3]
	s := &Setting{Scope: last[0], Origin: last[1], Value: filepath.FromSlash(last[2])}
	if s.Value != "" && !filepath.IsAbs(s.Value) {
		s.Value = filepath.Join(repo.Dir, s.Value)
	}
	return s, nil
}

// writable refuses a folder unless it is of this repository alone and inside its
// git dir: what is in the work tree can be tracked, what is elsewhere be shared.
func (p place) writable(names []string) error {
	e := &PathError{Dir: p.dir, Setting: p.setting}
	scope := ""
	if p.setting != nil {
		scope = p.setting.Scope
	}
	switch {
	case scope != "" && p.dir == "":
		e.Why = "git looks for hooks in the root folder"
		e.ways = []string{fmt.Sprintf("git config --%s --unset-all core.hooksPath", scope)}
	case scope == "command":
		e.Why = "that is so for this command alone"
		e.ways = []string{"git ftl hooks install, without git -c core.hooksPath and GIT_CONFIG_*"}
	case scope == "global" || scope == "system":
		e.Why = "its hooks run in other repositories too"
		e.ways = p.elsewhere(names)
	case within(p.dir, p.repo.CommonDir):
		return nil
	case within(p.dir, p.repo.Dir):
		m := p.manager()
		e.Why = "it is in the work tree"
		if m.sign != "" { // a program of its own
			e.Why += ", where " + m.name + " keeps hooks"
		}
		e.ways = m.lines(names)
	default:
		e.Why = "it is outside of this repository"
		e.ways = p.elsewhere(names)
	}
	return e
}

// elsewhere are the ways out where the folder is not this repository's.
func (p place) elsewhere(names []string) []string {
	own := filepath.Join(p.repo.CommonDir, "hooks")
	if p.setting == nil {
		return scripts(p.dir).lines(names)
	}
	return append(scripts(p.dir).lines(names),
		fmt.Sprintf("git config core.hooksPath %s makes git run this repository's own hooks, and no longer those", quote(filepath.ToSlash(own))))
}

// within reports whether dir, or the part of it that is there, is root or below it,
// whatever links and spellings lead there.
func within(dir, root string) bool {
	top, err := os.Stat(root)
	if err != nil {
		return false
	}
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			dir = real
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return false
		}
		if _, err := os.Lstat(dir); err == nil {
			return false // a link to nowhere yet
		}
		dir = filepath.Dir(dir)
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, top) {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
	}
}
