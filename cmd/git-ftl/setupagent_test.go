package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
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
