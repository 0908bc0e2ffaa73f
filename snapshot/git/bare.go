package git

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// OpenAny is Open also where there is no work tree, as in a bare repository: Dir is
// the git dir there.
func OpenAny(ctx context.Context, dir string, env []string) (*Repo, error) {
	return open(ctx, dir, env, FindAny)
}

// FindAny is Find also where there is no work tree, as OpenAny is for Open.
func FindAny(ctx context.Context, dir string, env []string) (*Repo, error) {
	r, err := Find(ctx, dir, env)
	if !errors.Is(err, ErrNotRepository) {
		return r, err
	}
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "--path-format=absolute",
		"--show-object-format", "--git-dir", "--git-common-dir")
	cmd.Dir, cmd.Env = dir, append(env[:len(env):len(env)], "LC_ALL=C")
	out, failed := cmd.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if failed != nil || len(lines) != 3 || lines[0] != "sha1" {
		return nil, err
	}
	r = &Repo{GitDir: filepath.FromSlash(lines[1]), CommonDir: filepath.FromSlash(lines[2])}
	r.Dir, r.State = r.GitDir, filepath.Join(r.CommonDir, StateDir)
	// Named as its own work tree, a bare repository would stop being bare.
	r.env = slices.DeleteFunc(ownEnv(env, r), func(kv string) bool { return strings.HasPrefix(kv, "GIT_WORK_TREE=") })
	return r, nil
}
