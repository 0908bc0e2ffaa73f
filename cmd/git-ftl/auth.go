package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/vault"
)

type authCmd struct {
	Set    authSetCmd    `cmd:"" help:"Keep a secret: asks for it, or reads stdin."`
	List   authListCmd   `cmd:"" help:"List names and where they may be used; never values."`
	Rm     authRmCmd     `cmd:"" help:"Forget a secret and its binding."`
	Status authStatusCmd `cmd:"" help:"Say where the vault and its key are, and whether it opens."`
	Bind   authBindCmd   `cmd:"" help:"Say where a secret may be used."`
	Reveal authRevealCmd `cmd:"" help:"Print a secret."`
	Init   authInitCmd   `cmd:"" help:"Make the vault, and choose where its key is."`
}

// maxSecret bounds a value, in bytes.
const maxSecret = 64 << 20

// secretVariable is a name that an environment can have.
var secretVariable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// secretName is the name of a secret with its scope.
type secretName struct {
	Name    string   `arg:"" help:"Name, as the variable that programs read it from."`
	Rest    []string `arg:"" optional:"" hidden:"" name:"rest"`
	Project bool     `help:"For this repository alone."`
}

// check refuses what is no name. It never repeats it: it may be a value.
func (n secretName) check() error {
	switch {
	case len(n.Rest) > 0 || strings.Contains(n.Name, "="):
		return &exitError{
			code: exitUsage, err: errors.New("a value does not belong on the command line, where other programs and the shell's history see it"),
			hints: []string{"git ftl auth set NAME asks for it; git ftl auth set NAME <FILE reads it"},
		}
	case !secretVariable.MatchString(n.Name):
		return &exitError{code: exitUsage, err: errors.New("the name is not one that a variable can have"), hints: []string{"letters, digits and underscores, such as API_KEY"}}
	}
	return nil
}

// scope is the project to keep it for, "" for every one.
func (n secretName) scope(ctx context.Context, a *app) (string, error) {
	if !n.Project {
		return "", nil
	}
	return a.project(ctx)
}

// project names the repository around the user.
func (a *app) project(ctx context.Context) (string, error) {
	s, err := a.open(ctx)
	if err != nil {
		return "", err
	}
	return s.Project(ctx)
}

// withVault runs f with the open vault and the scope of a name.
func (n secretName) withVault(a *app, f func(ctx context.Context, v *vault.Vault, project string) error) error {
	if err := n.check(); err != nil {
		return err
	}
	ctx, cancel := a.context()
	defer cancel()
	project, err := n.scope(ctx, a)
	if err != nil {
		return err
	}
	v, err := a.openVault(ctx)
	if err != nil {
		return err
	}
	return f(ctx, v, project)
}

type authSetCmd struct{ secretName }

// Help implements kong.HelpProvider.
func (c *authSetCmd) Help() string {
	return "The value is asked for at a terminal and read from stdin elsewhere; one line end behind it is dropped. " +
		"The first one makes the vault, whose key is in the keyring of the system: git ftl auth init chooses another place."
}

// Run implements the verb. The vault is opened before the value is asked for, so
// that nobody types in vain.
func (c *authSetCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
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
	value, err := a.secretValue(ctx, c.Name)
	if err != nil {
		return err
	}
	if err := v.Set(ctx, c.Name, project, value); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s is in the vault; tasks get a shadow of it\n", c.Name)
	if len(value.Reveal()) < shadow.MinLength {
		a.ui.note(fmt.Sprintf("%s is too short to protect: under %d bytes a value is not looked for in what comes out of a sandbox", c.Name, shadow.MinLength))
	}
	if use, ready := usage(vault.Entry{Name: c.Name}); !ready {
		a.ui.note(c.Name + " is " + use)
	}
	return nil
}

// openOrMake opens the vault, which the keyring makes when there is none.
func (a *app) openOrMake(ctx context.Context) (*vault.Vault, error) {
	o, err := a.vaultOptions()
	if err != nil {
		return nil, err
	}
	v, err := vault.Open(ctx, o)
	if errors.Is(err, vault.ErrNone) {
		v, err = vault.Create(ctx, vault.InKeyring, o)
		if errors.Is(err, vault.ErrExists) { // another command was first
			v, err = vault.Open(ctx, o)
		}
	}
	return v, err
}

