package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/vault"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type authListCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// authLine is one name of the listing.
type authLine struct {
	Name    string          `json:"name"`
	Project string          `json:"project"`        // "" is every one
	Here    bool            `json:"here"`           // tasks in this repository see it
	Stored  bool            `json:"stored"`         // false: the value comes from elsewhere, an env file for one
	From    string          `json:"from"`           // "vault", "environment", or "" where it is not known yet
	Short   bool            `json:"too_short"`      // to be looked for in what comes out of a sandbox
	Binding *shadow.Binding `json:"binding"`        // null: it is never sent
	Source  string          `json:"binding_source"` // "user", "known" or ""
	Active  bool            `json:"active"`         // false: only --use NAME sends it
	Changed time.Time       `json:"changed"`        // value or binding

	Revealed bool `json:"revealed"` // this value was printed once
}

// Run implements the verb.
func (c *authListCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	project, err := a.project(ctx)
	if err != nil && !errors.Is(err, git.ErrNotRepository) {
		return err
	}
	entries, err := a.entries(ctx)
	if err != nil {
		return err
	}
	host, err := a.hostNames(ctx)
	if err != nil {
		return err
	}
	entries = withHost(entries, host, project)
	if c.JSON {
		lines := make([]authLine, 0, len(entries))
		for _, e := range entries {
			lines = append(lines, authLineOf(e, project, host))
		}
		return a.json(lines)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		use, _ := usage(e)
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, scopeText(e.Project, project), clean(use+a.remarks(e, host)))
	}
	return w.Flush()
}

// hostNames are the variables of the user's that are secrets by their settings;
// none outside of a repository.
func (a *app) hostNames(ctx context.Context) ([]string, error) {
	s, err := a.open(ctx)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.Config.HostSecrets(), nil
}

// withHost adds the names that tasks here have from the environment alone.
func withHost(entries []vault.Entry, host []string, project string) []vault.Entry {
	for _, name := range host {
		known := slices.ContainsFunc(entries, func(e vault.Entry) bool { return e.Name == name && (e.Project == "" || e.Project == project) })
		if !known {
			entries = append(entries, vault.Entry{Name: name, Project: project})
		}
	}
	slices.SortStableFunc(entries, func(x, y vault.Entry) int { return strings.Compare(x.Name, y.Name) })
	return entries
}

// entries lists the vault; one that is not there is empty.
func (a *app) entries(ctx context.Context) ([]vault.Entry, error) {
	v, err := a.openVault(ctx)
	if errors.Is(err, vault.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return v.List()
}

func authLineOf(e vault.Entry, project string, host []string) authLine {
	l := authLine{From: from(e, host), Name: e.Name, Project: e.Project, Here: e.Project == "" || e.Project == project, Stored: e.Stored, Short: e.Short, Binding: e.Binding, Changed: e.Changed, Revealed: e.Revealed}
	if e.Binding != nil {
		l.Source, l.Active = "user", true
		return l
	}
	if b, active, ok := shadow.Known(e.Name); ok && len(b.Hosts) > 0 {
		l.Binding, l.Source, l.Active = &b, "known", active
	}
	return l
}

func scopeText(of, here string) string {
	switch of {
	case "":
		return "everywhere"
	case here:
		return "this repository"
	}
	return "another repository"
}

// from names the place that the value of a secret comes from.
func from(e vault.Entry, host []string) string {
	switch {
	case e.Stored:
		return "vault"
	case slices.Contains(host, e.Name):
		return "environment"
	}
	return ""
}

func (a *app) remarks(e vault.Entry, host []string) string {
	text := ""
	switch from(e, host) {
	case "vault":
	case "environment":
		text += "; from the environment"
		if lookup(a.env, e.Name) == "" {
			text += ", where it is not set now"
		}
	default:
		text += "; its value is not in the vault"
	}
	if e.Short {
		text += "; too short to protect"
	}
	if e.Revealed {
		text += "; revealed"
	}
	return text
}

// usage says where a secret is sent, and whether it is without the user asking.
func usage(e vault.Entry) (text string, ready bool) {
	if e.Binding != nil {
		return bindingText(*e.Binding), true
	}
	b, active, ok := shadow.Known(e.Name)
	switch {
	case !ok:
		return "sent nowhere: git ftl auth bind " + e.Name + " --host HOST", false
	case len(b.Hosts) == 0:
		return "sent nowhere, as each customer has a host: git ftl auth bind " + e.Name + " --host HOST", false
	case !active:
		return "not sent to " + bindingText(b) + " until git ftl auth bind " + e.Name + " or --use " + e.Name, false
	}
	return bindingText(b), true
}

// bindingText is a binding in a line.
func bindingText(b shadow.Binding) string {
	text := strings.Join(b.Hosts, " ")
	if len(b.Hosts) > 3 {
		text = strings.Join(b.Hosts[:2], " ") + fmt.Sprintf(" and %d more", len(b.Hosts)-2)
	}
	if len(b.Methods) > 0 {
		text += " " + strings.Join(b.Methods, "|")
	}
	if len(b.Paths) > 0 {
		text += " " + strings.Join(b.Paths[:min(2, len(b.Paths))], " ")
		if more := len(b.Paths) - 2; more > 0 {
			text += fmt.Sprintf(" and %s more", plural(more, "path"))
		}
	}
	text += " in " + strings.Join(b.Places, ", ")
	if b.Kind != "" && b.Kind != shadow.Replace {
		text += " as " + string(b.Kind)
	}
	return text
}

type authStatusCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// authStatus is what status says.
type authStatus struct {
	vault.Status
	Open    bool   `json:"open"`
	Why     string `json:"why,omitempty"` // it does not open
	Secrets int    `json:"secrets"`
}

// Run implements the verb. A vault that does not open is no failure of it.
func (c *authStatusCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	o, err := a.vaultOptions()
	if err != nil {
		return err
	}
	var s authStatus
	if s.Status, err = vault.Inspect(o.File); err != nil {
		return err
	}
	entries, openErr := a.entries(ctx)
	s.Open, s.Secrets = s.Exists && openErr == nil, len(entries)
	if openErr != nil {
		s.Why = openErr.Error()
	}
	if c.JSON {
		return a.json(s)
	}
	if !s.Exists {
		fmt.Fprintf(a.stdout, "vault   none yet; it will be %s\n", clean(s.File))
		a.ui.note("git ftl auth set NAME makes it, with its key in the keyring of the system; git ftl auth init --store chooses another place")
		return nil
	}
	fmt.Fprintf(a.stdout, "vault   %s\nkey     %s\n", clean(s.File), clean(s.Where))
	if s.Open {
		fmt.Fprintf(a.stdout, "open    yes, %s\n", plural(s.Secrets, "name"))
		return nil
	}
	fmt.Fprintf(a.stdout, "open    no: %s\n", clean(s.Why))
	for _, h := range vaultHints(openErr) {
		a.ui.note(h)
	}
	return nil
}
