package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
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
		fmt.Fprintf(w, "%s\t%s\t%s\n", clean(l.Name), clean(strings.ReplaceAll(l.Value, "\n", " ")), clean(l.Origin))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, note := range s.Config.Notes() {
		a.ui.note(note)
	}
	return nil
}
