package config

import (
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

// setLint takes ftl.lint.RULE. What it names need not be a rule of this version.
func (c *Config) setLint(rule, origin string, values []string) error {
	severity := strings.ToLower(values[len(values)-1])
	switch severity {
	case "off", "info", "warn", "block":
	default:
		return fmt.Errorf("%s: lint.%s: %q is not one of: off, info, warn, block", origin, rule, severity)
	}
	c.Lint = append(c.Lint, Lint{Rule: strings.Replace(strings.ToLower(rule), "-", "/", 1), Severity: severity, Origin: origin})
	return nil
}

// loadLint takes the repository's .ftllint, where it is trusted.
func (c *Config) loadLint(src Source) {
	if why := src.Content.Refused[trust.LintFile]; why != "" {
		c.notes = append(c.notes, fmt.Sprintf("%s does not count: %s", trust.LintFile, why))
	}
	data, _ := src.Content.Data(trust.LintFile)
	lines := patterns(data)
	if len(lines) == 0 {
		return
	}
	c.asks = append(c.asks, Ask{File: trust.LintFile, Values: lines, Effect: true})
	if src.Trusted {
		c.Accepts = data
	}
}
