package hooks

import (
	"io/fs"
	"os"
	"path/filepath"
)

// hook is one hook of a folder as it is found.
type hook struct {
	name string
	path string // where git-ftl's is or belongs
	orig string // where what was there before waits
	kind kind

	data []byte // content of path; nil for a link and for nothing
	is   *print // of path, nil for nothing
	was  *print // of orig, nil for nothing
}

type kind int

const (
	absent  kind = iota
	ours         // as git-ftl wrote it
	edited       // git-ftl's, changed since
	foreign      // anybody's
)

// look finds a hook. The pre-commit framework moves one that it meets to
// NAME.legacy and runs it from there, so git-ftl's can be in that place.
func look(dir, name string, rec hookRecord) (hook, error) {
	h, err := lookAt(dir, name, filepath.Join(dir, name), rec)
	if err != nil || h.kind == ours || h.kind == edited || author(h.data) != "pre-commit" {
		return h, err
	}
	moved, err := lookAt(dir, name, filepath.Join(dir, name+".legacy"), rec)
	if err == nil && moved.kind == ours {
		return moved, nil
	}
	return h, err
}

func lookAt(dir, name, path string, rec hookRecord) (hook, error) {
	h := hook{name: name, path: path, orig: filepath.Join(dir, name+".ftl-orig")}
	var err error
	if h.is, err = printOf(h.path); err != nil {
		return h, err
	}
	if h.was, err = printOf(h.orig); err != nil {
		return h, err
	}
	if h.is == nil {
		return h, nil
	}
	h.kind = foreign
	if h.is.Mode.IsRegular() {
		h.data, err = os.ReadFile(path)
		switch {
		case isShim(h.data) || h.is.Hash == rec.Shim:
			h.kind = ours
		case marked(h.data):
			h.kind = edited
		}
	}
	return h, err
}

// twin reports whether what was there before is in both places, as after a crash
// in between, or where a manager has installed the same hook again.
func (h hook) twin() bool {
	return h.is != nil && h.was != nil && *h.is == *h.was
}

// with names what runs before git-ftl's.
func (h hook) with() string {
	if h.was == nil {
		return ""
	}
	data, err := os.ReadFile(h.orig)
	if err == nil && author(data) != "" {
		return author(data)
	}
	return filepath.Base(h.orig)
}

// keep gives the hook that is there its second name, so that at no moment there is
// none.
func (h hook) keep() error {
	if h.twin() {
		return nil
	}
	if h.is.Mode.Type() == fs.ModeSymlink { // some systems follow links for a hard link
		return os.Symlink(h.is.Target, h.orig)
	}
	if err := os.Link(h.path, h.orig); err == nil {
		return nil
	}
	return os.Rename(h.path, h.orig) // there are file systems without hard links
}

// restore brings back what was there before.
func (h hook) restore() error {
	switch {
	case h.was == nil:
		return os.Remove(h.path)
	case h.kind == foreign: // both are one: a rename could leave both
		return os.Remove(h.orig)
	}
	return os.Rename(h.orig, h.path)
}
