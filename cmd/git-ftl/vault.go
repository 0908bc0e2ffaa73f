package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/vault"
)

// Variables that open a vault. They are read here, and no other process gets them.
const (
	masterKeyVariable  = "FTL_MASTER_KEY"
	passphraseVariable = "FTL_PASSPHRASE"
)

// unlock is what opens the vault without a keyring. As JSON it goes to a process
// that does a task in the background, on its standard input.
type unlock struct {
	MasterKey  string `json:"master_key,omitempty"`
	Passphrase string `json:"passphrase,omitempty"`
}

// Format prints none of it.
func (unlock) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[secret]") }

// takeUnlock takes these variables out of an environment, which git, hooks and
// editors get.
func takeUnlock(env []string) ([]string, unlock) {
	u := unlock{MasterKey: lookup(env, masterKeyVariable), Passphrase: lookup(env, passphraseVariable)}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, masterKeyVariable+"=") || strings.HasPrefix(kv, passphraseVariable+"=")
	}), u
}

// askUnlock asks for the passphrase of a vault where a process without a terminal
// is to open it.
func (a *app) askUnlock(ctx context.Context) error {
	if a.unlock.Passphrase != "" || !isTerminal(a.stderr) || configDir(a.env) == "" {
		return nil
	}
	o, err := a.vaultOptions()
	if err != nil {
		return err
	}
	status, err := vault.Inspect(o.File)
	if err != nil || !status.Exists || status.Store != vault.ByPassphrase {
		return nil // and who opens it says why not
	}
	pass, err := a.passphrase(ctx, false)
	a.unlock.Passphrase = pass.Reveal()
	return err
}

// How long the keyring may take: a person at a terminal may have to type a
// password into its dialog.
const (
	keyringPatience   = time.Minute
	keyringImpatience = 10 * time.Second
)

// configDir is the user's folder for git-ftl, "" where the user has no home.
func configDir(env []string) string {
	if dir := lookup(env, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "git-ftl")
	}
	home := homeDir(env)
	switch {
	case runtime.GOOS == "windows" && lookup(env, "APPDATA") != "":
		return filepath.Join(lookup(env, "APPDATA"), "git-ftl")
	case home == "":
		return ""
	case runtime.GOOS == "windows":
		return filepath.Join(home, "AppData", "Roaming", "git-ftl")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "git-ftl")
	}
	return filepath.Join(home, ".config", "git-ftl")
}

// vaultOptions say where the vault is and what can open it.
func (a *app) vaultOptions() (vault.Options, error) {
	dir := configDir(a.env)
	if dir == "" {
		return vault.Options{}, &exitError{code: exitFailed, err: errors.New("there is no home for the vault"), hints: []string{"set HOME or XDG_CONFIG_HOME"}}
	}
	o := vault.Options{
		File: filepath.Join(dir, "vault"), Ring: vault.System(), Timeout: keyringImpatience, Now: a.now,
		MasterKey:  shadow.NewSecret(a.unlock.MasterKey),
		Passphrase: func(ctx context.Context) (shadow.Secret, error) { return a.passphrase(ctx, false) },
	}
	if isTerminal(a.stderr) {
		o.Timeout = keyringPatience
	}
	return o, nil
}

// openVault opens the vault that is there.
func (a *app) openVault(ctx context.Context) (*vault.Vault, error) {
	o, err := a.vaultOptions()
	if err != nil {
		return nil, err
	}
	return vault.Open(ctx, o)
}

// peekPatience is how long a vault may take that nobody waits for.
const peekPatience = 250 * time.Millisecond

