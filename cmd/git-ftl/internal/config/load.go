package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// File is the name of the repository's own settings, at the top of the work tree.
const File = ".ftlconfig"

// maxFile bounds .ftlconfig, in bytes.
const maxFile = 1 << 20

// Load reads every place but the flags, which the caller sets last. Env is the
// caller's environment. A bad value of the user's is an error that names its
// place; whatever is wrong with the repository's own file is no more than a note,
// since it must not keep the user from a verb such as undo.
func Load(ctx context.Context, repo *git.Repo, env []string) (*Config, error) {
	c := Default()
	c.loadFile(filepath.Join(repo.Dir, File))
	if err := c.loadGit(ctx, repo); err != nil {
		return nil, err
	}
	return c, c.loadEnv(env)
}

// loadFile reads .ftlconfig as untrusted.
func (c *Config) loadFile(path string) {
	data, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var values map[string][]string
	if err == nil {
		values, err = parseFile(data)
	}
	if err != nil {
		c.notes = append(c.notes, fmt.Sprintf("%s does not count: %v", File, err))
		return
	}
	var ignored []string
	for _, name := range sorted(values) {
		switch counts, err := c.setUntrusted(name, values[name]); {
		case err != nil:
			c.notes = append(c.notes, err.Error()+"; it does not count")
		case !counts:
			ignored = append(ignored, name)
		}
	}
	if len(ignored) > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%s: %s would widen what a task may do and does not count; to take it, set it with git config ftl.KEY", File, strings.Join(ignored, ", ")))
	}
}

// readRegular reads a file of bounded size and follows no link.
func readRegular(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, errors.New("it is not a regular file of at most 1 MiB")
	}
	return os.ReadFile(path)
}

// parseFile returns the values of each key, camelCase, flattened.
func parseFile(data []byte) (map[string][]string, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var top map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&top); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	values := map[string][]string{}
	for name, v := range top {
		name = camel(name)
		if name == "agents" {
			continue // handled below: a command of the repository needs trust
		}
		values[name] = flatten(v)
	}
	if agents, ok := top["agents"].(map[string]any); ok && len(agents) > 0 {
		values["agents"] = []string{fmt.Sprint(len(agents))}
	}
	return values, nil
}

// setUntrusted takes a value of the repository where it can do no harm.
func (c *Config) setUntrusted(name string, values []string) (counts bool, err error) {
	if strings.EqualFold(name, "languageOverrides") {
		return true, nil // harmless, and without effect yet
	}
	k, ok := find(name)
	if !ok || k.trust == needsTrust || len(values) == 0 {
		return false, nil
	}
	if k.trust == builtin && !slices.Contains(BuiltinAgents(), values[0]) {
		return false, nil
	}
	if k.trust != lower {
		return true, c.Set(name, File, values...)
	}
	probe := Default()
	if err := probe.Set(name, File, values...); err != nil {
		return false, err
	}
	if !below(probe, Default(), k.name) {
		return false, nil
	}
	return true, c.Set(name, File, values...)
}

// BuiltinAgents are the names of the agents that git-ftl itself knows how to run.
func BuiltinAgents() []string {
	return []string{"claude-code", "codex", "aider", "kiro", "gemini", "opencode"}
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
	case "maxFile":
		return c.MaxFile > 0 && c.MaxFile <= def.MaxFile
	}
	return false
}

// loadGit reads ftl.* of the user's git config.
func (c *Config) loadGit(ctx context.Context, repo *git.Repo) error {
	out, err := repo.Output(ctx, git.Call{Args: []string{"config", "--includes", "--show-origin", "-z", "--get-regexp", `^ftl\.`}})
	var exit *git.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return nil
	}
	if err != nil {
		return err
	}
	values, origins := map[string][]string{}, map[string]string{}
	tops, err := workTrees(ctx, repo)
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		origin := fields[i]
		name, value, _ := strings.Cut(fields[i+1], "\n")
		name = strings.TrimPrefix(name, "ftl.")
		if fromWorkTree(repo, tops, origin) {
			c.notes = append(c.notes, fmt.Sprintf("ftl.%s does not count: it comes from %s, which the repository brings", name, strings.TrimPrefix(origin, "file:")))
			continue
		}
		values[name], origins[name] = append(values[name], value), origin
	}
	for _, name := range sorted(values) {
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
		if k.name == "keep" || k.name == "setupWhen" {
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

func flatten(v any) []string {
	if all, ok := v.([]any); ok {
		var out []string
		for _, e := range all {
			out = append(out, flatten(e)...)
		}
		return out
	}
	if v == nil {
		return nil
	}
	return []string{fmt.Sprint(v)}
}

func sorted(m map[string][]string) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
