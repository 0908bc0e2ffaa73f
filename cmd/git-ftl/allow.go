package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/vault"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type allowCmd struct {
	Hosts  []string `arg:"" optional:"" name:"host" help:"HOST, *.HOST or HOST:PORT; localhost:PORT is a service of this machine."`
	Global bool     `help:"For every project of yours."`
	Remove bool     `name:"rm" help:"Take hosts off the list."`
	JSON   bool     `name:"json" help:"Print the list as a JSON array."`
}

// Help is the end of the verb's --help.
func (c *allowCmd) Help() string {
	return "Without a host it lists what tasks may reach beside the hosts of your secrets. Running tasks obey at once."
}

// Run implements the verb.
func (c *allowCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	hosts, err := c.hosts()
	if err != nil {
		return err
	}
	s, err := a.open(ctx)
	if c.Global && errors.Is(err, git.ErrNotRepository) {
		err = nil // every project's list needs none
	}
	if err == nil && len(hosts) > 0 {
		err = c.change(ctx, a, s, hosts)
	}
	if err != nil {
		return err
	}
	all := session.AllowedEverywhere(configDir(a.env))
	if s != nil {
		all = s.Allowed()
	}
	if c.JSON {
		return a.json(append([]session.Allowed{}, all...))
	}
	for _, h := range all {
		fmt.Fprintf(a.stdout, "%-30s %s\n", clean(h.Host), h.Where)
	}
	return nil
}

func (c *allowCmd) change(ctx context.Context, a *app, s *session.Session, hosts []session.Allowed) error {
	if c.Global {
		return session.AllowEverywhere(ctx, configDir(a.env), hosts, c.Remove)
	}
	return s.Allow(ctx, hosts, c.Remove)
}

func (c *allowCmd) hosts() ([]session.Allowed, error) {
	var hosts []session.Allowed
	for _, text := range c.Hosts {
		h, err := session.ParseAllowed(text)
		if err != nil {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", text, err), hints: []string{"git ftl allow docs.example.com"}}
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// keeper opens the user's vault for a task. Where there is none it asks no keyring.
func (a *app) keeper(ctx context.Context, project string) (session.Vault, error) {
	if configDir(a.env) == "" {
		return session.Vault{}, nil
	}
	return kept(project, func() (*vault.Vault, error) { return a.openVault(ctx) })
}

// kept is what a vault has for a project; nothing where there is no vault.
func kept(project string, open func() (*vault.Vault, error)) (session.Vault, error) {
	var all session.Vault
	v, err := open()
	if errors.Is(err, vault.ErrNone) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	entries, err := v.Visible(project)
	if err != nil {
		return all, err
	}
	all.Mint = v.Mint(project)
	for _, e := range entries {
		all.Kept = append(all.Kept, session.Kept{Name: e.Name, Value: e.Value, Binding: e.Binding, Revealed: e.Revealed})
	}
	return all, nil
}

// tools reads what the user's own package managers are configured with.
func (a *app) tools(mint *shadow.Mint) registry.Registries {
	home := homeDir(a.env)
	if home == "" {
		return registry.Registries{}
	}
	return registry.Read(registry.Source{
		Home: filepath.ToSlash(home), OS: runtime.GOOS, Env: a.env, Shadow: mint.Shadow,
		Open: func(name string) (fs.File, error) { return os.Open(filepath.FromSlash(name)) },
	})
}

// egress is the end of a run that says what was denied and what was used.
func (u *ui) egress(o session.Outcome) {
	for i, host := range o.Egress.Denied {
		if i == 8 {
			u.status("denied", fmt.Sprintf("and %d more hosts", len(o.Egress.Denied)-i))
			break
		}
		text := fmt.Sprintf("%-21s  %s", fmt.Sprintf("%s (%d)", host, o.Egress.Denials[host]), o.Egress.Hints[host])
		u.status("denied", strings.TrimRight(text, " "))
	}
	if len(o.Egress.Swapped) > 0 {
		u.status("used", strings.Join(o.Egress.Swapped, ", "))
	}
}
