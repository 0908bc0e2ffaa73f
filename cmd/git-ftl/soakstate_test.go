//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// soakState is all that is the user's in a work tree.
type soakState struct {
	Files map[string]soakFile
	Index string            // entries, as ls-files -s gives them
	Head  string            // branch and tree of its commit
	Refs  map[string]string // of the repository but for ours and this branch; with the stash
	Other string            // config and, where the index is not to change, its bytes
}

// soakFile is one file or link.
type soakFile struct {
	Mode    fs.FileMode
	Content string
}

// state looks at a work tree with git and the file system.
func (s *soak) state(p *soakPlace) soakState {
	st := soakState{Files: map[string]soakFile{}, Refs: map[string]string{}}
	s.must(filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.dir, path)
		switch {
		case name == ".git" && d.IsDir():
			return filepath.SkipDir
		case d.IsDir() || name == ".git":
			return nil
		}
		st.Files[name], err = soakFileAt(path)
		return err
	}))
	st.Index = s.git(p.dir, "ls-files", "-s")
	branch := s.git(p.dir, "symbolic-ref", "HEAD")
	st.Head = branch + " " + s.git(p.dir, "rev-parse", "HEAD^{tree}")
	for line := range strings.SplitSeq(s.git(p.dir, "for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
		name, at, _ := strings.Cut(line, " ")
		if name != branch && !strings.HasPrefix(name, "refs/ftl/") && !strings.HasPrefix(name, "refs/worktree/ftl/") && name != "refs/notes/ftl" {
			st.Refs[name] = at
		}
	}
	config, err := os.ReadFile(filepath.Join(p.repo.common, "config"))
	s.must(err)
	st.Other = string(config)
	return st
}

func soakFileAt(path string) (soakFile, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return soakFile{}, err
	}
	f := soakFile{Mode: fi.Mode()}
	if fi.Mode()&fs.ModeSymlink != 0 {
		f.Content, err = os.Readlink(path)
		return f, err
	}
	data, err := os.ReadFile(path)
	f.Content = string(data)
	return f, err
}

// indexBytes is a hash of the user's index file.
func (s *soak) indexBytes(p *soakPlace) string {
	data, err := os.ReadFile(filepath.Join(p.gitDir, "index"))
	s.must(err)
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

func (a soakState) same(b soakState) bool { return cmp.Equal(a, b) }

// oracle works out with git alone what a work tree is to be.
type oracle struct {
	s   *soak
	p   *soakPlace
	dir string
	env []string
}

// newOracle keeps what git writes on the way out of the repository: it must not
// supply an object that git-ftl forgot.
func (s *soak) newOracle(p *soakPlace) *oracle {
	dir, err := os.MkdirTemp(s.dir, ".oracle-")
	s.must(err)
	s.must(os.Mkdir(filepath.Join(dir, "objects"), 0o755))
	return &oracle{s: s, p: p, dir: dir, env: append(s.env,
		"GIT_OBJECT_DIRECTORY="+filepath.Join(dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(p.repo.common, "objects"),
		"GIT_INDEX_FILE="+filepath.Join(dir, "index"))}
}

func (o *oracle) close() { o.s.must(os.RemoveAll(o.dir)) }

func (o *oracle) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = o.p.dir, o.env
	out, err := cmd.Output()
	return string(out), err
}

func (o *oracle) git(args ...string) string {
	out, err := o.try(args...)
	if err != nil {
		o.s.fail("git %q: %v", args, err)
	}
	return strings.TrimSpace(out)
}

// index loads a copy of the user's index, and gives its tree.
func (o *oracle) index() string {
	data, err := os.ReadFile(filepath.Join(o.p.gitDir, "index"))
	o.s.must(err)
	o.s.must(os.WriteFile(filepath.Join(o.dir, "index"), data, 0o644))
	return o.git("write-tree")
}

// workTree gives the tree of the files as they are.
func (o *oracle) workTree() string {
	o.index()
	o.git("add", "-A")
	return o.git("write-tree")
}

// merge brings what a result changed upon another tree; false where they conflict.
func (o *oracle) merge(tree, base, result string) (string, bool) {
	ours := o.git("commit-tree", "-p", base, "-m", "ours", tree)
	out, err := o.try("merge-tree", "--write-tree", ours, result)
	merged, _, _ := strings.Cut(out, "\n")
	return merged, err == nil
}

// onDisk gives the files after a move from one tree to another, of the paths that
// take wants.
func (o *oracle) onDisk(files map[string]soakFile, from, to string, take func(string) bool) map[string]soakFile {
	files = maps.Clone(files)
	for line := range strings.SplitSeq(o.git("diff-tree", "-r", "--no-renames", from, to), "\n") {
		info, path, ok := strings.Cut(line, "\t")
		if !ok || !take(path) {
			continue
		}
		f := strings.Fields(info)
		delete(files, path)
		switch f[1] {
		case "000000":
		case "120000":
			text, _ := o.try("cat-file", "blob", f[3])
			files[path] = soakFile{fs.ModeSymlink | 0o777, text}
		default:
			text, err := o.try("cat-file", "--filters", to+":"+path)
			o.s.must(err)
			mode := map[string]fs.FileMode{"100644": 0o644, "100755": 0o755}[f[1]]
			files[path] = soakFile{mode, text}
		}
	}
	return files
}

// entries lists a tree as ls-files -s does an index.
func (o *oracle) entries(tree string) string {
	o.git("read-tree", tree)
	return o.git("ls-files", "-s")
}

// applied is the state after an apply of a result; false where it conflicts.
func (o *oracle) applied(before soakState, base, result, way string, take func(string) bool) (soakState, bool) {
	after, ok := before, true
	onto := func(tree string) string {
		merged, clean := o.merge(tree, base, result)
		ok = ok && clean
		return merged
	}
	now := o.workTree()
	if merged := onto(now); ok {
		after.Files = o.onDisk(before.Files, now, merged, take)
	}
	if way == "--index" || way == "--commit" {
		if merged := onto(o.index()); ok {
			after.Index = o.entries(merged)
		}
	}
	if way == "--commit" {
		if merged := onto(o.git("rev-parse", "HEAD^{tree}")); ok {
			after.Head = strings.Fields(before.Head)[0] + " " + merged
		}
	}
	return after, ok
}

// undone is the state after an undo: what the apply brought is as before it.
func (a *soakApply) undone(now soakState) soakState {
	now.Files = maps.Clone(now.Files)
	for path := range a.touched() {
		if f, ok := a.before.Files[path]; ok {
			now.Files[path] = f
		} else {
			delete(now.Files, path)
		}
	}
	if a.before.Index == a.after.Index {
		return now
	}
	before, after, entries := soakEntries(a.before.Index), soakEntries(a.after.Index), soakEntries(now.Index)
	for path := range after {
		before[path] += ""
	}
	for path, was := range before {
		if was == after[path] {
			continue
		}
		if entries[path] = was; was == "" {
			delete(entries, path)
		}
	}
	now.Index = joinEntries(entries)
	return now
}

// touched are the files that an apply wrote or deleted.
func (a *soakApply) touched() map[string]bool {
	set := map[string]bool{}
	for path, f := range a.after.Files {
		if was, ok := a.before.Files[path]; !ok || was != f {
			set[path] = true
		}
	}
	for path := range a.before.Files {
		if _, ok := a.after.Files[path]; !ok {
			set[path] = true
		}
	}
	return set
}
