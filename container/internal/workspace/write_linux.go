package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/git-ftl/git-ftl/container/internal/ignore"
)

// writeAll writes the planned files with two goroutines.
func (c *reset) writeAll() error {
	half := len(c.write) / 2
	var errs [2]error
	var group sync.WaitGroup
	for i, part := range [2][]int{c.write[:half], c.write[half:]} {
		group.Go(func() { errs[i] = c.writeItems(part) })
	}
	group.Wait()
	c.report.Written = len(c.write)
	return errors.Join(errs[:]...)
}

func (c *reset) writeItems(indexes []int) error {
	w := writer{from: cursor{root: c.tree}, to: cursor{root: c.root}, uid: c.UID, buf: make([]byte, 128<<10)}
	defer w.from.close()
	defer w.to.close()
	for _, i := range indexes {
		if err := w.write(&c.items[i]); err != nil {
			return fmt.Errorf("write %q: %w", c.items[i].path, err)
		}
	}
	return nil
}

// writer copies files of the base into the workspace.
type writer struct {
	from, to cursor
	uid      int
	buf      []byte
}

func (w *writer) write(it *item) error {
	src, name, err := w.from.at(it.path)
	if err != nil {
		return err
	}
	dst, _, err := w.to.at(it.path)
	if err != nil {
		return err
	}
	make := w.file
	if it.mode == modeLink {
		make = w.link
	}
	err = make(src, dst, name, it)
	if errors.Is(err, unix.EEXIST) {
		if err = newRemover(w.to.root).remove(dst, name); err == nil {
			err = make(src, dst, name, it)
		}
	}
	return err
}

func (w *writer) link(src, dst int, name string, it *item) error {
	to, err := readLink(src, name)
	if err != nil {
		return err
	}
	if err := unix.Symlinkat(to, dst, name); err != nil {
		return err
	}
	if err := unix.Fchownat(dst, name, w.uid, w.uid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	var e entry
	if err := e.read(dst, name); err != nil {
		return err
	}
	it.learn(e.stat())
	return nil
}

func (w *writer) file(src, dst int, name string, it *item) error {
	in, err := unix.Openat(src, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open in the base: %w", err)
	}
	defer unix.Close(in)
	out, err := unix.Openat(dst, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	if err := copyFile(out, in, w.buf); err != nil {
		return err
	}
	if err := unix.Fchown(out, w.uid, w.uid); err != nil {
		return err
	}
	if err := unix.Fchmod(out, it.mode&0o777); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(out, &st); err != nil {
		return err
	}
	var e entry
	e.fill(&st)
	it.learn(e.stat())
	return nil
}

// copyFile reads small files at once; for others the kernel may share blocks.
func copyFile(out, in int, buf []byte) error {
	for {
		n, err := retry(func() (int, error) { return unix.Read(in, buf) })
		if err != nil || n == 0 {
			return err
		}
		if err := writeFull(out, buf[:n]); err != nil || n < len(buf) {
			return err
		}
		if err := shareRest(out, in); err != nil {
			return err
		}
	}
}

// shareRest ends early, without an error, where the file systems cannot.
func shareRest(out, in int) error {
	for {
		n, err := retry(func() (int, error) { return unix.CopyFileRange(in, nil, out, nil, 1<<30, 0) })
		switch {
		case err == unix.ENOSPC || err == unix.EIO || err == unix.EDQUOT:
			return err
		case err != nil || n <= 0:
			return nil
		}
	}
}

func writeFull(fd int, p []byte) error {
	for len(p) > 0 {
		n, err := retry(func() (int, error) { return unix.Write(fd, p) })
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// fixDir gives a folder the mode and owner of a fresh one. A default ACL or a
// set-group bit would shape the files made in it later.
func fixDir(r *root, p string, uid int) error {
	fd, err := r.dir(p)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := dropAttrs(fd); err != nil {
		return fmt.Errorf("drop attributes of %q: %w", p, err)
	}
	if err := unix.Fchown(fd, uid, uid); err != nil {
		return fmt.Errorf("own %q: %w", p, err)
	}
	if err := unix.Fchmod(fd, 0o755); err != nil {
		return fmt.Errorf("set mode of %q: %w", p, err)
	}
	return nil
}

func hasAttrs(fd int) bool {
	n, err := unix.Flistxattr(fd, nil)
	return err == nil && n > 0
}

// dropAttrs leaves labels of the kernel's security modules.
func dropAttrs(fd int) error {
	if !hasAttrs(fd) {
		return nil
	}
	buf := make([]byte, 64<<10) // the kernel's own bound
	n, err := unix.Flistxattr(fd, buf)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(string(bytes.TrimSuffix(buf[:n], []byte{0})), "\x00") {
		if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.posix_acl") {
			continue
		}
		if err := unix.Fremovexattr(fd, name); err != nil && err != unix.ENODATA {
			return err
		}
	}
	return nil
}

// baseRules reads the ignore files of the base, as git does: regular ones.
func baseRules(tree *root, items []item, exclude []string) (*ignore.Rules, error) {
	rules := ignore.New(exclude)
	for i := range items {
		dir, name := split(items[i].path)
		if name != ".gitignore" || items[i].mode == modeLink || items[i].mode == modeGitlink {
			continue
		}
		data, err := tree.read(items[i].path, 8<<20)
		if err != nil {
			return nil, fmt.Errorf("read ignore rules: %w", err)
		}
		rules.Add(dir, data)
	}
	return rules, nil
}

// read returns at most max bytes of a regular file.
func (r *root) read(p string, max int64) ([]byte, error) {
	f, _, err := r.file(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max))
}

func freeDisk(fd int) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return 0, os.NewSyscallError("statfs", err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
