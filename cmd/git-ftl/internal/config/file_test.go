package config

import (
	"testing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

// FuzzUntrusted: whatever a repository writes into .ftlconfig, nothing that it
// may not set is ever set.
func FuzzUntrusted(f *testing.F) {
	f.Add([]byte(`{"image": "x", "memory": "64g", "setup": "make", "agents": {"a": {"command": "b"}}}`))
	f.Add([]byte("\xef\xbb\xbf{\"MAX_FILE\": [1, [2]], \"timeout\": null, \"agent\": \"codex\"}"))
	f.Add([]byte(`{"Agents.x.command": "a", "agents": {"x": {"command": "b"}, "y": {"foo.command": "c"}}, "KEEP": [{"a": null}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, def := Default(), Default()
		c.loadFile(Source{Content: trust.Content{Files: []trust.File{{Name: File, Data: data}}}})
		if c.Image != "" || c.Model != "" || c.Engine != "" || c.Include || c.Lines != "" || len(c.Agents) > 0 || c.Network != def.Network ||
			c.MaxFile > def.MaxFile || c.Disk > def.Disk || c.Timeout > def.Timeout || c.Memory > 2<<30 || c.CPUs > 1 ||
			c.Timeout == 0 || c.Disk == 0 {
			t.Errorf("%q set %+v", data, c)
		}
	})
}
