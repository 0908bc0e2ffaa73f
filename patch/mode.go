package patch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keepModes runs a step that has git write files of its own anew, and gives each
// the permissions that it had before, or that the user's umask gives a new one:
// git takes those of the process, which are for what nobody else is to read.
func (q *Queue) keepModes(files []string, step func() error) error {
	modes := make([]fs.FileMode, len(files))
	for i, file := range files {
		modes[i] = 0o666 &^ q.umask
		if fi, err := os.Lstat(file); err == nil {
			modes[i] = fi.Mode()
		}
	}
	if err := step(); err != nil || permBits == 0 {
		return err
	}
	for i, file := range files {
		fi, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular() {
			continue
		}
		if err == nil && fi.Mode()&permBits != modes[i]&permBits {
			err = os.Chmod(file, modes[i]&permBits)
		}
		if err != nil {
			return fmt.Errorf("keep the permissions of %s: %w", quoted(file), err)
		}
	}
	return nil
}

// headFiles are those that git writes when HEAD moves.
func (q *Queue) headFiles(ctx context.Context) []string {
	files := []string{filepath.Join(q.repo.GitDir, "HEAD"), filepath.Join(q.repo.GitDir, "logs", "HEAD")}
	branch, err := q.repo.Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return files
	}
	name := filepath.FromSlash(branch)
	return append(files, filepath.Join(q.repo.CommonDir, name), filepath.Join(q.repo.CommonDir, "logs", name))
}
