package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// root is an open folder. Paths are relative to it, "" is the folder itself;
// no element of a path is followed if it is a link.
type root struct {
	fd   int
	name string
}

func openRoot(name string) (*root, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return &root{fd: fd, name: name}, nil
}

func (r *root) close() { unix.Close(r.fd) }

// dir opens a folder.
func (r *root) dir(p string) (int, error) {
	return r.open(p, unix.O_RDONLY|unix.O_DIRECTORY)
}

// open never blocks on a FIFO. A kernel or a seccomp profile without openat2
// gets one openat an element.
func (r *root) open(p string, flags int) (int, error) {
	flags |= unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	if p == "" {
		p = "."
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err := retry(func() (int, error) { return unix.Openat2(r.fd, p, &how) })
	if err == unix.ENOSYS || err == unix.EPERM {
		fd, err = r.openByElements(p, flags)
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path.Join(r.name, p), Err: err}
	}
	return fd, nil
}

func (r *root) openByElements(p string, flags int) (int, error) {
	at := r.fd
	for {
		part, rest, more := strings.Cut(p, "/")
		f := flags
		if more {
			f = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		}
		fd, err := retry(func() (int, error) { return unix.Openat(at, part, f, 0) })
		if at != r.fd {
			unix.Close(at)
		}
		if err != nil || !more {
			return fd, err
		}
		at, p = fd, rest
	}
}

// file opens a regular file for reading; anything else is an error.
func (r *root) file(p string) (*os.File, int64, error) {
	fd, err := r.open(p, unix.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, 0, fmt.Errorf("%q is no regular file", p)
	}
	return os.NewFile(uintptr(fd), p), st.Size, nil
}

// link reads the target of a symlink.
func (r *root) link(p string) (string, error) {
	dir, name := split(p)
	fd, err := r.dir(dir)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return readLink(fd, name)
}

func readLink(fd int, name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n, err := unix.Readlinkat(fd, name, buf)
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}

// equal compares a file or symlink below both roots. Sizes come first, so that
// a sparse file of a terabyte costs nothing.
func equal(a, b *root, p string, link bool) (bool, error) {
	if link {
		return equalLinks(a, b, p)
	}
	x, xSize, err := a.file(p)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, ySize, err := b.file(p)
	if err != nil {
		return false, err
	}
	defer y.Close()
	if xSize != ySize {
		return false, nil
	}
	return equalContent(x, y)
}

func equalLinks(a, b *root, p string) (bool, error) {
	x, err := a.link(p)
	if err != nil {
		return false, err
	}
	y, err := b.link(p)
	return x == y, err
}

func equalContent(x, y io.Reader) (bool, error) {
	bufX, bufY := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errX := io.ReadFull(x, bufX)
		m, errY := io.ReadFull(y, bufY)
		if n != m || string(bufX[:n]) != string(bufY[:m]) {
			return false, nil
		}
		for _, err := range []error{errX, errY} {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return false, err
			}
		}
		if errX != nil {
			return true, nil
		}
	}
}

// cursor keeps the folder of the last path open, since paths come sorted.
type cursor struct {
	root *root
	dir  string
	fd   int
	open bool
}

func (c *cursor) at(p string) (fd int, name string, err error) {
	dir, name := split(p)
	if c.open && c.dir == dir {
		return c.fd, name, nil
	}
	c.close()
	if c.fd, err = c.root.dir(dir); err != nil {
		return -1, name, err
	}
	c.dir, c.open = dir, true
	return c.fd, name, nil
}

func (c *cursor) close() {
	if c.open {
		unix.Close(c.fd)
		c.open = false
	}
}

func split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)], p[i+1:]
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
