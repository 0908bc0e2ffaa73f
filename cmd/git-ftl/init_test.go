package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// TestInitNeedsNoTrust: a person who has just written the files is not asked to
// trust them.
func TestInitNeedsNoTrust(t *testing.T) {
	for _, name := range []string{"go.mod", "Cargo.toml", "package.json", "pom.xml", "build.gradle", "pyproject.toml", "CMakeLists.txt", "none"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{name: `{"scripts":{"test":"x"}}`, "sub/" + name: ""} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r, err := git.Open(t.Context(), dir, os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			found, err := detect(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(found)
			if err != nil {
				t.Fatal(err)
			}
			content := trust.Content{Files: []trust.File{{Name: config.File, Data: text}}}
			c, err := config.Load(t.Context(), r, config.Source{Content: content})
			if err != nil {
				t.Fatal(err)
			}
			if asks, _ := c.Asks(); len(asks) > 0 || len(c.Notes()) > 0 || (c.Test == "") != (name == "none") {
				t.Errorf("%s asks for %v, notes %q, test %q", text, asks, c.Notes(), c.Test)
			}
		})
	}
}
