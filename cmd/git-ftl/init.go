package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type initCmd struct{}

// detected is the part of .ftlconfig that can be read off a repository.
type detected struct {
	Language string `json:"language,omitempty"`
	Test     string `json:"test,omitempty"`
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
	text, err := json.MarshalIndent(detect(repo.Dir), "", "  ")
	if err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{{config.File, string(text) + "\n"}, {ignoreFile, ignoreText}} {
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

// detect looks at the files of the top folder; the first row that fits counts.
func detect(dir string) detected {
	for _, row := range []struct{ file, language, test string }{
		{"go.mod", "go", "go test ./..."},
		{"Cargo.toml", "rust", "cargo test"},
		{"tsconfig.json", "typescript", "npm test"},
		{"package.json", "javascript", "npm test"},
		{"pom.xml", "java", "mvn -q test"},
		{"build.gradle", "java", "gradle test"},
		{"build.gradle.kts", "java", "gradle test"},
		{"pyproject.toml", "python", "python3 -m pytest"},
		{"setup.py", "python", "python3 -m pytest"},
		{"requirements.txt", "python", "python3 -m pytest"},
		{"CMakeLists.txt", "c++", "ctest --test-dir build"},
	} {
		if info, err := os.Stat(filepath.Join(dir, row.file)); err == nil && info.Mode().IsRegular() {
			return detected{row.language, row.test}
		}
	}
	return detected{}
}
