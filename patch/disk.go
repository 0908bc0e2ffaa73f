package patch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// disk reaches the files of a work tree component by component: each folder on
// the way must be a real one, held open, so that no link is followed.
type disk struct {
	top  *os.Root
	dir  string // path of last
	last *os.Root
}

var errNotFolder = errors.New("is no folder")

func openDisk(dir string) (*disk, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open work tree: %w", err)
	}
	return &disk{top: top, dir: ".", last: top}, nil
}

func (d *disk) Close() error {
	d.forget()
	return d.top.Close()
}

// forget closes the folder that was opened last; folders come and go.
func (d *disk) forget() {
	if d.last != d.top {
		_ = d.last.Close()
	}
	d.dir, d.last = ".", d.top
}

// folder opens a folder; it is valid until the next call. Errors:
// fs.ErrNotExist, errNotFolder where a component is a file or a link.
func (d *disk) folder(dir string) (*os.Root, error) {
	if dir == d.dir {
		return d.last, nil
	}
	d.forget()
	at := d.top
	for _, name := range parts(dir) {
		next, err := enter(at, name)
		if at != d.top {
			_ = at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	d.dir, d.last = dir, at
	return at, nil
}

func enter(at *os.Root, name string) (*os.Root, error) {
	fi, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, fmt.Errorf("%s: %w", quoted(name), errNotFolder)
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(fi, now) {
		return nil, errors.Join(fmt.Errorf("%s: %w", quoted(name), errNotFolder), err, next.Close())
	}
	return next, nil
}

// lstat describes a path, whose last component may be a link. Errors as folder.
func (d *disk) lstat(p string) (fs.FileInfo, error) {
	dir, err := d.folder(path.Dir(p))
	if err != nil {
		return nil, err
	}
	return dir.Lstat(path.Base(p))
}

// names lists a folder, nothing where there is none.
func (d *disk) names(dir string) ([]string, error) {
	root, err := d.folder(dir)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// absent reports whether an error says that there is no such file, be it that
// a folder on the way is something else.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder) }

// The kinds of state.
const (
	fileKind = "file"
	linkKind = "link"
	oddKind  = "other" // a pipe, a device
)

// state is what a path has on disk. Folders count as nothing. The zero state is
// "no file".
type state struct {
	Kind  string      `json:"kind,omitempty"`
	Hash  string      `json:"hash,omitempty"`  // of the raw bytes as a blob, in hex
	Perm  fs.FileMode `json:"perm,omitempty"`  // permBits of a file
	Mtime int64       `json:"mtime,omitempty"` // nanoseconds since 1970
}

// same compares everything but the time.
func (s state) same(t state) bool {
	s.Mtime, t.Mtime = 0, 0
	return s == t
}

// executable reports whether the owner may run the file.
func (s state) executable() bool { return s.Perm&0o100 != 0 }

// entry is the raw bytes as an entry of a tree.
func (s state) entry() git.Entry {
	mode := filemode.Regular
	if s.Kind == linkKind {
		mode = symlink
	}
	return git.Entry{Mode: mode, Hash: hashOf(s.Hash)}
}

// read returns the state and the raw bytes of a path: a file's content or a
// link's target.
func (d *disk) read(p string) (state, []byte, error) {
	fi, err := d.lstat(p)
	if absent(err) || err == nil && fi.IsDir() {
		return state{}, nil, nil
	}
	if err != nil {
		return state{}, nil, fmt.Errorf("read %s: %w", quoted(p), err)
	}
	s := state{Kind: oddKind, Mtime: fi.ModTime().UnixNano()}
	var raw []byte
	switch fi.Mode().Type() {
	case 0:
		s.Kind, s.Perm = fileKind, fi.Mode()&permBits
		raw, err = d.content(p, fi)
	case fs.ModeSymlink:
		s.Kind = linkKind
		var target string
		target, err = d.last.Readlink(path.Base(p))
		raw = []byte(filepath.ToSlash(target))
	default:
		return s, nil, nil
	}
	if err != nil {
		return state{}, nil, fmt.Errorf("read %s: %w", quoted(p), err)
	}
	s.Hash = plumbing.ComputeHash(plumbing.BlobObject, raw).String()
	return s, raw, nil
}

// content reads the file that fi described, and no other.
func (d *disk) content(p string, fi fs.FileInfo) ([]byte, error) {
	f, err := d.last.OpenFile(path.Base(p), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(fi, now) {
		return nil, errors.Join(errors.New("it changed meanwhile"), err)
	}
	buf := make([]byte, 0, fi.Size()+512)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// sum is read without the bytes, in constant memory.
func (d *disk) sum(p string) (state, error) {
	fi, err := d.lstat(p)
	if err != nil || !fi.Mode().IsRegular() {
		s, _, err := d.read(p)
		return s, err
	}
	f, err := d.last.OpenFile(path.Base(p), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return state{}, fmt.Errorf("read %s: %w", quoted(p), err)
	}
	defer f.Close()
	h := plumbing.NewHasher(plumbing.BlobObject, fi.Size())
	if _, err := io.Copy(h, f); err != nil {
		return state{}, fmt.Errorf("read %s: %w", quoted(p), err)
	}
	return state{Kind: fileKind, Hash: h.Sum().String(), Perm: fi.Mode() & permBits, Mtime: fi.ModTime().UnixNano()}, nil
}

// mkdir makes a folder with these permissions, whatever the umask of the process.
// Its parent exists; one that is there already is fine.
func (d *disk) mkdir(dir string, perm fs.FileMode) error {
	parent, err := d.folder(path.Dir(dir))
	if err != nil {
		return err
	}
	err = parent.Mkdir(path.Base(dir), perm)
	if errors.Is(err, fs.ErrExist) {
		fi, err := parent.Lstat(path.Base(dir))
		if err == nil && !fi.IsDir() {
			err = fmt.Errorf("%s: %w", quoted(dir), errNotFolder)
		}
		return err
	}
	if err != nil || permBits == 0 {
		return err
	}
	fi, err := parent.Lstat(path.Base(dir))
	if err != nil {
		return err
	}
	return d.chmod(dir, perm|fi.Mode()&fs.ModeSetgid) // as its parent has it
}

func (d *disk) chmod(dir string, perm fs.FileMode) error {
	root, err := d.folder(dir)
	if err != nil {
		return err
	}
	return root.Chmod(".", perm)
}

// rmdir removes a folder if it is there and empty.
func (d *disk) rmdir(dir string) error {
	parent, err := d.folder(path.Dir(dir))
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi, err := parent.Lstat(path.Base(dir)); err != nil || !fi.IsDir() {
		return nil
	}
	// A folder that is not empty stays, whatever the system calls that.
	_ = parent.Remove(path.Base(dir))
	d.forget()
	return nil
}

// depth orders paths so that what lies below comes later.
func depth(p string) int { return strings.Count(p, "/") }
