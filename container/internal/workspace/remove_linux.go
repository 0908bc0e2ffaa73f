package workspace

import (
	"crypto/rand"
	"fmt"

	"golang.org/x/sys/unix"
)

// heldDepth is how many descriptors a removal holds; deeper folders are moved
// up first, so that no depth of an agent's tree can end it.
const heldDepth = 32

// remover deletes below one folder.
type remover struct {
	root  *root
	trash string // name of a folder of root for what lies deep, "" until needed
	fd    int    // of trash
	queue []string
	moved int
	count int // files and folders removed
	buf   []byte
}

func newRemover(r *root) *remover {
	return &remover{root: r, fd: -1, buf: make([]byte, 64<<10)}
}

// close removes the trash folder.
func (r *remover) close() error {
	if r.trash == "" {
		return nil
	}
	unix.Close(r.fd)
	r.fd = -1
	return unlink(r.root.fd, r.trash, unix.AT_REMOVEDIR)
}

// remove deletes name of the folder fd, with all below it. An absent name is
// no error.
func (r *remover) remove(fd int, name string) error {
	if err := r.tree(fd, name, 0); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	for len(r.queue) > 0 {
		next := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		if err := r.tree(r.fd, next, 0); err != nil {
			return fmt.Errorf("remove below %q: %w", name, err)
		}
	}
	return nil
}

// empty deletes all entries of the folder fd but those that keep names.
func (r *remover) empty(fd int, keep func(name string) bool) error {
	names, err := readNames(fd, r.buf)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == r.trash || keep != nil && keep(name) {
			continue
		}
		if err := r.remove(fd, name); err != nil {
			return err
		}
	}
	return nil
}

func (r *remover) tree(fd int, name string, depth int) error {
	err := unlink(fd, name, 0)
	if err == nil {
		r.count++
		return nil
	}
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	if depth == heldDepth {
		moved, err := r.moveUp(fd, name)
		if moved || err != nil {
			return err
		}
	}
	dir, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	err = r.below(dir, depth)
	unix.Close(dir)
	if err != nil {
		return err
	}
	r.count++
	return unlink(fd, name, unix.AT_REMOVEDIR)
}

func (r *remover) below(dir, depth int) error {
	names, err := readNames(dir, r.buf)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.tree(dir, name, min(depth+1, heldDepth)); err != nil {
			return err
		}
	}
	return nil
}

// moveUp is false where the folder cannot be moved: overlay says EXDEV for
// folders of the image, which no agent can nest.
func (r *remover) moveUp(fd int, name string) (bool, error) {
	if r.trash == "" {
		trash := ".ftl-" + rand.Text()
		if err := unix.Mkdirat(r.root.fd, trash, 0o700); err != nil {
			return false, err
		}
		dir, err := unix.Openat(r.root.fd, trash, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return false, err
		}
		r.trash, r.fd = trash, dir
	}
	r.moved++
	to := fmt.Sprint(r.moved)
	err := unix.Renameat(fd, name, r.fd, to)
	if err == unix.EXDEV {
		return false, nil
	}
	if err == nil {
		r.queue = append(r.queue, to)
	}
	return err == nil, err
}

func unlink(fd int, name string, flags int) error {
	if err := unix.Unlinkat(fd, name, flags); err != unix.ENOENT {
		return err
	}
	return nil
}
