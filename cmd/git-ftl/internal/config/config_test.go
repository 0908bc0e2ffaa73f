package config_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// setup makes a repository with files, and a home folder with a .gitconfig.
func setup(t *testing.T, global string, files map[string]string) (*git.Repo, []string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
	write(t, filepath.Join(home, ".gitconfig"), global)
	cmd := exec.Command("git", "init", "-q", dir)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	repo, err := git.Open(t.Context(), dir, env)
	if err != nil {
		t.Fatal(err)
	}
	return repo, env
}

// load reads the settings of a repository that nobody has trusted.
func load(t *testing.T, repo *git.Repo, env []string) (*config.Config, error) {
	t.Helper()
	return config.Load(t.Context(), repo, config.Source{Env: env, Content: trust.Read(repo.Dir)})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPrecedence(t *testing.T) {
	repo, env := setup(t, "[ftl]\n\tmemory = 3g\n\tcpus = 1.5\n\ttimeout = 20m\n", map[string]string{
		".ftlconfig":  `{"timeout": "30m", "test": "go test ./...", "max_file": "1m"}`,
		".git/config": "[ftl]\n\tcpus = 2\n\tlanguageOverrides = c=rust\n",
	})
	c, err := load(t, repo, append(env, "FTL_MAX_FILE=2m", "FTL_KEEP=a,b", "FTL_LANGUAGE_OVERRIDES=a=go b=java"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Set("memory", "--memory", "4g"); err != nil {
		t.Fatal(err)
	}
	type view struct {
		Memory, MaxFile int64
		CPUs            float64
		Timeout         time.Duration
		Test            string
		Keep            []string
		Languages       []language.Override
	}
	want := view{4 << 30, 2 << 20, 2, 20 * time.Minute, "go test ./...", []string{"a", "b"}, []language.Override{{Pattern: "a", Language: "go"}, {Pattern: "b", Language: "java"}}}
	if diff := cmp.Diff(want, view{c.Memory, c.MaxFile, c.CPUs, c.Timeout, c.Test, c.Keep, c.Languages}); diff != "" {
		t.Error(diff)
	}
	origins := map[string]string{}
	for _, s := range c.Settings() {
		origins[s.Name] = s.Origin
	}
	for name, want := range map[string]string{"memory": "--memory", "maxFile": "FTL_MAX_FILE", "cpus": "file:", "test": ".ftlconfig", "image": "built-in"} {
		if !strings.HasPrefix(origins[name], want) {
			t.Errorf("%s comes from %s, want %s", name, origins[name], want)
		}
	}
}

// TestUntrustedConfig: the repository's own file counts only where it cannot
// widen anything.
func TestUntrustedConfig(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		counts     bool
		probe      func(*config.Config) any
		want       any
	}{
		{"language", `{"language": "go"}`, true, func(c *config.Config) any { return c.Language }, "go"},
		{"no language", `{"language": "klingon"}`, false, func(c *config.Config) any { return c.Language }, ""},
		{"the original's language", `{"language": "cpp"}`, true, func(c *config.Config) any { return c.Language }, "c++"},
		{"overrides", `{"language_overrides": {"web": "TypeScript", "*.h": "cpp"}}`, true, func(c *config.Config) any { return fmt.Sprint(c.Languages) }, "[web=typescript *.h=c++]"},
		{"overrides to nothing", `{"language_overrides": {"web": "klingon"}}`, false, func(c *config.Config) any { return len(c.Languages) }, 0},
		{"overrides of another form", `{"language_overrides": {"web": {"a": "go"}}}`, false, func(c *config.Config) any { return len(c.Languages) }, 0},
		{"setup", `{"setup": "make deps"}`, true, func(c *config.Config) any { return c.Setup }, "make deps"},
		{"built-in agent", `{"agent": "codex"}`, true, func(c *config.Config) any { return c.Agent }, "codex"},
		{"other agent", `{"agent": "evil"}`, false, func(c *config.Config) any { return c.Agent }, ""},
		{"image", `{"image": "evil"}`, false, func(c *config.Config) any { return c.Image }, ""},
		{"model", `{"model": "x"}`, false, func(c *config.Config) any { return c.Model }, ""},
		{"agents", `{"agents": {"x": {"command": "evil"}}}`, false, func(c *config.Config) any { return len(c.Agents) }, 0},
		{"lower memory", `{"memory": "512m"}`, true, func(c *config.Config) any { return c.Memory }, int64(512 << 20)},
		{"higher memory", `{"memory": "64g"}`, false, func(c *config.Config) any { return c.Memory }, int64(0)},
		{"lower timeout", `{"timeout": 60}`, true, func(c *config.Config) any { return c.Timeout }, time.Minute},
		{"lower idle", `{"idle": "5m"}`, true, func(c *config.Config) any { return c.Idle }, 5 * time.Minute},
		{"no idle", `{"idle": 0}`, false, func(c *config.Config) any { return c.Idle }, 20 * time.Minute},
		{"a cost bound", `{"max_cost": "1.5"}`, true, func(c *config.Config) any { return c.MaxCost }, 1.5},
		{"no cost bound", `{"maxCost": "0"}`, false, func(c *config.Config) any { return c.MaxCost }, 0.0},
		{"no timeout", `{"timeout": 0}`, false, func(c *config.Config) any { return c.Timeout }, time.Hour},
		{"higher max file", `{"max_file": "1g"}`, false, func(c *config.Config) any { return c.MaxFile }, int64(50 << 20)},
		{"endpoint", `{"otlp_endpoint": "http://evil"}`, false, nil, nil},
		{"unknown key", `{"frobnicate": 1}`, false, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, env := setup(t, "", map[string]string{".ftlconfig": tc.file})
			c, err := load(t, repo, env)
			if err != nil {
				t.Fatal(err)
			}
			if said := len(c.Notes()) > 0; said == tc.counts {
				t.Errorf("notes: %q", c.Notes())
			}
			if tc.probe != nil && tc.probe(c) != tc.want {
				t.Errorf("got %v, want %v", tc.probe(c), tc.want)
			}
		})
	}
}

// TestConfigFromWorkTree: git config that a commit can change does not count.
func TestConfigFromWorkTree(t *testing.T) {
	repo, env := setup(t, "", map[string]string{
		"tracked.cfg": "[ftl]\n\timage = evil\n[ftl \"agents.x\"]\n\tcommand = evil\n",
		".git/config": "[include]\n\tpath = ../tracked.cfg\n[ftl \"agents.Mine\"]\n\tcommand = aider\n",
	})
	c, err := load(t, repo, env)
	if err != nil {
		t.Fatal(err)
	}
	if c.Image != "" || len(c.Notes()) != 2 {
		t.Errorf("image %q, notes %q", c.Image, c.Notes())
	}
	if diff := cmp.Diff(map[string]config.Agent{"Mine": {Command: "aider"}}, c.Agents); diff != "" {
		t.Error(diff)
	}
}

func TestBadValues(t *testing.T) {
	for _, tc := range []struct{ name, global, file, env, want string }{
		{"size", "[ftl]\n\tmemory = lots\n", "", "", `"lots" is not a size`},
		{"key", "[ftl]\n\tmemroy = 1g\n", "", "", `no setting is called "memroy"`},
		{"time in the environment", "", "", "FTL_TIMEOUT=soon", `FTL_TIMEOUT: timeout: "soon" is not a time`},
		{"engine", "", "", "FTL_ENGINE=vmware", "is not one of: docker"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := map[string]string{}
			if tc.file != "" {
				files[".ftlconfig"] = tc.file
			}
			repo, env := setup(t, tc.global, files)
			_, err := load(t, repo, append(env, tc.env))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestBadFileIsANote: what a repository brings keeps no verb from its work.
func TestBadFileIsANote(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"no JSON", func(p string) error { return os.WriteFile(p, []byte("{bad"), 0o644) }, "not a JSON object"},
		{"bad limit", func(p string) error { return os.WriteFile(p, []byte(`{"memory": "x"}`), 0o644) }, `"x" is not a size`},
		{"wide network", func(p string) error { return os.WriteFile(p, []byte(`{"network": "open"}`), 0o644) }, "network needs trust"},
		{"too large", func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o644), os.Truncate(p, 3<<30)) }, "at most 1 MiB"},
		{"symlink", func(p string) error { return os.Symlink("/etc/passwd", p) }, "regular file"},
		{"folder", func(p string) error { return os.Mkdir(p, 0o755) }, "regular file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, env := setup(t, "", nil)
			if err := tc.make(filepath.Join(repo.Dir, ".ftlconfig")); err != nil {
				t.Fatal(err)
			}
			c, err := load(t, repo, env)
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, tc.want) {
				t.Errorf("notes: %s", notes)
			}
		})
	}
}

