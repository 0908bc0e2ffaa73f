package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type initCmd struct{}

// detected is the part of .ftlconfig that can be read off a repository.
type detected struct {
	Language  string            `json:"language,omitempty"`
	Overrides map[string]string `json:"language_overrides,omitempty"`
	Test      string            `json:"test,omitempty"`
	Setup     string            `json:"setup,omitempty"`
}

const ignoreFile = ".ftlignore"

const ignoreText = `# What an agent never sees, tracked files included, in the syntax of .gitignore.
# Env files (.env, .env.*) and untracked credential files (*.pem, .npmrc,
# id_ed25519 …) are left out without a line here.
`

// Run implements the verb. A file that is there stays as it is.
func (c *initCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	repo, err := git.Open(ctx, a.dir, a.env)
	if err != nil {
		return err
	}
	found, err := detect(ctx, repo)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(found); err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{{config.File, text.String()}, {ignoreFile, ignoreText}} {
		switch err := writeNew(filepath.Join(repo.Dir, f.name), f.text, 0o666&^a.umask); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(a.stdout, "%s is there already and stays as it is\n", f.name)
		case err != nil:
			return err
		default:
			fmt.Fprintf(a.stdout, "wrote %s\n", f.name)
		}
	}
	return nil
}

func writeNew(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

// detect looks at the files that git would not ignore.
func detect(ctx context.Context, repo *git.Repo) (detected, error) {
	out, err := repo.Output(ctx, git.Call{Args: []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}})
	if err != nil {
		return detected{}, err
	}
	root, err := os.OpenRoot(repo.Dir)
	if err != nil {
		return detected{}, err
	}
	defer root.Close()
	all := language.Detect(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), func(file string) string { return manifest(root, file) }, nil)
	d := detected{Language: language.Main(all), Test: language.Test(all), Setup: language.Setup(all), Overrides: map[string]string{}}
	for _, o := range language.Overrides(all) {
		d.Overrides[o.Pattern] = o.Language
	}
	return d, nil
}

// manifest reads a file of a project, as much of it as can matter; "" where it is
// no file.
func manifest(root *os.Root, file string) string {
	const most = 1 << 20
	name := filepath.FromSlash(file)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, most)) // what can be read is all that is known
	return string(data)
}
