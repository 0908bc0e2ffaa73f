package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
)

// errStale says that the private index no longer fits the user's and has to be
// made anew.
var errStale = errors.New("private index is stale")

// index is the private index of one work tree: the user's entries, plus extras
// (what was untracked and is staged here), less absent ones (tracked files that
// are left out or gone from disk).
type index struct {
	repo    *git.Repo
	names   names
	path    string // of the index file; the memory lies beside it
	user    string // the user's index
	mem     memory
	fresh   bool     // just made from the user's
	dirty   bool     // entries changed since mem.Tree was written
	stored  []byte   // the memory as it is on disk
	lenient []string // configuration that ignores failing filters
	added   pathSet  // entries of the user's that came since the last call
	doubt   string   // signature of the user's index, where only its listing tells whether it changed
}

// memory is what is known of a private index between calls.
type memory struct {
	Own     string        // signature of the private index
	User    string        // signature of the user's index that it agrees with
	Listed  string        // checksum of the listing of that index: refreshing it changes the signature alone
	Config  string        // signature of the configuration files
	Max     int64         // Options.MaxFile
	Extras  pathSet       // in the private index, not in the user's
	Absent  pathSet       // in the user's index, not in the private one
	Links   pathSet       // the submodules of Absent
	Mods    pathSet       // every submodule in the user's index
	Attrs   pathSet       // every .gitattributes file that was seen
	LFS     bool          // attributes name the LFS filter
	Creds   pathSet       // files in the user's index that are named like credentials
	Told    pathSet       // those of them that a snapshot has named
	Folders pathSet       // of files in the user's index
	Rules   pathSet       // .ftlignore and .ftlinclude files that were seen
	Flags   bool          // there are entries with flags, which git does not report when replaced
	Scan    scanned       // what was looked into
	Whole   plumbing.Hash // the last tree of a partial clone that had every object
	Tree    plumbing.Hash
	Head    plumbing.Hash
	Dirty   int // of Tree against Head
}

// pathSet is a set of paths of any encoding.
type pathSet map[string]bool

// MarshalJSON writes the paths, each with a NUL behind it, in base64.
func (p pathSet) MarshalJSON() ([]byte, error) {
	var raw []byte
	for _, name := range slices.Sorted(maps.Keys(p)) {
		raw = append(append(raw, name...), 0)
	}
	return json.Marshal(raw)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *pathSet) UnmarshalJSON(data []byte) error {
	var raw []byte
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*p = pathSet{}
	for _, name := range splitNUL(string(raw)) {
		(*p)[name] = true
	}
	return nil
}

func splitNUL(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\x00"), "\x00")
}

func (s *Store) openIndex() (*index, error) {
	x := &index{
		repo: s.repo, names: newNames(),
		path: s.repo.Path("index", s.repo.Key()),
		user: filepath.Join(s.repo.GitDir, "index"), added: pathSet{},
	}
	if err := os.MkdirAll(filepath.Dir(x.path), 0o700); err != nil {
		return nil, fmt.Errorf("make index folder: %w", err)
	}
	// The lock of the state folder is held, so a lock file is a dead call's.
	return x, x.unlock()
}

func (x *index) unlock() error { return remove(x.path + ".lock") }

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ready makes the private index where there is none that fits. Whether one that
// was there is still in step with the user's may be left in doubt.
func (x *index) ready(ctx context.Context, maxFile int64) error {
	user, err := signature(x.user)
	if err != nil {
		return err
	}
	own, err := signature(x.path)
	if err != nil {
		return err
	}
	config, err := x.configSignature()
	if err != nil {
		return err
	}
	known := x.recall() && x.mem.Own == own && x.mem.Config == config && x.mem.Max == maxFile
	if known && x.mem.User == user {
		return nil
	}
	if known && own != "" && user != "" {
		x.doubt = user
		return nil
	}
	return x.seed(ctx, maxFile)
}

