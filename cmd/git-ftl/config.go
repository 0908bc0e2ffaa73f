package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
)

type configCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run implements the verb.
func (c *configCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.json(s.Config.Settings())
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, l := range s.Config.Settings() {
		fmt.Fprintf(w, "%s\t%s\t%s%s\n", clean(l.Name), clean(strings.ReplaceAll(l.Value, "\n", " ")), clean(l.Origin), trustOf(l))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, note := range s.Config.Notes() {
		a.ui.note(note)
	}
	return nil
}

// trustOf is what is to be said of trust in a value, after where it comes from.
func trustOf(l config.Setting) string {
	switch l.Trust {
	case "given":
		return "  trusted"
	case "missing":
		return "  needs trust: " + shorten(quoted(l.Asked)) + " of " + config.File
	}
	return ""
}
