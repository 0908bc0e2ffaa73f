package workspace

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// entry is one file or folder of a walk.
type entry struct {
	path    string
	mode    uint32 // st_mode
	entered bool   // a folder whose entries follow
	attrs   bool   // an entered folder that has extended attributes
	uid     uint32
	gid     uint32
	links   uint64
	size    int64
	mtime   int64 // ns
	ctime   int64 // ns
	inode   uint64
}

func (e *entry) kind() uint32   { return e.mode & unix.S_IFMT }
func (e *entry) isDir() bool    { return e.kind() == unix.S_IFDIR }
func (e *entry) stat() statData { return statData{e.size, e.mtime, e.ctime, e.inode} }

// gitMode is 0 for what git cannot hold.
func (e *entry) gitMode() uint32 {
	switch e.kind() {
	case unix.S_IFLNK:
		return modeLink
	case unix.S_IFREG:
		if e.mode&0o100 != 0 {
			return modeExec
		}
		return modeFile
	}
	return 0
}

// statData tells whether a file was touched.
type statData struct {
	size, mtime, ctime int64
	inode              uint64
}

func (it *item) stat() statData { return statData{it.size, it.mtime, it.ctime, it.inode} }

func (it *item) learn(s statData) {
	it.known, it.size, it.mtime, it.ctime, it.inode = true, s.size, s.mtime, s.ctime, s.inode
}

// folder is a node of a walk; its kids stand at the places of their entries.
type folder struct {
	path    string
	entries []entry
	kids    []*folder
	attrs   bool // has extended attributes
}

// walker reads folders with two goroutines, each holding one descriptor.
type walker struct {
	root  *root
	skip  string                 // a path that is left out
	enter func(path string) bool // whether to read a folder; called from both

	mu      sync.Mutex
	wake    sync.Cond
	todo    []*folder
	pending int // folders in todo or being read
	seen    int
	err     error
}

// walk lists all below root in the order of paths, where a folder counts as
// "name/". The root itself is not listed.
func walk(root *root, skip string, enter func(string) bool) ([]entry, error) {
	top := &folder{}
	w := &walker{root: root, skip: skip, enter: enter, todo: []*folder{top}, pending: 1}
	w.wake.L = &w.mu
	var group sync.WaitGroup
	for range 2 {
		group.Go(w.work)
	}
	group.Wait()
	if w.err != nil {
		return nil, w.err
	}
	return top.flatten(make([]entry, 0, w.seen)), nil
}

func (w *walker) work() {
	buf := make([]byte, 64<<10)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.todo) == 0 && w.pending > 0 && w.err == nil {
			w.wake.Wait()
		}
		if w.pending == 0 || w.err != nil {
			return
		}
		f := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.mu.Unlock()
		more, err := w.read(f, buf)
		w.mu.Lock()
		w.seen += len(f.entries)
		if w.seen > maxEntries {
			err = fmt.Errorf("more than %d files: %w", maxEntries, ErrTooBig)
		}
		if err != nil && w.err == nil {
			w.err = err
		}
		w.todo = append(w.todo, more...)
		w.pending += len(more) - 1
		w.wake.Broadcast()
	}
}

func (w *walker) read(f *folder, buf []byte) ([]*folder, error) {
	fd, err := w.root.dir(f.path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	f.attrs = hasAttrs(fd)
	names, err := readNames(fd, buf)
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", f.path, err)
	}
	f.entries = make([]entry, 0, len(names))
	for _, name := range names {
		e := entry{path: join(f.path, name)}
		if e.path == w.skip {
			continue
		}
		if err := e.read(fd, name); err != nil {
			return nil, err
		}
		f.entries = append(f.entries, e)
	}
	slices.SortFunc(f.entries, compareEntries)
	var more []*folder
	f.kids = make([]*folder, len(f.entries))
	for i := range f.entries {
		e := &f.entries[i]
		if e.isDir() && len(e.path) <= maxPath && w.enter(e.path) {
			e.entered = true
			f.kids[i] = &folder{path: e.path}
			more = append(more, f.kids[i])
		}
	}
	return more, nil
}

func (e *entry) read(fd int, name string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "stat", Path: e.path, Err: err}
	}
	e.fill(&st)
	return nil
}

func (e *entry) fill(st *unix.Stat_t) {
	e.mode, e.uid, e.gid, e.links = st.Mode, st.Uid, st.Gid, uint64(st.Nlink)
	e.size, e.mtime, e.ctime, e.inode = st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino
}

// compareEntries orders entries of one folder as their files' paths sort.
func compareEntries(a, b entry) int {
	n := min(len(a.path), len(b.path))
	if c := cmp.Compare(a.path[:n], b.path[:n]); c != 0 {
		return c
	}
	return cmp.Compare(a.charAt(n), b.charAt(n))
}

func (e *entry) charAt(i int) int {
	switch {
	case i < len(e.path):
		return int(e.path[i])
	case e.isDir():
		return '/'
	}
	return -1
}

func (f *folder) flatten(all []entry) []entry {
	for i, kid := range f.kids {
		if kid != nil {
			f.entries[i].attrs = kid.attrs
		}
		all = append(all, f.entries[i])
		if kid != nil {
			all = kid.flatten(all)
		}
	}
	return all
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// readNames lists a folder without "." and "..".
func readNames(fd int, buf []byte) ([]string, error) {
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, buf) })
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
		if len(names) > maxEntries {
			return nil, fmt.Errorf("more than %d files: %w", maxEntries, ErrTooBig)
		}
	}
}