// seed makes the private index from the user's.
func (x *index) seed(ctx context.Context, maxFile int64) error {
	config, err := x.configSignature()
	if err != nil {
		return err
	}
	x.fresh, x.dirty, x.added = true, true, pathSet{}
	x.mem = memory{
		Config: config, Max: maxFile, Told: x.mem.Told, Scan: x.mem.Scan, Creds: pathSet{}, Folders: pathSet{},
		Extras: pathSet{}, Absent: pathSet{}, Links: pathSet{}, Rules: pathSet{}, Mods: pathSet{}, Attrs: pathSet{},
	}
	if err := errors.Join(x.unlock(), remove(x.path)); err != nil {
		return err
	}
	err = copyFile(x.user, x.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	return x.adopt(ctx)
}

// adopt makes a copy of the user's index one of our own.
func (x *index) adopt(ctx context.Context) (err error) {
	// The copy has the mtime of the original, hence the same signature.
	if x.mem.User, err = signature(x.path); err != nil {
		return err
	}
	if err := x.repo.Do(ctx, x.call("update-index", "--no-split-index", "--untracked-cache")); err != nil {
		return err
	}
	entries, sum, err := x.list(ctx, x.path)
	if err != nil {
		return err
	}
	x.mem.Listed = sum
	var gone []string
	for _, e := range entries {
		x.mem.Flags = x.mem.Flags || !e.plain()
		x.learn(e)
		if x.names.why(e.path, true) != "" {
			gone = append(gone, e.path)
			x.mem.Absent[e.path] = true
		}
	}
	x.mem.trimFolders()
	return x.set(ctx, gone, nil)
}

// learn notes what has to be looked after of the user's entries.
func (x *index) learn(e entry) {
	m := &x.mem
	m.learnFolders(e.path)
	if x.names.why(e.path, false) == whyCredential {
		m.Creds[e.path] = true
	}
	if isRules(e.path) {
		m.Rules[e.path] = true
	}
	if isAttributes(e.path) {
		m.Attrs[e.path] = true
	}
	if strings.HasPrefix(e.spec, gitlink) {
		m.Mods[e.path] = true
	}
}

// copyFile keeps the mtime: git compares it with those of the entries to find
// the ones that changed in the moment of its writing.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// signature names one state of an index: size, time, and the checksum that git
// writes at its end. It is "" where there is no file.
func signature(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	sum := make([]byte, 20)
	if _, err := f.ReadAt(sum, max(0, info.Size()-int64(len(sum)))); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return fmt.Sprintf("%d %d %x", info.Size(), info.ModTime().UnixNano(), sum), nil
}

// configSignature covers the files that change how git turns a file into a blob.
func (x *index) configSignature() (string, error) {
	var all []string
	for _, name := range []string{
		filepath.Join(x.repo.CommonDir, "config"), filepath.Join(x.repo.GitDir, "config.worktree"),
		filepath.Join(x.repo.CommonDir, "info", "attributes"),
	} {
		one, err := signature(name)
		if err != nil {
			return "", err
		}
		all = append(all, one)
	}
	return strings.Join(all, ","), nil
}

func (x *index) recall() bool {
	data, err := os.ReadFile(x.path + ".json")
	x.stored = data
	return err == nil && json.Unmarshal(data, &x.mem) == nil && x.mem.Extras != nil && x.mem.Absent != nil &&
		x.mem.Links != nil && x.mem.Rules != nil && x.mem.Mods != nil && x.mem.Attrs != nil && x.mem.Creds != nil && x.mem.Folders != nil
}

// remember is not synced to disk: a memory that does not fit its index is
// noticed by the signature and costs a new seed.
func (x *index) remember() error {
	var err error
	if x.mem.Own, err = signature(x.path); err != nil {
		return err
	}
	data, err := json.Marshal(x.mem)
	if err != nil || bytes.Equal(data, x.stored) {
		return err
	}
	if err := os.WriteFile(x.path+".json.new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(x.path+".json.new", x.path+".json")
}
