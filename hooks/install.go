package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Change is what was done to one hook, or would be.
type Change struct {
	Name string `json:"name"`
	File string `json:"file"`           // absolute
	Did  string `json:"did"`            // installed, kept; removed, restored, left
	With string `json:"with,omitempty"` // what runs before git-ftl: a manager, or a file
	Why  string `json:"why,omitempty"`  // of what was left
}

// EditedError names hooks that are not as git-ftl left them, so that it cannot tell
// what may be overwritten.
type EditedError struct {
	What []string // a line each

	ways []string
}

// Error counts them.
func (e *EditedError) Error() string { return "hooks were changed by others; nothing was written" }

// Hints are the ways out.
func (e *EditedError) Hints() []string { return e.ways }

// Install is how to install hooks.
type Install struct {
	Names   []string // of Names
	Program string   // absolute path of git-ftl, for where PATH has none
	DryRun  bool
}

// Do installs hooks into the folder that git runs them from; what is there stays.
// After a kill another call, or Uninstall, does the rest. Errors: *PathError,
// *EditedError, both of which mean that nothing was written.
func (in Install) Do(ctx context.Context, repo *git.Repo) ([]Change, error) {
	p, err := find(ctx, repo)
	if err != nil {
		return nil, err
	}
	if err := p.writable(in.Names); err != nil {
		return nil, err
	}
	unlock, err := repo.Lock(ctx, lockName)
	if err != nil {
		return nil, err
	}
	defer unlock()
	rec, err := readRecord(repo)
	if err != nil {
		return nil, err
	}
	folder := rec.folder(repo, p.dir)
	all, err := in.look(p.dir, folder)
	if err != nil {
		return nil, err
	}
	if !in.DryRun {
		err = in.write(repo, p.dir, all, rec)
	}
	return in.changes(all), err
}

// look finds all hooks before any is touched.
func (in Install) look(dir string, folder *folderRecord) ([]hook, error) {
	var all []hook
	refused := &EditedError{}
	for _, name := range in.Names {
		if !known(name) {
			return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		h, err := look(dir, name, folder.Hooks[name])
		if err != nil {
			return nil, fmt.Errorf("look at hook %s: %w", name, err)
		}
		switch {
		case h.kind == edited:
			refused.What = append(refused.What, fmt.Sprintf("%s was git-ftl's and was edited since", h.path))
			refused.ways = append(refused.ways, fmt.Sprintf("rm %s, and install again", quote(h.path)))
		case h.kind == foreign && h.was != nil && !h.twin():
			refused.What = append(refused.What, fmt.Sprintf("%s replaced git-ftl's, and %s still has the hook from before", h.path, h.orig))
			refused.ways = append(refused.ways, fmt.Sprintf("rm %s keeps the newer one, mv %s %s the older one; then install again", quote(h.orig), quote(h.orig), quote(h.path)))
		}
		all = append(all, h)
	}
	if len(refused.What) > 0 {
		return nil, refused
	}
	return all, nil
}

func (in Install) changes(all []hook) []Change {
	var list []Change
	for _, h := range all {
		c := Change{Name: h.name, File: h.path, Did: "installed", With: h.with()}
		switch {
		case h.kind == ours:
			c.Did = "kept"
		case h.kind == foreign && c.With == "":
			if c.With = author(h.data); c.With == "" {
				c.With = filepath.Base(h.orig)
			}
		}
		list = append(list, c)
	}
	return list
}

func (in Install) write(repo *git.Repo, dir string, all []hook, rec record) error {
	folder, text := rec.folder(repo, dir), shim(in.Program)
	for _, h := range all {
		r := folder.Hooks[h.name]
		if r.Shim == "" {
			r.Shim = hash(text)
		}
		switch h.kind {
		case foreign:
			r.Orig = h.is
		case absent:
			r.Orig = h.was
		}
		folder.Hooks[h.name] = r
	}
	if err := rec.write(repo); err != nil {
		return err
	}
	if err := makeFolder(repo, dir); err != nil {
		return err
	}
	for _, h := range all {
		if err := h.install(repo, text); err != nil {
			return fmt.Errorf("install hook %s: %w", h.name, err)
		}
		folder.Hooks[h.name] = hookRecord{Shim: hash(text), Orig: folder.Hooks[h.name].Orig}
	}
	return rec.write(repo) // an older version's shim is known by its hash until here
}

// makeFolder makes a missing folder of hooks for those who share the repository.
func makeFolder(repo *git.Repo, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	info, err := os.Stat(repo.CommonDir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, info.Mode().Perm())
}

// install puts the shim into its place in one step.
func (h hook) install(repo *git.Repo, text []byte) error {
	if h.kind == ours && string(h.data) == string(text) && h.is.Mode&0o111 != 0 {
		return nil
	}
	f, err := os.CreateTemp(repo.State, ".new-*") // which gc sweeps after a kill
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close(), os.Chmod(f.Name(), 0o755))
	if err == nil && h.kind == foreign {
		err = h.keep()
	}
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
