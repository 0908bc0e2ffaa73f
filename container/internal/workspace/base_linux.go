package workspace

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// Update changes the files of the base and its git objects as the tar says, for
// engines that cannot show the host's folders. What it writes is the root's and
// readable for all.
func (s Space) Update(r io.Reader) error {
	u := updater{}
	var err error
	if u.tree, err = openRoot(s.Tree); err != nil {
		return err
	}
	defer u.tree.close()
	if u.objects, err = openRoot(s.Objects); err != nil {
		return err
	}
	defer u.objects.close()
	for in := tar.NewReader(r); ; {
		head, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = u.entry(head, in)
		}
		if err != nil {
			return fmt.Errorf("update base: %w", err)
		}
	}
}

type updater struct {
	tree, objects *root
}

func (u *updater) entry(head *tar.Header, data io.Reader) error {
	top, p, _ := strings.Cut(strings.TrimSuffix(head.Name, "/"), "/")
	r := map[string]*root{"tree": u.tree, "objects": u.objects}[top]
	if r == nil {
		return fmt.Errorf("entry %q is in no known folder", head.Name)
	}
	_, gone := head.PAXRecords[wire.GonePAX]
	if p == "" {
		if gone {
			return emptyKept(r)
		}
		return nil
	}
	if err := checkPath(p); err != nil {
		return err
	}
	dir, name := path.Split(p)
	fd, err := makeParents(r, strings.TrimSuffix(dir, "/"), !gone)
	if errors.Is(err, unix.ENOENT) && gone {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	m := newRemover(r)
	if err := errors.Join(m.remove(fd, name), m.close()); err != nil || gone {
		return err
	}
	return unpack(fd, name, head, data)
}

func unpack(fd int, name string, head *tar.Header, data io.Reader) error {
	switch head.Typeflag {
	case tar.TypeDir:
		return unix.Mkdirat(fd, name, 0o755)
	case tar.TypeSymlink:
		return unix.Symlinkat(head.Linkname, fd, name)
	case tar.TypeReg:
	default:
		return fmt.Errorf("entry %q is of a type that no base has", head.Name)
	}
	out, err := unix.Openat(fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	_, err = io.Copy(fdWriter(out), data)
	return err
}

type fdWriter int

// Write implements io.Writer.
func (w fdWriter) Write(p []byte) (int, error) {
	if err := writeFull(int(w), p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// emptyKept empties a folder that stays.
func emptyKept(r *root) error {
	m := newRemover(r)
	return errors.Join(m.empty(r.fd, nil), m.close())
}

// makeParents opens a folder below r. What lies in its way is replaced where
// create is set, else it is ENOENT.
func makeParents(r *root, dir string, create bool) (int, error) {
	fd, err := r.dir(dir)
	if err == nil {
		return fd, nil
	}
	if !create {
		return -1, unix.ENOENT
	}
	above, name := split(dir)
	parent, err := makeParents(r, above, true)
	if err != nil {
		return -1, err
	}
	defer unix.Close(parent)
	m := newRemover(r)
	if err := errors.Join(m.remove(parent, name), m.close()); err != nil {
		return -1, err
	}
	if err := unix.Mkdirat(parent, name, 0o755); err != nil {
		return -1, err
	}
	return r.dir(dir)
}
