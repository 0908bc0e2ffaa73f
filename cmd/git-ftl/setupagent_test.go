package main

import (
	"bytes"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// TestSetupTester: a model writes tests where the user says so, in their own git
// config; one who is not asked is told how.
func TestSetupTester(t *testing.T) {
	for _, tc := range []struct {
		name          string
		yes           bool
		chosen, model string
		says, config  string
	}{
		{"no key", true, "", "", "", ""},
		{"chosen", true, "openai/mine", "anthropic/m", "tester    openai/mine\n", ""},
		{"yes", true, "", "anthropic/m", "tester    anthropic/m, in your git config", "anthropic/m"},
		{"nobody to ask", false, "", "anthropic/m", "tester    none: git config --global ftl.tester anthropic/m lets it", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			env := []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
			a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, env: env}
			if err := a.setupTester(t.Context(), &setupCmd{Yes: tc.yes}, tc.chosen, tc.model); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(out.String(), tc.says) || tc.says == "" && out.Len() > 0 {
				t.Errorf("says %q", &out)
			}
			get := exec.Command("git", "config", "--global", "--default", "", "ftl.tester")
			get.Env = env
			got, err := get.Output()
			if strings.TrimSpace(string(got)) != tc.config || err != nil {
				t.Errorf("set to %q, %v", got, err)
			}
		})
	}
}

// TestSetupAsksForAgent: a number or a name is an agent, and nothing is none.
func TestSetupAsksForAgent(t *testing.T) {
	for _, tc := range []struct {
		name, typed string
		want        []string
	}{
		{"a number", "2\n", []string{"codex"}},
		{"a name", "gemini\n", []string{"gemini"}},
		{"nothing", "\n", nil},
		{"the end", "", nil},
		{"nonsense first", "0\n99\nvi\n1\n", []string{"claude-code"}},
		{"one that is not pinned", "kiro\n\n", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{stdin: strings.NewReader(tc.typed), stdout: &out, stderr: &out}
			a.ui = newUI(a)
			var c setupCmd
			if err := c.askAgent(t.Context(), a); err != nil || !slices.Equal(c.Agent, tc.want) {
				t.Errorf("%q, %v: %s", c.Agent, err, &out)
			}
		})
	}
}

// TestUsualAgent: who was set up does tasks where nothing says who.
func TestUsualAgent(t *testing.T) {
	mine := map[string]config.Agent{"mine": {Command: "cat"}}
	for _, tc := range []struct {
		name, set string
		mine      map[string]config.Agent
		installed string
		want      string
	}{
		{"nobody", "", nil, "", ""},
		{"set up", "", nil, "codex", "codex"},
		{"two set up", "", nil, "codex claude-code", ""},
		{"a setting", "gemini", mine, "codex", "gemini"},
		{"one's own", "", mine, "codex claude-code", "mine"},
		{"two of one's own", "", map[string]config.Agent{"a": {}, "b": {}}, "codex", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &session.Session{Config: config.Default(), UserDir: t.TempDir()}
			s.Config.Agent = tc.set
			maps.Copy(s.Config.Agents, tc.mine)
			for name := range strings.FieldsSeq(tc.installed) {
				if _, err := s.AddAgent(name); err != nil {
					t.Fatal(err)
				}
			}
			if got := usualAgent(s); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
