// Package wheel brings programs of Python to an image, from the indexes that the
// user's own tools have their packages from.
//
// A program is pinned by the sum of its wheel, and pins each package that it needs
// by version; a package has to be the file that its index gives the sum of. Only
// wheels are taken, which are unpacked here: nothing of one is run, and nothing is
// built.
package wheel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/registry"
	"github.com/git-ftl/git-ftl/container"
)

// Installer fetches programs.
type Installer struct {
	Client  *http.Client
	Indexes []registry.Index // asked in turn, until one has the version
}

// maxArchive bounds a wheel, in bytes.
const maxArchive = 1 << 30

// install is one program on its way.
type install struct {
	*Installer
	ctx    context.Context
	python Python
	tree   *tree
	sums   []string                 // of all wheels
	needs  map[string][]requirement // by name of a package
}

// Add adds a program and all that it needs to a layer of an image, and a command
// that starts it by an interpreter of that image. What it returns is the SHA-256, in
// hexadecimal, of the names, versions and sums of all wheels.
func (in *Installer) Add(ctx context.Context, w agent.Wheel, p Python, add container.AddFile) (string, error) {
	if len(in.Indexes) == 0 {
		return "", errors.New("pip has no index configured")
	}
	i := &install{
		Installer: in, ctx: ctx, python: p, needs: map[string][]requirement{},
		tree: &tree{dir: path.Join(w.Into, "lib"), add: add, taken: map[string]kind{}},
	}
	if err := i.all(w); err != nil {
		return "", err
	}
	text := "#!" + p.Path + " " + w.Flags + "\n" + w.Launcher
	if err := add(path.Join(w.Into, w.Command), 0o755, int64(len(text)), strings.NewReader(text)); err != nil {
		return "", err
	}
	slices.Sort(i.sums)
	digest := sha256.Sum256([]byte(strings.Join(i.sums, "")))
	return hex.EncodeToString(digest[:]), nil
}

// all brings the program, and then what it pins.
func (i *install) all(w agent.Wheel) error {
	name := normal(w.Name)
	if err := i.one(name, w.Version, w.SHA256); err != nil {
		return err
	}
	for _, r := range i.needs[name] {
		here, err := i.python.holds(r.marker, nil)
		if err != nil {
			return fmt.Errorf("%s %s: %w", w.Name, w.Version, err)
		}
		if !here {
			continue
		}
		version, err := r.pinned()
		if err != nil {
			return fmt.Errorf("%s %s: %w", w.Name, w.Version, err)
		}
		if err := i.one(r.name, version, ""); err != nil {
			return err
		}
	}
	return i.complete(name)
}

// complete makes sure that what the packages need is among them: else the program
// would not pin all of itself. A package is looked at anew once an extra of it is
// asked for.
func (i *install) complete(program string) error {
	extras := map[string][]string{}
	for todo := slices.Sorted(maps.Keys(i.needs)); len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		for _, r := range i.needs[name] {
			needed, err := i.python.holds(r.marker, extras[name])
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if !needed {
				continue
			}
			if _, there := i.needs[r.name]; !there {
				return fmt.Errorf("%s needs %q, which %s does not pin for %s", name, r.text, program, i.python)
			}
			for _, extra := range r.extras {
				if !slices.Contains(extras[r.name], extra) {
					extras[r.name] = append(extras[r.name], extra)
					todo = append(todo, r.name)
				}
			}
		}
	}
	return nil
}

// one brings a package. Its sum is that of its index where none is given.
func (i *install) one(name, version, sha256 string) (err error) {
	if _, twice := i.needs[name]; twice {
		return fmt.Errorf("%s is pinned twice", name)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("fetch %s %s: %w", name, version, err)
		}
	}()
	x, l, err := i.find(name, version)
	if err != nil {
		return err
	}
	if sha256 == "" {
		sha256 = l.sha256
	}
	f, err := i.fetch(i.ctx, x, l, sha256)
	if err != nil {
		return err
	}
	i.sums = append(i.sums, fmt.Sprintf("%s %s %s\n", name, version, sha256))
	return errors.Join(i.take(f, name, version), f.Close(), os.Remove(f.Name()))
}

// find asks the indexes for a version, until one has it.
func (i *install) find(name, version string) (registry.Index, link, error) {
	var failed []error
	for _, x := range i.Indexes {
		links, err := i.page(i.ctx, x, name)
		var l link
		if err == nil {
			l, err = i.python.choose(links, name, version)
		}
		switch {
		case err == nil:
			return x, l, nil
		case !errors.Is(err, errNone):
			return x, l, err // rather than that another index says what it is
		}
		failed = append(failed, fmt.Errorf("%s: %w", x.URL, err))
	}
	return registry.Index{}, link{}, errors.Join(failed...)
}

// fetch brings a wheel into a temporary file and makes sure that it is the one that
// was pinned.
func (in *Installer) fetch(ctx context.Context, x registry.Index, l link, want string) (*os.File, error) {
	at := *l.url
	at.Fragment = ""
	resp, err := in.get(ctx, x, at.String(), "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	f, err := os.CreateTemp("", "git-ftl-wheel-*")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), io.LimitReader(resp.Body, maxArchive))
	if got := hex.EncodeToString(sum.Sum(nil)); err == nil && got != want {
		err = fmt.Errorf("%s is not what was pinned: its SHA-256 is %s", l.name, got)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// take unpacks a wheel and notes what it needs.
func (i *install) take(f *os.File, name, version string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := openArchive(f, info.Size(), name, version)
	if err != nil {
		return err
	}
	if i.needs[name], err = a.requires(); err != nil {
		return err
	}
	return i.tree.unpack(a)
}