// errEmptyValue says that there is nothing to keep.
var errEmptyValue = errors.New("the value is empty; nothing was kept")

// secretValue asks at a terminal, and reads stdin elsewhere.
func (a *app) secretValue(ctx context.Context, name string) (shadow.Secret, error) {
	if isTerminal(a.stdin) {
		value, err := a.askHidden(ctx, "value of "+name+" (not shown): ")
		if err == nil && value.IsZero() {
			err = errEmptyValue
		}
		return value, err
	}
	data, err := io.ReadAll(io.LimitReader(a.stdin, maxSecret+1))
	if err != nil {
		return shadow.Secret{}, fmt.Errorf("read the value: %w", err)
	}
	if len(data) > maxSecret {
		return shadow.Secret{}, fmt.Errorf("the value has more than %s", sizeText(maxSecret))
	}
	text := strings.TrimSuffix(string(data), "\n")
	if len(text) < len(data) {
		text = strings.TrimSuffix(text, "\r")
	}
	if text == "" {
		return shadow.Secret{}, errEmptyValue
	}
	return shadow.NewSecret(text), nil
}

type authRmCmd struct{ secretName }

// Run implements the verb.
func (c *authRmCmd) Run(a *app) error {
	return c.withVault(a, func(ctx context.Context, v *vault.Vault, project string) error {
		if err := v.Remove(ctx, c.Name, project); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s is forgotten\n", c.Name)
		return nil
	})
}

type authRevealCmd struct {
	secretName
	Force bool `help:"Print it to a pipe or file, too."`
}

// Run implements the verb.
func (c *authRevealCmd) Run(a *app) error {
	if !c.Force && !isTerminal(a.stdout) {
		return &exitError{code: exitUsage, err: errors.New("a secret is printed to a terminal only"), hints: []string{"--force prints it anywhere"}}
	}
	return c.withVault(a, func(ctx context.Context, v *vault.Vault, project string) error {
		value, err := v.Reveal(ctx, c.Name, project)
		if err != nil {
			return err
		}
		text := value.Reveal()
		if isTerminal(a.stdout) {
			text = cleanLines(text) + "\n"
		}
		_, err = io.WriteString(a.stdout, text)
		return err
	})
}

// cleanLines makes a text of several lines safe to show.
func cleanLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		out.WriteString(clean(bare) + line[len(bare):])
	}
	return out.String()
}

type authInitCmd struct {
	Store string `enum:"keyring,passphrase,identity,env" default:"keyring" help:"Where the key of the vault is: keyring, passphrase, identity or env."`
	File  string `arg:"" optional:"" help:"Of --store identity: an age identity file, made where it is missing."`
}

// Run implements the verb.
func (c *authInitCmd) Run(a *app) error {
	if (c.Store == string(vault.ByIdentity)) != (c.File != "") {
		return &exitError{code: exitUsage, err: errors.New("--store identity goes with the name of a file, and no other store does"), hints: []string{"git ftl auth init --store identity FILE"}}
	}
	ctx, cancel := a.context()
	defer cancel()
	o, err := a.vaultOptions()
	if err != nil {
		return err
	}
	if c.Store == string(vault.InEnvironment) && o.MasterKey.IsZero() {
		return &exitError{code: exitUsage, err: errors.New(masterKeyVariable + " is not set"), hints: []string{"export " + masterKeyVariable + "=$(openssl rand -hex 32), and keep it where you keep secrets: without it the vault is lost"}}
	}
	if c.File != "" {
		o.Identity = a.path(c.File)
	}
	o.Passphrase = func(ctx context.Context) (shadow.Secret, error) { return a.passphrase(ctx, true) }
	if _, err := vault.Create(ctx, vault.Store(c.Store), o); err != nil {
		return err
	}
	s, err := vault.Inspect(o.File)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "made the vault %s; its key: %s\n", clean(s.File), clean(s.Where))
	return nil
}
