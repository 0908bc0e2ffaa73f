package config

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// File is the name of the repository's own settings, at the top of the work tree.
const File = trust.ConfigFile

// Source is where settings come from, but for the user's git config.
type Source struct {
	Env     []string       // the caller's environment
	Content trust.Content  // the repository's own files
	Trusted bool           // the user has trusted exactly this content
	Other   bool           // the user has named content to trust, and it is another
	Before  *trust.Content // what was trusted before, where Content is not; nil for nothing
}

// Load reads every place but the flags, which the caller sets last. A bad value of
// the user's is an error that names its place; whatever is wrong with the
// repository's own files is no more than a note, since it must not keep the user
// from a verb such as undo.
func Load(ctx context.Context, repo *git.Repo, src Source) (*Config, error) {
	c := Default()
	c.trusted = src.Trusted
	c.loadFile(src)
	if err := c.loadGit(ctx, repo); err != nil {
		return nil, err
	}
	if err := c.loadEnv(src.Env); err != nil {
		return nil, err
	}
	c.loadInclude(src)
	c.loadLint(src)
	c.loadDevcontainer(src)
	c.noteAsks(src)
	return c, nil
}

// BuiltinAgents are the names of the agents that git-ftl itself knows how to run.
func BuiltinAgents() []string {
	return agent.Names()
}

// below reports whether a limit is set and lower than the default. Memory and
// CPUs have a default that only the engine knows; the smallest it can be is the
// bound here.
func below(c, def *Config, name string) bool {
	switch name {
	case "memory":
		return c.Memory > 0 && c.Memory <= 2<<30
	case "cpus":
		return c.CPUs > 0 && c.CPUs <= 1
	case "disk":
		return c.Disk > 0 && c.Disk <= def.Disk
	case "timeout":
		return c.Timeout > 0 && c.Timeout <= def.Timeout
	case "idle":
		return c.Idle > 0 && c.Idle <= def.Idle
	case "maxCost":
		return c.MaxCost > 0
	case "maxFile":
		return c.MaxFile > 0 && c.MaxFile <= def.MaxFile
	case "network":
		return c.Network == "none"
	}
	return false
}

// Line is one setting of git's.
type Line struct {
	Origin string // "file:" and a path, "command line:" and the like, as git names it
	Name   string // section and key in lower case
	Value  string
}

// readGit reads all of git's settings, since others than ours matter to a linter.
func (c *Config) readGit(ctx context.Context, repo *git.Repo) error {
	out, err := repo.Output(ctx, git.Call{Args: []string{"config", "--includes", "--show-origin", "--list", "-z"}})
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		name, value, _ := strings.Cut(fields[i+1], "\n")
		c.Git = append(c.Git, Line{fields[i], name, value})
	}
	return nil
}

// gitProxy is the one setting of git's own that counts for tasks.
const gitProxy = "http.proxy"

// loadGit takes ftl.* of the user's git config, and git's proxy.
func (c *Config) loadGit(ctx context.Context, repo *git.Repo) error {
	if err := c.readGit(ctx, repo); err != nil {
		return err
	}
	own := slices.Clone(c.Git)
	own = slices.DeleteFunc(own, func(l Line) bool { return !strings.HasPrefix(l.Name, "ftl.") && l.Name != gitProxy })
	if len(own) == 0 {
		return nil
	}
	tops, err := workTrees(ctx, repo)
	if err != nil {
		return err
	}
	values, origins := map[string][]string{}, map[string]string{}
	for _, l := range own {
		if fromWorkTree(repo, tops, l.Origin) {
			c.notes = append(c.notes, fmt.Sprintf("%s does not count: it comes from %s, which the repository brings", l.Name, strings.TrimPrefix(l.Origin, "file:")))
			continue
		}
		if l.Name == gitProxy {
			c.Proxy = l.Value
			continue
		}
		name := strings.TrimPrefix(l.Name, "ftl.")
		values[name], origins[name] = append(values[name], l.Value), l.Origin
	}
	for _, name := range sorted(values) {
		if known(name) {
			c.notes = append(c.notes, fmt.Sprintf("ftl.%s has no effect in this version", name))
		}
		if err := c.Set(name, origins[name], values[name]...); err != nil {
			return err
		}
	}
	return nil
}

// workTrees lists the tops of all work trees of the repository, since a commit
// that changes a file of one can change it in all.
func workTrees(ctx context.Context, repo *git.Repo) ([]string, error) {
	out, err := repo.Output(ctx, git.Call{Args: []string{"worktree", "list", "--porcelain", "-z"}})
	tops := []string{repo.Dir}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if top, ok := strings.CutPrefix(line, "worktree "); ok {
			tops = append(tops, filepath.FromSlash(top))
		}
	}
	return tops, err
}

// fromWorkTree reports whether a config file is one that a commit could change.
func fromWorkTree(repo *git.Repo, tops []string, origin string) bool {
	path, ok := strings.CutPrefix(origin, "file:")
	if !ok {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(repo.Dir, path)
	}
	inside := slices.ContainsFunc(tops, func(top string) bool { return within(top, path) })
	return inside && !within(repo.GitDir, path) && !within(repo.CommonDir, path)
}

func within(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// loadEnv reads FTL_MEMORY, FTL_MAX_FILE and so on; lists are split at spaces
// and commas.
func (c *Config) loadEnv(env []string) error {
	for _, k := range keys() {
		name := "FTL_" + strings.ToUpper(snake(k.name))
		i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if i < 0 {
			continue
		}
		value := strings.TrimPrefix(env[i], name+"=")
		values := []string{value}
		if slices.Contains(lists(), k.name) {
			values = strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ',' })
		}
		if err := c.Set(k.name, name, values...); err != nil {
			return err
		}
	}
	return nil
}

// camel turns max_file into maxFile; snake is its inverse.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func sorted(m map[string][]string) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
