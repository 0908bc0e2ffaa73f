package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// WriteState replaces a file of the state folder (name with slashes, folders
// made, mode 0600) in one step: after a crash it has the old or the new bytes.
func (r *Repo) WriteState(name string, data []byte) error {
	if err := ReplaceFile(r.Path(filepath.FromSlash(name)), data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// ReplaceFile writes a file of the user's alone (mode 0600, folders made) in one
// step: after a crash it has the old or the new bytes.
func ReplaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Sweep removes what a killed process left of its writes to the state folder; a
// write under way is younger than a minute.
func (r *Repo) Sweep(now time.Time) error {
	var failed error
	for _, depth := range []string{"*", filepath.Join("*", "*")} {
		left, err := Glob(r.State, depth, ".new-*")
		failed = errors.Join(failed, err)
		for _, name := range left {
			if info, err := os.Lstat(name); err == nil && now.Sub(info.ModTime()) > time.Minute {
				failed = errors.Join(failed, os.Remove(name))
			}
		}
	}
	return failed
}

// Glob is filepath.Glob below a folder whose own name is no pattern: one called
// "a[b]" would name another, or none.
func Glob(dir string, pattern ...string) ([]string, error) {
	literal := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	if filepath.Separator == '\\' {
		literal = strings.NewReplacer(`[`, `[[]`)
	}
	return filepath.Glob(filepath.Join(append([]string{literal.Replace(dir)}, pattern...)...))
}

// ReadState reads a file of the state folder; errors.Is(err, fs.ErrNotExist)
// where there is none.
func (r *Repo) ReadState(name string) ([]byte, error) {
	return os.ReadFile(r.Path(filepath.FromSlash(name)))
}

// Lock takes a lock of the state folder by name, waiting for it until ctx ends.
// It is an advisory lock of the system, so it ends with the process.
func (r *Repo) Lock(ctx context.Context, name string) (unlock func(), err error) {
	return LockFile(ctx, r.Path("locks", name))
}

// LockFile is Lock of a file anywhere, whose folder it makes.
func LockFile(ctx context.Context, name string) (unlock func(), err error) {
	f, err := newFlock(name)
	if err != nil {
		return nil, err
	}
	if _, err := f.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock %s: %w", filepath.Base(name), err)
	}
	return func() { _ = f.Unlock() }, nil
}

// TryLock is Lock without the waiting: held is false where another has it.
func (r *Repo) TryLock(name string) (unlock func(), held bool, err error) {
	f, err := newFlock(r.Path("locks", name))
	if err != nil {
		return nil, false, err
	}
	held, err = f.TryLock()
	if err != nil || !held {
		return nil, false, err
	}
	return func() { _ = f.Unlock() }, true, nil
}

func newFlock(path string) (*flock.Flock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return flock.New(path, flock.SetPermissions(0o600)), nil
}
