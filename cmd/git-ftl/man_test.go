package main

import (
	"regexp"
	"testing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
)

// TestManHasSettings: each setting is explained in the manual page.
func TestManHasSettings(t *testing.T) {
	for _, s := range config.Default().Settings() {
		if !regexp.MustCompile(`(?m)^\.B (.*, )?` + s.Name + `(, .*)?$`).MatchString(manText) {
			t.Errorf("%s is not in man.roff", s.Name)
		}
	}
}
