// Package config gathers git-ftl's settings from the five places that may hold
// them and says of each value where it comes from.
//
// Later wins: built-in, .ftlconfig in the work tree, git config ftl.*, FTL_*
// variables, flags. What the repository brings counts little: until the user has
// trusted its content, .ftlconfig only in the keys that cannot widen what a task
// may do, .ftlinclude, .ftllint and .devcontainer not at all; a git config value that comes from a file in
// the work tree never does.
package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
)

// Config is what a task runs with. Sizes are bytes; 0 means the engine's default
// for memory and CPUs, and no bound for disk and time.
type Config struct {
	Agent     string
	Model     string
	Tester    string // models that look at what the agent does: anthropic/NAME, openai/NAME, openai/NAME@URL
	Reviewer  string
	Language  string // one that package language knows, or "" for what is found
	Languages []language.Override
	Test      string
	Setup     string
	SetupWhen []string // files whose change runs Setup again
	Keep      []string // ignored folders that stay between tasks
	Image     string
	Engine    string
	Memory    int64
	CPUs      float64
	Disk      int64
	Timeout   time.Duration
	Idle      time.Duration // that nothing may be heard of an agent; 0 is no bound
	MaxCost   float64       // US dollars; 0 is no bound
	MaxFile   int64
	Network   string        // allow, none or open
	Allow     []string      // hosts that tasks may reach
	Secrets   []string      // names of variables of the user's that tasks get shadows of
	ShadowEnv []string      // likewise: the name that the setting had in other versions
	AgentEnv  []string      // names of variables that tasks get as they are, unless they look like secrets
	Include   bool          // obey every .ftlinclude of the repository, unseen
	Lines     string        // of the one at the top, where its content is trusted
	Lint      []Lint        // what the user says of findings; later ones win
	Accepts   []byte        // the repository's .ftllint, where its content is trusted
	LFS       bool          // show the agent the content of LFS files that is on this machine
	Notify    string        // how the end of a long run is told: on, bell, desktop or off
	Retention time.Duration // how long what was decided on stays; 0 is for ever
	Agents    map[string]Agent
	Git       []Line    // all of git's own settings, as it reads them here
	Proxy     string    // git's http.proxy, where the user has set it
	Container Container // of the repository's devcontainer.json, where that is trusted

	origin  map[string]string
	notes   []string
	asks    []Ask
	trusted bool // the asks count
}

// Lint is ftl.lint.RULE of the user's git config: a severity or "off" for a rule or
// a family of them. Git takes no slash in the name of a setting: the first dash
// stands for it.
type Lint struct{ Rule, Severity, Origin string }

// Agent is a command that the user configured as agents.NAME.command. It runs
// in the sandbox by "sh -c" with the task on its standard input.
type Agent struct{ Command string }

// Default is the built-in configuration.
func Default() *Config {
	return &Config{
		SetupWhen: []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "go.sum", "requirements.txt", "poetry.lock", "uv.lock", "Cargo.lock", "Gemfile.lock"},
		Keep:      []string{"node_modules", ".venv", "venv", "target", ".gradle", ".tox", ".pytest_cache", ".mypy_cache"},
		Disk:      10 << 30,
		Timeout:   time.Hour,
		Idle:      20 * time.Minute,
		MaxFile:   50 << 20,
		Network:   "allow",
		Notify:    "on",
		Retention: 30 * day,
		Agents:    map[string]Agent{},
		origin:    map[string]string{},
	}
}

// key is one setting: how it is read, written, and whether an untrusted
// .ftlconfig may set it.
type key struct {
	name string // camelCase, as in git config and .ftlconfig
	set  func(*Config, []string) error
	show func(*Config) string
	need need
}

type need int

const (
	needsTrust need = iota // widens something: the user's own places only
	harmless               // any value may come from the repository
	lower                  // a repository may lower it but not raise it
	builtin                // a repository may choose among the built-in agents
)

