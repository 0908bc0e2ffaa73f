package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// origin says where a path stood before this pass.
type origin struct {
	tracked bool // in the user's index
	inside  bool // in the private index
}

// plan decides what of the differences enters the private index.
func (st *staging) plan(ignored pathSet) error {
	st.planRules(ignored)
	for _, r := range st.status.changed {
		if r.work != '.' && !st.drop[r.path] {
			st.planChanged(r)
		}
	}
	for p := range st.index.added {
		if !st.drop[p] {
			st.planFile(p, origin{tracked: true, inside: true})
		}
	}
	for _, p := range slices.Concat(st.status.others, st.rules.brought) {
		if !st.index.mem.Absent[p] {
			st.planFile(p, origin{})
		}
	}
	return st.planAbsent()
}

// planRules removes what a snapshot before had and rules now match.
func (st *staging) planRules(ignored pathSet) {
	mem := &st.index.mem
	for p := range ignored {
		if !st.rules.included[p] {
			st.gone(p, origin{inside: true})
		}
	}
	for _, p := range st.rules.inside {
		if _, err := st.lstat(p); !errors.Is(err, fs.ErrNotExist) && !st.drop[p] {
			st.leave(p, whyIgnored, origin{!mem.Extras[p], true})
		}
	}
}

func (st *staging) planChanged(r record) {
	o := origin{!st.index.mem.Extras[r.path], true}
	if r.work == 'D' {
		st.gone(r.path, o)
		if r.link && o.tracked {
			st.index.mem.Links[r.path] = true
		}
		return
	}
	if info, err := st.lstat(r.path); err == nil && info.IsDir() && r.link {
		st.add[r.path] = o // a submodule at another commit
		return
	}
	st.planFile(r.path, o)
}

// planAbsent looks again at the tracked files that are not in the private
// index, and leaves it to the caller whether they may come back.
func (st *staging) planAbsent() error {
	mem := &st.index.mem
	for p := range mem.Absent {
		if st.drop[p] {
			continue
		}
		info, err := st.lstat(p)
		if err == nil && info.IsDir() && mem.Links[p] {
			return errStale // only the user's index knows the submodule's commit
		}
		if err == nil && !info.IsDir() {
			st.planFile(p, origin{tracked: true})
		}
	}
	return nil
}

// planFile stages a path or leaves it out.
func (st *staging) planFile(p string, o origin) {
	why, err := st.why(p, o.tracked)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		st.gone(p, o)
	case why != "":
		st.leave(p, why, o)
	default:
		st.add[p] = o
	}
}

// gone takes a path that is not on disk out of the private index.
func (st *staging) gone(p string, o origin) {
	mem := &st.index.mem
	if o.inside {
		st.drop[p] = true
	}
	delete(mem.Extras, p)
	if o.tracked {
		mem.Absent[p] = true
	}
}

// leave keeps a path out of the private index and names it.
func (st *staging) leave(p, why string, o origin) {
	st.left[strings.TrimSuffix(p, "/")] = why
	delete(st.add, p)
	st.gone(p, o)
}

// why returns the reason to leave a path out, "" where it is to be staged.
// Errors: fs.ErrNotExist.
func (st *staging) why(p string, tracked bool) (string, error) {
	if strings.HasSuffix(p, "/") {
		return whyNested, nil
	}
	info, err := st.lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if why := st.index.names.why(p, tracked); why != "" {
		return why, nil
	}
	switch {
	case st.opt.Scan == nil && st.index.mem.Scan.Held[p] != "":
		return st.index.mem.Scan.Held[p], nil
	case refusedByGit(p):
		return whyName, nil
	case st.rules.hidden[p]:
		return whyIgnored, nil
	case err != nil:
		return whyUnread + plainError(err), nil
	case !tracked && info.Size() > st.opt.MaxFile && !st.rules.included[p]:
		return fmt.Sprintf("larger than %s; the line %q in %s brings it along, once git ftl trust took it or git config ftl.include is true",
			size(st.opt.MaxFile), "/"+p, includeFile), nil
	}
	return whyOfKind(info.Mode()), nil
}

func whyOfKind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return whyNested
	case mode.IsRegular(), mode&fs.ModeSymlink != 0:
		return ""
	}
	return whyKind
}

// lstat looks at a path of the work tree, which does not exist where a folder
// above it is a symbolic link: git does not look through these either.
func (st *staging) lstat(p string) (fs.FileInfo, error) {
	if !st.inFolders(path.Dir(p)) {
		return nil, fs.ErrNotExist
	}
	info, err := os.Lstat(filepath.Join(st.index.repo.Dir, filepath.FromSlash(p)))
	return info, err
}

func (st *staging) inFolders(dir string) bool {
	ok, known := st.dirs[dir]
	if !known {
		ok = st.inFolders(path.Dir(dir))
		if ok {
			info, err := os.Lstat(filepath.Join(st.index.repo.Dir, filepath.FromSlash(dir)))
			// What cannot be looked at is a matter of reading, not of absence.
			ok = err == nil && info.IsDir() || errors.Is(err, fs.ErrPermission)
		}
		st.dirs[dir] = ok
	}
	return ok
}

func plainError(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
