// Package git is the one way git-ftl reaches a repository: it finds it, runs
// git on it, moves its refs and reads and writes its objects.
//
// Every call runs with hooks, fsmonitor, replace objects and automatic
// maintenance off and takes names literally. Refs move only by git's own
// transactions; objects are encoded and written with go-git and read through
// "git cat-file", which knows alternates, partial clones and every pack format.
// Nothing here touches the user's index, HEAD or files.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Errors that callers branch on.
var (
	// ErrNotRepository says that a folder is in no work tree of a repository.
	ErrNotRepository = errors.New("not in a git work tree")
	// ErrTooOld says that the installed git is older than 2.38.
	ErrTooOld = errors.New("git 2.38 or later is required")
	// ErrMoved says that a ref was not where its update expected it.
	ErrMoved = errors.New("ref moved meanwhile")
)

// StateDir is the name of git-ftl's private folder in the common git dir. It is
// not "ftl", since a file <git dir>/ftl/pending would shadow refs/ftl/pending.
const StateDir = "git-ftl"

// Repo is one work tree of a repository. All paths are absolute. A Repo is
// immutable and safe for concurrent use.
type Repo struct {
	Dir       string // top folder of the work tree
	Prefix    string // the caller's folder below Dir with slashes, "" at the top
	GitDir    string // this work tree's git dir
	CommonDir string // the git dir that linked work trees share
	State     string // CommonDir/git-ftl, mode 0700, made by Open

	env     []string
	objects string // folder that new objects go to, "" for CommonDir's
}

// Open finds the repository and work tree around dir, as git does: env may
// carry GIT_DIR and GIT_WORK_TREE, also where dir is outside of the latter, and
// safe.directory is honoured. Errors: ErrNotRepository, ErrTooOld, or what git
// said.
func Open(ctx context.Context, dir string, env []string) (*Repo, error) {
	return open(ctx, dir, env, Find)
}

// open finds a repository while it asks for git's version: a git that is too old
// may fail at either.
func open(ctx context.Context, dir string, env []string, find func(context.Context, string, []string) (*Repo, error)) (*Repo, error) {
	version := make(chan error, 1)
	go func() { version <- checkVersion(ctx, env) }()
	r, err := find(ctx, dir, env)
	if old := <-version; old != nil {
		return nil, old
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.State, 0o700); err != nil {
		return nil, fmt.Errorf("make state folder: %w", err)
	}
	return r, nil
}

// Find is Open for who only looks: it makes no folder and asks for no version, so
// it starts one git. Errors: ErrNotRepository, or what git said.
func Find(ctx context.Context, dir string, env []string) (*Repo, error) {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--path-format=absolute",
		"--show-object-format", "--git-dir", "--git-common-dir", "--show-toplevel", "--show-prefix")
	cmd.Dir, cmd.Env = dir, append(env[:len(env):len(env)], "LC_ALL=C")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 { // and no signal ended it
		said := strings.TrimSpace(string(exit.Stderr))
		if strings.Contains(said, "dubious ownership") {
			return nil, fmt.Errorf("open repository: %s", said)
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRepository)
	}
	if err != nil {
		return nil, fmt.Errorf("run git: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) == 4 {
		lines = append(lines, "") // no prefix is printed outside of the work tree
	}
	if len(lines) != 5 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRepository)
	}
	if lines[0] != "sha1" {
		return nil, fmt.Errorf("%s: repositories with %s object names are not supported", lines[3], lines[0])
	}
	r := &Repo{
		GitDir:    filepath.FromSlash(lines[1]),
		CommonDir: filepath.FromSlash(lines[2]),
		Dir:       filepath.FromSlash(lines[3]),
		Prefix:    strings.TrimSuffix(lines[4], "/"),
	}
	r.State = filepath.Join(r.CommonDir, StateDir)
	r.env = ownEnv(env, r)
	return r, nil
}

// Linked reports whether this is a linked work tree and not the main one.
func (r *Repo) Linked() bool { return r.GitDir != r.CommonDir }

// Key names this work tree within the repository: "main", or the name of its
// folder below <common dir>/worktrees.
func (r *Repo) Key() string {
	if r.Linked() {
		return "wt-" + filepath.Base(r.GitDir)
	}
	return "main"
}

// Path joins state folder and elements, in the system's spelling.
func (r *Repo) Path(elem ...string) string {
	return filepath.Join(append([]string{r.State}, elem...)...)
}

// Overlay returns the same work tree with more objects to read: those of the
// folders in more, each an object folder by its absolute path, and of dir/objects.
// New objects go to the latter; where dir is "" they go where r's do.
func (r *Repo) Overlay(dir string, more ...string) *Repo {
	o := *r
	if dir != "" {
		o.objects = filepath.Join(dir, "objects")
		more = append([]string{r.ObjectDir()}, more...)
	}
	quoted := make([]string, len(more))
	for i, m := range more {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.ToSlash(m)) + `"`
	}
	o.env = append(r.env[:len(r.env):len(r.env)], "GIT_OBJECT_DIRECTORY="+o.ObjectDir(),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+strings.Join(quoted, string(filepath.ListSeparator)))
	return &o
}

func checkVersion(ctx context.Context, env []string) error {
	cmd := exec.CommandContext(ctx, "git", "version")
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run git: %w", err)
	}
	said := strings.TrimSpace(strings.TrimPrefix(string(out), "git version "))
	major, rest, _ := strings.Cut(said, ".")
	minor, _, _ := strings.Cut(rest, ".")
	ma, err1 := strconv.Atoi(major)
	mi, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil || ma < 2 || ma == 2 && mi < 38 {
		return fmt.Errorf("%w: this is %s", ErrTooOld, said)
	}
	return nil
}

// ownEnv is env without what would point git at another repository, index or
// object store, and with this work tree named explicitly.
func ownEnv(env []string, r *Repo) []string {
	drop := map[string]bool{
		"GIT_DIR": true, "GIT_WORK_TREE": true, "GIT_COMMON_DIR": true, "GIT_INDEX_FILE": true,
		"GIT_OBJECT_DIRECTORY": true, "GIT_ALTERNATE_OBJECT_DIRECTORIES": true, "GIT_NAMESPACE": true,
		"GIT_PREFIX": true, "GIT_QUARANTINE_PATH": true, "GIT_EXTERNAL_DIFF": true, "GIT_SHALLOW_FILE": true,
		"GIT_GRAFT_FILE": true, "GIT_REPLACE_REF_BASE": true, "GIT_NOTES_REF": true, "GIT_DIFF_OPTS": true,
		"GIT_LITERAL_PATHSPECS": true, "GIT_GLOB_PATHSPECS": true, "GIT_NOGLOB_PATHSPECS": true,
		"GIT_ICASE_PATHSPECS": true, "GIT_DEFAULT_HASH": true, "GIT_CONFIG": true, "GIT_OPTIONAL_LOCKS": true,
		"GIT_INTERNAL_SUPER_PREFIX": true, "GIT_IMPLICIT_WORK_TREE": true, "GIT_REFLOG_ACTION": true,
	}
	var own []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !drop[name] {
			own = append(own, kv)
		}
	}
	return append(own, "GIT_DIR="+r.GitDir, "GIT_WORK_TREE="+r.Dir, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_LFS_SKIP_SMUDGE=1", "GIT_OPTIONAL_LOCKS=0")
}