func keys() []key {
	return []key{
		{"agent", text(func(c *Config) *string { return &c.Agent }), func(c *Config) string { return c.Agent }, builtin},
		{"model", text(func(c *Config) *string { return &c.Model }), func(c *Config) string { return c.Model }, needsTrust},
		{"tester", text(func(c *Config) *string { return &c.Tester }), func(c *Config) string { return c.Tester }, needsTrust},
		{"reviewer", text(func(c *Config) *string { return &c.Reviewer }), func(c *Config) string { return c.Reviewer }, needsTrust},
		{"language", parsed(func(c *Config) *string { return &c.Language }, language.Parse), func(c *Config) string { return c.Language }, harmless},
		{"languageOverrides", overrides, showOverrides, harmless},
		{"test", text(func(c *Config) *string { return &c.Test }), func(c *Config) string { return c.Test }, harmless},
		{"setup", text(func(c *Config) *string { return &c.Setup }), func(c *Config) string { return c.Setup }, harmless},
		{"setupWhen", list(func(c *Config) *[]string { return &c.SetupWhen }), func(c *Config) string { return strings.Join(c.SetupWhen, " ") }, needsTrust},
		{"keep", list(func(c *Config) *[]string { return &c.Keep }), func(c *Config) string { return strings.Join(c.Keep, " ") }, harmless},
		{"image", text(func(c *Config) *string { return &c.Image }), func(c *Config) string { return c.Image }, needsTrust},
		{"engine", oneOf(func(c *Config) *string { return &c.Engine }, "docker"), func(c *Config) string { return c.Engine }, needsTrust},
		{"memory", size(func(c *Config) *int64 { return &c.Memory }), func(c *Config) string { return FormatSize(c.Memory) }, lower},
		{"cpus", number(func(c *Config) *float64 { return &c.CPUs }), func(c *Config) string { return fmt.Sprint(c.CPUs) }, lower},
		{"disk", size(func(c *Config) *int64 { return &c.Disk }), func(c *Config) string { return FormatSize(c.Disk) }, lower},
		{"timeout", duration(func(c *Config) *time.Duration { return &c.Timeout }), func(c *Config) string { return c.Timeout.String() }, lower},
		{"idle", duration(func(c *Config) *time.Duration { return &c.Idle }), func(c *Config) string { return c.Idle.String() }, lower},
		{"maxCost", number(func(c *Config) *float64 { return &c.MaxCost }), func(c *Config) string { return fmt.Sprint(c.MaxCost) }, lower},
		{"maxFile", size(func(c *Config) *int64 { return &c.MaxFile }), func(c *Config) string { return FormatSize(c.MaxFile) }, lower},
		{"include", boolean(func(c *Config) *bool { return &c.Include }), func(c *Config) string { return fmt.Sprint(c.Include) }, needsTrust},
		{"lfs", boolean(func(c *Config) *bool { return &c.LFS }), func(c *Config) string { return fmt.Sprint(c.LFS) }, needsTrust},
		{"allow", hosts(func(c *Config) *[]string { return &c.Allow }), func(c *Config) string { return strings.Join(c.Allow, " ") }, needsTrust},
		{"secrets", variables(func(c *Config) *[]string { return &c.Secrets }), func(c *Config) string { return strings.Join(c.Secrets, " ") }, needsTrust},
		{"shadowEnv", variables(func(c *Config) *[]string { return &c.ShadowEnv }), func(c *Config) string { return strings.Join(c.ShadowEnv, " ") }, needsTrust},
		{"agentEnv", variables(func(c *Config) *[]string { return &c.AgentEnv }), func(c *Config) string { return strings.Join(c.AgentEnv, " ") }, needsTrust},
		{"network", oneOf(func(c *Config) *string { return &c.Network }, "none", "allow", "open"), func(c *Config) string { return c.Network }, lower},
		{"notify", oneOf(func(c *Config) *string { return &c.Notify }, "on", "bell", "desktop", "off"), func(c *Config) string { return c.Notify }, needsTrust},
		{"retention", days(func(c *Config) *time.Duration { return &c.Retention }), func(c *Config) string { return formatDays(c.Retention) }, needsTrust},
	}
}

