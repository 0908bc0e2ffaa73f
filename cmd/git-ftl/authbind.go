package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
	"github.com/git-ftl/git-ftl/shadow/vault"
)

type authBindCmd struct {
	secretName
	Host   []string `placeholder:"HOST" help:"Host that may get it: api.example.com, *.example.com, api.example.com:8443."`
	In     []string `placeholder:"PLACE" help:"Where it stands in a request: auth (the default), header:NAME, query:NAME, form:NAME, json:NAME."`
	Method []string `placeholder:"METHOD" help:"Method that may carry it; every one otherwise."`
	Path   []string `placeholder:"PATH" help:"Path below which it may be sent; every one otherwise."`
	Kind   string   `enum:"replace,basic,sigv4," default:"" help:"How it is used: replace, basic or sigv4."`
}

// Help implements kong.HelpProvider.
func (c *authBindCmd) Help() string {
	return "Of a well-known name (GITHUB_TOKEN) the provider's hosts, places and paths are taken where no flag says otherwise. " +
		"The secret may be in the vault, in an env file or in the environment."
}

// Run implements the verb.
func (c *authBindCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	b, err := c.binding().Normal()
	if err != nil {
		return &exitError{code: exitUsage, err: err, hints: []string{"git ftl auth bind " + c.Name + " --host HOST [--in PLACE] [--method METHOD] [--path PATH]"}}
	}
	ctx, cancel := a.context()
	defer cancel()
	project, err := c.scope(ctx, a)
	if err != nil {
		return err
	}
	v, err := a.openOrMake(ctx)
	if err != nil {
		return err
	}
	kept, err := v.Get(c.Name, project)
	missing := errors.Is(err, vault.ErrUnknown)
	if err != nil && !missing {
		return err
	}
	if err := c.sendable(kept.Value, b); err != nil {
		return err
	}
	if err := v.Bind(ctx, c.Name, project, b); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s goes to %s\n", c.Name, clean(bindingText(b)))
	for _, p := range b.Places {
		if strings.HasPrefix(p, "form:") || strings.HasPrefix(p, "json:") {
			a.ui.note("a service can give back what it finds in a body, in another form than git-ftl knows")
			break
		}
	}
	if missing { // the name may be misspelt
		a.ui.note(c.Name + " is not in the vault; the binding counts where an env file or the environment has it")
	}
	return nil
}

// sendable refuses a binding that the proxy could not keep: to what is no host for
// it, or of a value with a line end to a header. Any value stands for one that is
// not here.
func (c *authBindCmd) sendable(value shadow.Secret, b shadow.Binding) error {
	if value.IsZero() {
		value = shadow.NewSecret("any")
	}
	err := proxy.Check(shadow.Credential{Name: c.Name, Shadow: shadow.Marker, Real: value, Binding: b})
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return nil
}

// binding is what the flags say, completed by what is known of the name. A host
// of the user's own takes only the places and kind of the provider's.
func (c *authBindCmd) binding() shadow.Binding {
	b := shadow.Binding{Hosts: c.Host, Places: c.In, Methods: c.Method, Paths: c.Path, Kind: shadow.Kind(c.Kind)}
	known, _, _ := shadow.Known(c.Name)
	if len(b.Hosts) == 0 {
		b.Hosts = known.Hosts
		b.Methods, b.Paths = orElse(b.Methods, known.Methods), orElse(b.Paths, known.Paths)
	}
	b.Places = orElse(orElse(b.Places, known.Places), []string{"auth"})
	if b.Kind == "" {
		b.Kind = known.Kind
	}
	return b
}

func orElse(given, other []string) []string {
	if len(given) > 0 {
		return given
	}
	return other
}
