package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// maxFolders bounds how many folders are looked through for what git does not
// name: the topmost ones count.
const maxFolders = 1000

// sweep looks in folders for what git passes over in silence, and the user should
// know to be outside: env files that .gitignore names, as it mostly does, and
// folders that cannot be read.
type sweep struct {
	top     string
	names   names
	folders pathSet
	real    map[string]bool // whether a folder is reached through folders only
	env     []string
	closed  []string // folders that cannot be read
}

func (w *sweep) run() {
	for dir := range w.folders {
		if w.isFolder(dir) {
			w.look(dir)
		}
	}
}

func (w *sweep) isFolder(dir string) bool {
	ok, known := w.real[dir]
	if !known {
		info, err := os.Lstat(filepath.Join(w.top, filepath.FromSlash(dir)))
		ok = w.isFolder(path.Dir(dir)) && err == nil && info.IsDir()
		w.real[dir] = ok
	}
	return ok
}

func (w *sweep) look(dir string) {
	entries, err := os.ReadDir(filepath.Join(w.top, filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrPermission) {
		w.closed = append(w.closed, dir)
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if e.Name() != ".git" && !w.folders[p] && !w.opens(p) {
				w.closed = append(w.closed, p)
			}
		case strings.Contains(strings.ToLower(e.Name()), ".env") && w.names.why(p, false) == WhyEnv:
			w.env = append(w.env, p)
		}
	}
}

func (w *sweep) opens(dir string) bool {
	f, err := os.Open(filepath.Join(w.top, filepath.FromSlash(dir)))
	if err == nil {
		_ = f.Close()
	}
	return !errors.Is(err, fs.ErrPermission)
}

// sweepAll looks in the folders of tracked files and in the topmost one.
func (x *index) sweepAll() *sweep {
	folders := maps.Clone(x.mem.Folders)
	folders["."] = true
	return x.sweep(folders)
}

func (x *index) sweep(folders pathSet) *sweep {
	return &sweep{top: x.repo.Dir, names: x.names, folders: folders, real: map[string]bool{".": true}}
}

// nameSwept names what a sweep found. A closed folder that git ignores is of no
// interest.
func (st *staging) nameSwept(ctx context.Context, found *sweep) error {
	fresh := pathSet{}
	for _, paths := range []iter.Seq[string]{slices.Values(st.status.others), maps.Keys(st.index.mem.Extras)} {
		for p := range paths {
			if dir := path.Dir(p); !found.folders[dir] && len(fresh) < maxFolders {
				fresh[dir] = true
			}
		}
	}
	more := st.index.sweep(fresh)
	more.run()
	for _, p := range slices.Concat(found.env, more.env) {
		if st.left[p] == "" {
			st.left[p] = WhyEnv
		}
	}
	closed := slices.Concat(found.closed, more.closed)
	ignored, err := st.index.ignored(ctx, closed)
	for _, p := range closed {
		if !ignored[p] && st.left[p] == "" {
			st.left[p] = whyUnread + "permission denied"
		}
	}
	return err
}

// ignored returns those of some paths that git ignores, tracked or not.
func (x *index) ignored(ctx context.Context, paths []string) (pathSet, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, p := range paths {
		in.WriteString("./" + p + "\x00")
	}
	// check-ignore refuses literal pathspecs; behind "./" nothing is magic.
	out, err := x.repo.Output(ctx, git.Call{
		Args: []string{"--no-literal-pathspecs", "check-ignore", "--no-index", "-z", "--stdin"}, Stdin: &in})
	var exit *git.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return nil, nil
	}
	ignored := pathSet{}
	for _, p := range splitNUL(string(out)) {
		ignored[strings.TrimPrefix(p, "./")] = true
	}
	return ignored, err
}

// learnFolders notes the folder of a tracked file and those above it.
func (m *memory) learnFolders(p string) {
	for dir := path.Dir(p); !m.Folders[dir]; dir = path.Dir(dir) {
		m.Folders[dir] = true
	}
}

// trimFolders keeps the topmost ones.
func (m *memory) trimFolders() {
	if len(m.Folders) <= maxFolders {
		return
	}
	all := slices.SortedFunc(maps.Keys(m.Folders), func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	m.Folders = setOf(all[:maxFolders])
}

// tell returns the tracked files that are named like credentials and that no
// snapshot has named so far.
func (st *staging) tell() []string {
	var untold []string
	mem := &st.index.mem
	for p := range mem.Creds {
		if !mem.Told[p] && st.left[p] == "" {
			untold = append(untold, p)
		}
	}
	slices.Sort(untold)
	told := maps.Clone(mem.Creds)
	mem.Told = told
	if st.before != nil {
		st.before.Told = told
	}
	return untold
}