// peek gives what the vault has for a project, where that takes neither a person
// nor time: a hook must not hang.
func (a *app) peek(ctx context.Context, project string) (session.Vault, error) {
	if configDir(a.env) == "" {
		return session.Vault{}, nil
	}
	o, err := a.vaultOptions()
	if err != nil {
		return session.Vault{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, peekPatience)
	defer cancel()
	o.Ring, o.Timeout, o.Passphrase = vault.Quiet(), peekPatience, func(context.Context) (shadow.Secret, error) {
		if a.unlock.Passphrase == "" {
			return shadow.Secret{}, vault.ErrNoKey
		}
		return shadow.NewSecret(a.unlock.Passphrase), nil
	}
	return kept(project, func() (*vault.Vault, error) { return vault.Open(ctx, o) })
}

// passphrase is the one of the environment, or asks; twice for a new one.
func (a *app) passphrase(ctx context.Context, twice bool) (shadow.Secret, error) {
	if a.unlock.Passphrase != "" {
		return shadow.NewSecret(a.unlock.Passphrase), nil
	}
	pass, err := a.askHidden(ctx, "passphrase of the vault: ")
	if err != nil || !twice {
		return pass, err
	}
	again, err := a.askHidden(ctx, "the same again: ")
	if err == nil && again.Reveal() != pass.Reveal() {
		err = errors.New("these are two passphrases")
	}
	return pass, err
}

// askHidden reads from the terminal what it does not show: a line, or several
// that were pasted at once. ErrNoKey without a terminal.
func (a *app) askHidden(ctx context.Context, prompt string) (shadow.Secret, error) {
	tty, done, err := a.personAt()
	if err != nil {
		return shadow.Secret{}, err
	}
	defer done()
	fd := int(tty.Fd())
	before, err := term.MakeRaw(fd) // before the prompt, which may be answered at once
	if err != nil {
		return shadow.Secret{}, fmt.Errorf("hide what is typed: %w", err)
	}
	type answer struct {
		text string
		err  error
	}
	typed := make(chan answer, 1)
	go func() { // ends with the process where a signal comes first
		text, err := readHidden(term.NewTerminal(conversation{tty, a.stderr}, ""), prompt)
		typed <- answer{text, err}
	}()
	select {
	case got := <-typed:
		return shadow.NewSecret(got.text), errors.Join(got.err, term.Restore(fd, before))
	case <-ctx.Done():
		return shadow.Secret{}, errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}

// conversation is read from a terminal and written to stderr, which may be
// elsewhere.
type conversation struct {
	io.Reader
	io.Writer
}

// maxTyped is the longest line, in bytes, that the terminal's reader is sure to
// take as a whole.
const maxTyped = 4095

// readHidden takes lines as long as they are pasted. Ctrl-C ends it.
func readHidden(t *term.Terminal, prompt string) (string, error) {
	t.SetBracketedPasteMode(true)
	defer t.SetBracketedPasteMode(false)
	text, err := t.ReadPassword(prompt)
	for errors.Is(err, term.ErrPasteIndicator) {
		var line string
		line, err = t.ReadPassword("")
		text += "\n" + line
	}
	switch {
	case errors.Is(err, io.EOF):
		return "", session.ErrInterrupted
	case err == nil && len(text) > maxTyped && !strings.Contains(text, "\n"):
		return "", errors.New("the line is longer than a terminal takes; read it from a file: <FILE")
	}
	return strings.TrimSuffix(text, "\n"), err
}

// personAt is where a person can be asked: stdin, or the process's own terminal
// where stdin brings a value.
func (a *app) personAt() (tty *os.File, done func(), err error) {
	if f, ok := a.stdin.(*os.File); ok && isTerminal(f) {
		return f, func() {}, nil
	}
	if isTerminal(a.stderr) && runtime.GOOS != "windows" {
		if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
			return f, func() { _ = f.Close() }, nil
		}
	}
	return nil, nil, fmt.Errorf("no terminal to ask at: %w", vault.ErrNoKey)
}

// storeHints are the explicit ways to a vault without the system's keyring.
func storeHints() []string {
	return []string{
		"git ftl auth init --store passphrase       asks for one, or takes " + passphraseVariable,
		"git ftl auth init --store identity FILE    an age identity file, made where it is missing",
		"git ftl auth init --store env              32 random bytes in " + masterKeyVariable + ", as a CI has secrets",
	}
}

// ringHints say what to do about the system's keyring, or without it.
func ringHints(first string) []string {
	return append([]string{first + "; or, for a new vault without one (an old file has to be moved away first):"}, storeHints()...)
}

// vaultHints are the ways out of an error of the vault; nil where it is none.
func vaultHints(err error) []string {
	for _, row := range []struct {
		cause error
		hints []string
	}{
		{vault.ErrNoBus, ringHints("try again where the keyring of the system is")},
		{vault.ErrNoService, ringHints("try again where the keyring of the system is")},
		{vault.ErrTimeout, ringHints("answer the prompt of the keyring and try again")},
		{vault.ErrLocked, ringHints("unlock the keyring and try again")},
		{vault.ErrAbsent, []string{"bring back the keyring in which the vault was made, or move the vault file away and begin anew: git ftl auth init"}},
		{vault.ErrNone, []string{"git ftl auth set NAME makes it"}},
		{vault.ErrExists, []string{"git ftl auth status shows it; move the file away to begin anew"}},
		{vault.ErrNoKey, []string{"run it at a terminal, or set " + passphraseVariable + " or " + masterKeyVariable + ", whichever git ftl auth status names"}},
		{vault.ErrWrongKey, []string{"nothing was changed; git ftl auth status says which key it wants"}},
		{vault.ErrDamaged, []string{"nothing was changed; put a backup in its place, or move it away and begin anew: git ftl auth init"}},
		{vault.ErrUnknown, []string{"git ftl auth list shows every name"}},
	} {
		if errors.Is(err, row.cause) {
			return row.hints
		}
	}
	return nil
}
