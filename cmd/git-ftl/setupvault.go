package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/shadow/vault"
)

// setupVault says where secrets are, or can be. Without a keyring the user has to
// choose another place for the key: at a terminal they are asked, elsewhere it is
// none for now. An error is one of what they chose.
func (c *setupCmd) setupVault(ctx context.Context, a *app) error {
	k := a.checkVault()
	o, err := a.vaultOptions()
	if err == nil {
		if status, inspected := vault.Inspect(o.File); inspected == nil && !status.Exists {
			err = vault.Probe(ctx, o)
		}
	}
	if err == nil {
		fmt.Fprintf(a.stdout, "vault     %s\n", clean(k.Detail))
		return nil
	}
	fmt.Fprintf(a.stdout, "vault     none yet, and %s\n", clean(err.Error()))
	if configDir(a.env) != "" && !c.Yes && isTerminal(a.stdin) && isTerminal(a.stderr) {
		return a.chooseStore(ctx)
	}
	fmt.Fprint(a.stdout, "          tasks run without; to keep secrets, choose a place for the vault's key:\n")
	for _, way := range storeHints() {
		fmt.Fprintf(a.stdout, "          %s\n", way)
	}
	return nil
}

// chooseStore asks where the key of a vault is to be, and makes the vault.
func (a *app) chooseStore(ctx context.Context) error {
	fmt.Fprint(a.stderr, "secrets are kept in an encrypted file; where is its key to be?\n"+
		"  1  a passphrase       protects it from whoever reads your disk; asked for once a command\n"+
		"  2  an identity file   protects it as well as that file is; asks nothing\n"+
		"  3  the environment    protects it as well as what sets "+masterKeyVariable+"; for a CI\n"+
		"  4  none for now       nothing is kept; tasks run without secrets of a vault\n")
	answers := bufio.NewReader(a.stdin)
	for {
		answer, err := a.answer(ctx, answers, "which one (1-4, empty for none)? ")
		if err == nil {
			err = a.takeStore(ctx, answers, answer)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, session.ErrInterrupted), ctx.Err() != nil:
			return err
		}
		a.ui.note(err.Error()) // and the question comes again
	}
}

// takeStore does what one of the answers says.
func (a *app) takeStore(ctx context.Context, answers *bufio.Reader, answer string) error {
	switch answer {
	case "1":
		return (&authInitCmd{Store: string(vault.ByPassphrase)}).Run(a)
	case "2":
		return a.chooseIdentity(ctx, answers)
	case "3":
		return a.chooseEnvironment()
	case "4", "":
		fmt.Fprint(a.stdout, "          none for now: git ftl setup asks again\n")
		return nil
	}
	return errors.New("it is a number from 1 to 4")
}

// chooseIdentity asks which file it is; the user's folder for git-ftl is where one
// is made otherwise.
func (a *app) chooseIdentity(ctx context.Context, answers *bufio.Reader) error {
	file := filepath.Join(configDir(a.env), "identity.txt")
	given, err := a.answer(ctx, answers, "file, made where it is missing (empty for "+clean(file)+"): ")
	if err != nil {
		return err
	}
	if given != "" {
		file = given
	}
	return (&authInitCmd{Store: string(vault.ByIdentity), File: file}).Run(a)
}

// answer reads a line from a terminal, without the space around it; nothing where
// the terminal is closed. Errors: session.ErrInterrupted.
func (a *app) answer(ctx context.Context, from *bufio.Reader, question string) (string, error) {
	fmt.Fprint(a.stderr, question)
	typed := make(chan string, 1)
	go func() { // ends with the process where a signal comes first
		line, _ := from.ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		return line, nil
	case <-ctx.Done():
		return "", session.ErrInterrupted
	}
}

// chooseEnvironment makes the vault where the key is there. Otherwise only the
// user can put it where it will be found the next time.
func (a *app) chooseEnvironment() error {
	if a.unlock.MasterKey != "" {
		return (&authInitCmd{Store: string(vault.InEnvironment)}).Run(a)
	}
	fmt.Fprintf(a.stdout, "          %s is not set yet; two commands make the vault:\n"+
		"          export %s=$(openssl rand -hex 32)\n"+
		"          git ftl auth init --store env\n", masterKeyVariable, masterKeyVariable)
	return nil
}
