package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	maxLinks = 40
	maxFile  = 16 << 20 // bytes
)

// ErrUnsafe says that somebody else than root can change where a path leads.
var ErrUnsafe = errors.New("not root's alone")

// Root is a file system whose files belong to one user.
type Root struct {
	Dir string // "/" but in tests
	UID uint32 // of root
}

// Find follows a path to the place that it names, which need not be there: then
// found is false, and its folder is.
func (r Root) Find(name string) (place string, found bool, err error) {
	todo, at, links := split(name), "/", 0
	for len(todo) > 0 {
		if err := r.safe(at); err != nil {
			return "", false, fmt.Errorf("find %s: %w", name, err)
		}
		next := path.Join(at, todo[0])
		todo = todo[1:]
		info, err := os.Lstat(r.host(next))
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(todo) == 0:
			return next, false, nil
		case err != nil:
			return "", false, fmt.Errorf("find %s: %w", name, err)
		case info.Mode().Type() != fs.ModeSymlink:
			at = next
			continue
		}
		target, err := os.Readlink(r.host(next))
		if links++; err != nil || links > maxLinks {
			return "", false, fmt.Errorf("find %s: too many links", name)
		}
		todo = append(split(target), todo...)
		if path.IsAbs(target) {
			at = "/"
		}
	}
	return at, true, nil
}

// split gives the elements of a path. A ".." stays: what is left of it may be a
// link.
func split(name string) []string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

func (r Root) host(name string) string { return path.Join(r.Dir, name) }

// safe refuses a folder that others may change.
func (r Root) safe(dir string) error {
	info, err := os.Lstat(r.host(dir))
	if err != nil {
		return err
	}
	if !r.owns(info) {
		return fmt.Errorf("%s is %w", dir, ErrUnsafe)
	}
	return nil
}

// owns tells whether only root, and its group, may write.
func (r Root) owns(info fs.FileInfo) bool {
	st, mode := info.Sys().(*syscall.Stat_t), info.Mode().Perm()
	return st.Uid == r.UID && mode&0o002 == 0 && (mode&0o020 == 0 || st.Gid == r.UID)
}

// Read reads a regular file of root's. The errors are fs.ErrNotExist and
// ErrUnsafe.
func (r Root) Read(name string) ([]byte, error) {
	place, found, err := r.Find(name)
	if err == nil && !found {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	f, err := r.open(place, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("read %s: over %d bytes", name, maxFile)
	}
	return data, err
}

// open opens a regular file of root's at a place that Find gave.
func (r Root) open(place string, flags int) (*os.File, error) {
	f, err := os.OpenFile(r.host(place), flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", place)
	}
	if err == nil && !r.owns(info) {
		err = fmt.Errorf("%s is %w", place, ErrUnsafe)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Replace makes a file with the data, which all may read, in one step.
func (r Root) Replace(name string, data []byte) error {
	place, _, err := r.Find(name)
	if err != nil {
		return err
	}
	temp := r.host(path.Join(path.Dir(place), ".ftl-"+path.Base(place)))
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return os.Rename(temp, r.host(place))
}

// Rewrite changes a file in place, for one that the engine mounts, or makes it.
func (r Root) Rewrite(name string, data []byte) error {
	place, found, err := r.Find(name)
	if err != nil {
		return err
	}
	if !found {
		return r.Replace(name, data)
	}
	f, err := r.open(place, unix.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Truncate(int64(len(data))), f.Close())
}

// Folder makes a folder and those above it where they are missing.
func (r Root) Folder(name string) error {
	var at string
	for _, part := range split(name) {
		at += "/" + part
		place, found, err := r.Find(at)
		if err == nil && !found {
			err = os.Mkdir(r.host(place), 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Link makes a link of root's in a folder that Find gave, in place of another.
func (r Root) Link(target, place string) error {
	if err := os.Remove(r.host(place)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(target, r.host(place))
}

// Links gives the links of a folder that have a target, as places.
func (r Root) Links(dir, target string) ([]string, error) {
	place, found, err := r.Find(dir)
	if err != nil || !found {
		return nil, err
	}
	entries, err := os.ReadDir(r.host(place))
	if err != nil {
		return nil, err
	}
	var links []string
	for _, entry := range entries {
		name := path.Join(place, entry.Name())
		if to, err := os.Readlink(r.host(name)); err == nil && to == target {
			links = append(links, name)
		}
	}
	return links, nil
}

// Stamp says which state a file or folder of root's is in: it changes with every
// write, and nobody but root can make it what it was. "" stands for none there.
func (r Root) Stamp(name string) (string, error) {
	place, found, err := r.Find(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !found {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(r.host(place))
	if err != nil {
		return "", err
	}
	if !r.owns(info) {
		return "", fmt.Errorf("%s is %w", place, ErrUnsafe)
	}
	st := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%s %d %d %o %d %d %d", place, st.Dev, st.Ino, st.Mode, st.Size, info.ModTime().UnixNano(), st.Ctim.Nano()), nil
}

// Remove deletes a file or link at a place that Find or Links gave.
func (r Root) Remove(place string) error { return os.Remove(r.host(place)) }

// Exists tells whether a pattern of path.Match names anything.
func (r Root) Exists(pattern string) bool {
	found, err := fs.Glob(os.DirFS(r.Dir), strings.TrimPrefix(pattern, "/"))
	return err == nil && len(found) > 0
}
