package container

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// sent is what a guest without mounts was last given.
type sent struct {
	Base    string   `json:"base"`
	Objects []string `json:"objects"` // files below objects/, sorted
}

// sentIs tells whether the guest was last given the base of an id.
func (s *Sandbox) sentIs(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.Sent != nil && s.rec.Sent.Base == id
}

// send gives a guest that sees no folder of this machine the files of b, and the
// git objects that it does not have yet.
func (s *Sandbox) send(ctx context.Context, c *conn, b Base, files []File) error {
	root, err := os.OpenRoot(s.pool.export(s.name))
	if err != nil {
		return fmt.Errorf("open export: %w", err)
	}
	defer root.Close()
	objects, err := objectFiles(root)
	if err != nil {
		return err
	}
	s.mu.Lock()
	had := s.rec.Sent
	s.mu.Unlock()
	if b.From == "" {
		had = nil
	}
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		p := pack{root: root, out: tar.NewWriter(w)}
		err := p.base(had, files, objects)
		w.CloseWithError(err)
		packed <- err
	}()
	resp, err := c.do(ctx, http.MethodPut, "/base", r)
	_ = r.Close()
	if local := <-packed; local != nil && !errors.Is(local, io.ErrClosedPipe) {
		return fmt.Errorf("pack base: %w", local)
	}
	if err != nil {
		return fmt.Errorf("send base: %w", err)
	}
	_ = resp.Body.Close()
	return s.note(func(rec *record) { rec.Sent = &sent{Base: b.ID, Objects: objects} })
}

// objectFiles lists the files below objects/, sorted.
func objectFiles(root *os.Root) ([]string, error) {
	var names []string
	err := fs.WalkDir(root.FS(), "objects", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// pack writes a base as a tar.
type pack struct {
	root *os.Root
	out  *tar.Writer
}

// base writes files and objects. Where the guest had nothing to build on, files
// are the whole base, and all else that lies there goes.
func (p pack) base(had *sent, files []File, objects []string) error {
	var old []string
	if had != nil {
		old = had.Objects
	} else if err := errors.Join(p.gone("objects"), p.gone("tree")); err != nil {
		return err
	}
	for _, f := range files {
		if err := p.file(f); err != nil {
			return err
		}
	}
	for _, name := range without(objects, old) {
		if err := p.copy(name, 0o444); err != nil {
			return err
		}
	}
	for _, name := range without(old, objects) {
		if err := p.gone(name); err != nil {
			return err
		}
	}
	return p.out.Close()
}

// without gives what of a sorted list is not in another.
func without(list, other []string) []string {
	var rest []string
	for _, name := range list {
		if _, there := slices.BinarySearch(other, name); !there {
			rest = append(rest, name)
		}
	}
	return rest
}

// file writes one path of the base.
func (p pack) file(f File) error {
	name := path.Join("tree", f.Path)
	switch f.Mode {
	case 0:
		return p.gone(name)
	case 0o120000:
		target, err := p.root.Readlink(name)
		if err != nil {
			return err
		}
		return p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Format: tar.FormatPAX})
	case 0o160000:
		return p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, Format: tar.FormatPAX})
	}
	return p.copy(name, int64(f.Mode&0o777))
}

// copy writes one regular file, in the size that it had when it was opened.
func (p pack) copy(name string, mode int64) error {
	f, err := p.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New(name + " is no file")
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: info.Size(), Format: tar.FormatPAX}
	if err := p.out.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(p.out, f, info.Size())
	return err
}

// gone names a file or folder to be removed.
func (p pack) gone(name string) error {
	return p.out.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Format: tar.FormatPAX, PAXRecords: map[string]string{wire.GonePAX: "1"},
	})
}