// planned are keys of later parts of git-ftl: known, so that a file that has
// them is no error, and without effect yet.
func planned() []string {
	return []string{"history", "trailers", "lint", "snapshotBackend", "s3Bucket",
		"secretsManagerPrefix", "guardrailId", "guardrailVersion", "cloudwatchLogGroup", "otlpEndpoint"}
}

// lists are the keys that take several values.
func lists() []string {
	return []string{"setupWhen", "keep", "allow", "secrets", "shadowEnv", "agentEnv", "languageOverrides"}
}

func find(name string) (key, bool) {
	all := keys()
	i := slices.IndexFunc(all, func(k key) bool { return strings.EqualFold(k.name, name) })
	if i < 0 {
		return key{}, false
	}
	return all[i], true
}

func known(name string) bool {
	return slices.ContainsFunc(planned(), func(p string) bool { return strings.EqualFold(p, name) })
}

// Set sets one key from its text form, or several for a list. Origin says where
// the value stands ("flag", "FTL_MEMORY", "file:/home/me/.gitconfig").
func (c *Config) Set(name, origin string, values ...string) error {
	if agent, ok := agentKey(name); ok {
		c.Agents[agent] = Agent{Command: values[len(values)-1]}
		c.origin["agents."+agent+".command"] = origin
		return nil
	}
	if rule, ok := cutPrefixFold(name, "lint."); ok {
		return c.setLint(rule, origin, values)
	}
	k, ok := find(name)
	switch {
	case ok:
	case known(name):
		return nil
	default:
		return fmt.Errorf("%s: no setting is called %q", origin, name)
	}
	if err := k.set(c, values); err != nil {
		return fmt.Errorf("%s: %s: %w", origin, k.name, err)
	}
	c.origin[k.name] = origin
	return nil
}

// agentKey takes NAME out of agents.NAME.command.
func agentKey(name string) (string, bool) {
	rest, ok := cutPrefixFold(name, "agents.")
	if !ok {
		return "", false
	}
	agent, ok := strings.CutSuffix(rest, ".command")
	return agent, ok && agent != ""
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// HostSecrets are the names of Secrets and ShadowEnv, each once.
func (c *Config) HostSecrets() []string {
	names := slices.Concat(c.Secrets, c.ShadowEnv)
	slices.Sort(names)
	return slices.Compact(names)
}

// IsSet reports whether anything set a key, if only to what it is anyway.
func (c *Config) IsSet(name string) bool { return c.origin[name] != "" }

// Notes are sentences about settings that did not count, for the user.
func (c *Config) Notes() []string { return c.notes }

// Setting is one line of a listing.
type Setting struct {
	Name   string   `json:"name"`
	Value  string   `json:"value"`           // the one that counts
	Origin string   `json:"origin"`          // "built-in" where nothing set it
	Trust  string   `json:"trust,omitempty"` // of .ftlconfig: "not needed", "given" or "missing"; "" for your own places
	Asked  []string `json:"asked,omitempty"` // what .ftlconfig says and what does not count without trust
}

// Settings lists every setting with its value and where it comes from.
func (c *Config) Settings() []Setting {
	var all []Setting
	for _, k := range keys() {
		all = append(all, c.setting(k.name, k.show(c)))
	}
	names := map[string][]string{}
	for name := range c.Agents {
		names["agents."+name+".command"] = nil
	}
	for _, a := range c.asks {
		if _, ok := agentKey(a.Key); ok && a.File == File {
			names[a.Key] = nil
		}
	}
	for _, full := range sorted(names) {
		name, _ := agentKey(full)
		all = append(all, c.setting(full, c.Agents[name].Command))
	}
	return all
}

func (c *Config) setting(name, value string) Setting {
	s := Setting{Name: name, Value: value, Origin: "built-in"}
	if o := c.origin[name]; o != "" {
		s.Origin = o
	}
	i := slices.IndexFunc(c.asks, func(a Ask) bool { return a.File == File && a.Key == name })
	switch {
	case i >= 0 && !c.trusted:
		s.Trust, s.Asked = "missing", c.asks[i].Values
	case i >= 0 && s.Origin == File:
		s.Trust = "given"
	case s.Origin == File:
		s.Trust = "not needed"
	}
	return s
}