// TestConfigFromAnotherWorkTree: a tracked file of the main work tree does not
// count in a linked one either.
func TestConfigFromAnotherWorkTree(t *testing.T) {
	repo, env := setup(t, "", map[string]string{
		"tracked.cfg": "[ftl]\n\timage = evil\n",
		".git/config": "[include]\n\tpath = ../tracked.cfg\n[user]\n\tname = u\n\temail = u@example.com\n",
	})
	linked := filepath.Join(t.TempDir(), "linked")
	for _, args := range [][]string{{"commit", "-q", "--allow-empty", "-m", "x"}, {"worktree", "add", "-q", linked}} {
		cmd := exec.Command("git", append([]string{"-C", repo.Dir}, args...)...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	other, err := git.Open(t.Context(), linked, env)
	if err != nil {
		t.Fatal(err)
	}
	c, err := load(t, other, env)
	if err != nil || c.Image != "" || len(c.Notes()) != 1 {
		t.Errorf("image %q, notes %q, %v", c.Image, c.Notes(), err)
	}
}

// TestGitProxy: git's own proxy counts as the user has set it last, and not where
// the repository brings it.
func TestGitProxy(t *testing.T) {
	for _, tc := range []struct {
		name, global, want string
		files              map[string]string
	}{
		{"none", "", "", nil},
		{"user", "[http]\n\tproxy = http://a.example:3128\n", "http://a.example:3128", nil},
		{"of one host", "[http \"https://b.example\"]\n\tproxy = http://a.example:3128\n", "", nil},
		{"tracked file", "[http]\n\tproxy = http://a.example:3128\n", "http://a.example:3128", map[string]string{
			"tracked.cfg": "[http]\n\tproxy = http://evil.example:3128\n",
			".git/config": "[include]\n\tpath = ../tracked.cfg\n",
		}},
		{"switched off", "[http]\n\tproxy = http://a.example:3128\n", "", map[string]string{".git/config": "[http]\n\tproxy =\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, env := setup(t, tc.global, tc.files)
			if c, err := load(t, repo, env); err != nil || c.Proxy != tc.want {
				t.Errorf("%v, want %q", c, tc.want)
			}
		})
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "1024": 1024, "1k": 1024, "1.5G": 3 << 29, "2MiB": 2 << 20, "10 mb": 10 << 20} {
		if got, err := config.ParseSize(in); err != nil || got != want {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	for _, in := range []string{"", "x", "-1", "1x", "1kk", "9e30", "NaN"} {
		if got, err := config.ParseSize(in); err == nil {
			t.Errorf("%q was taken as %d", in, got)
		}
	}
	for in, want := range map[int64]string{0: "default", 1023: "1023 B", 3 << 29: "1.5 GiB"} {
		if got := config.FormatSize(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"1k", "1.5g", "", "kk", "-0", "1e400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := config.ParseSize(s); err == nil && n < 0 {
			t.Errorf("%q became %d", s, n)
		}
	})
}

// TestRetention: a bare number is days; what is no time is refused.
func TestRetention(t *testing.T) {
	for _, tc := range []struct {
		in, want string
	}{
		{"30", "30d"}, {"0", "0d"}, {"7d", "7d"}, {"48h", "2d"}, {"90m", "1h30m0s"}, {"1ns", "1ns"},
		{"", ""}, {"-1", ""}, {"-5h", ""}, {"30 days", ""}, {"99999999", ""}, {"d", ""},
	} {
		c := config.Default()
		err := c.Set("retention", "flag", tc.in)
		got := ""
		for _, s := range c.Settings() {
			if s.Name == "retention" && err == nil {
				got = s.Value
			}
		}
		if got != tc.want {
			t.Errorf("%q: %q, want %q, %v", tc.in, got, tc.want, err)
		}
	}
}

// TestHosts: hosts, however they are parted.
func TestHosts(t *testing.T) {
	for _, row := range []struct{ name, global, env string }{
		{"commas and spaces", "[ftl]\nallow = a.example, b.example:8443  *.c.example\n", ""},
		{"several lines", "[ftl]\nallow = a.example\nallow = b.example:8443,*.c.example\n", ""},
		{"environment", "[ftl]\nallow = d.example\n", "FTL_ALLOW=a.example,b.example:8443\t*.c.example"},
	} {
		t.Run(row.name, func(t *testing.T) {
			repo, env := setup(t, row.global, nil)
			c, err := load(t, repo, append(env, row.env))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"a.example", "b.example:8443", "*.c.example"}, c.Allow); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoEffect: a setting that nothing reads yet is not taken in silence.
func TestNoEffect(t *testing.T) {
	repo, env := setup(t, "[ftl]\nhistory = 5\ns3Bucket = b\nmodel = m\n", nil)
	c, err := load(t, repo, env)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ftl.history has no effect in this version", "ftl.s3bucket has no effect in this version"}
	if diff := cmp.Diff(want, c.Notes()); diff != "" {
		t.Error(diff)
	}
}

// TestVariables: names of variables, however they are parted; a value in the place
// of a name is not repeated.
func TestVariables(t *testing.T) {
	for _, row := range []struct {
		name, global, env string
		want              []string
		err               string
	}{
		{"commas", "[ftl]\nsecrets = B_KEY,A_KEY, A_KEY\n", "", []string{"A_KEY", "B_KEY"}, ""},
		{"several lines", "[ftl]\nsecrets = B_KEY\nsecrets = A_KEY\n", "", []string{"A_KEY", "B_KEY"}, ""},
		{"two settings", "[ftl]\nsecrets = B_KEY\nshadowEnv = A_KEY B_KEY\n", "", []string{"A_KEY", "B_KEY"}, ""},
		{"environment", "[ftl]\nsecrets = B_KEY\n", "FTL_SECRETS=C_KEY D_KEY", []string{"C_KEY", "D_KEY"}, ""},
		{"a value", "[ftl]\nsecrets = A_KEY=hunter2\n", "", nil, "is not the name of a variable"},
	} {
		t.Run(row.name, func(t *testing.T) {
			repo, env := setup(t, row.global, nil)
			c, err := load(t, repo, append(env, row.env))
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("error %v, want %q", err, row.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, c.HostSecrets()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
