package patch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// stage is a folder of finished files that wait to be renamed into the work
// tree.
type stage struct {
	dir  string
	root *os.Root
	made []string // full paths
}

// openStage makes an empty stage on the work tree's file system: in the state
// folder if that is there, else at the top of the work tree. The state folder
// says where, so that what a crash leaves is found.
func (q *Queue) openStage(d *disk) (*stage, error) {
	if err := q.dropStage(); err != nil {
		return nil, fmt.Errorf("make stage: %w", err)
	}
	name := "stage-" + strings.ToLower(rand.Text())
	dir := q.repo.Path(name)
	top, err1 := os.Stat(q.repo.Dir)
	state, err2 := os.Stat(q.repo.State)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("make stage: %w", err)
	}
	if !sameDevice(top, state) {
		dir = filepath.Join(q.repo.Dir, ".git-ftl-"+name)
	}
	d.forget()
	if err := q.repo.WriteState(q.stageName(), []byte(dir)); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make stage: %w", err)
	}
	return reopenStage(dir)
}

func (q *Queue) stageName() string { return path.Join("journal", q.repo.Key()+".stage") }

// dropStage removes the stage that was made last, if it is still there.
func (q *Queue) dropStage() error {
	dir, err := q.repo.ReadState(q.stageName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(string(dir)), os.Remove(q.repo.Path(filepath.FromSlash(q.stageName()))))
}

func reopenStage(dir string) (*stage, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open stage: %w", err)
	}
	return &stage{dir: dir, root: root}, nil
}

// Close lets go of the stage; its files stay for the journal.
func (s *stage) Close() error { return s.root.Close() }

// put writes one staged file or link as st describes it, but for the hash. A
// zero time is now.
func (s *stage) put(name string, st state, content []byte) error {
	full := filepath.Join(s.dir, name)
	if st.Kind == linkKind {
		err := s.root.Symlink(filepath.FromSlash(string(content)), name)
		if err == nil && st.Mtime != 0 {
			err = setLinkTime(full, st.Mtime)
		}
		return err
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	s.made = append(s.made, full)
	if permBits != 0 {
		if err := s.root.Chmod(name, st.Perm); err != nil {
			return err
		}
	}
	if st.Mtime != 0 {
		at := time.Unix(0, st.Mtime)
		return s.root.Chtimes(name, at, at)
	}
	return nil
}

// sync makes the staged files durable.
func (s *stage) sync() error { return syncAll(s.made) }

// move renames a staged file into the work tree. Where a mount in the work tree
// is another file system, it goes through a file beside the target.
func (s *stage) move(name string, to *os.Root, target string) error {
	err := renameInto(s.root, name, to, target)
	if !crossDevice(err) {
		return err
	}
	beside := ".git-ftl-" + name + ".new"
	if err := s.copy(name, to, beside); err != nil {
		return errors.Join(err, to.Remove(beside))
	}
	if err := to.Rename(beside, target); err != nil {
		return errors.Join(err, to.Remove(beside))
	}
	return s.root.Remove(name)
}

func (s *stage) copy(name string, to *os.Root, target string) error {
	fi, err := s.root.Lstat(name)
	if err != nil {
		return err
	}
	if fi.Mode().Type() == fs.ModeSymlink {
		link, err := s.root.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(link, target)
	}
	content, err := s.root.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := to.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close(), to.Chmod(target, fi.Mode())); err != nil {
		return err
	}
	return to.Chtimes(target, fi.ModTime(), fi.ModTime())
}

// stage saves the raw bytes of what is to go and stages what is to come; it
// returns the commit that holds what it saved.
func (p *plan) stage(ctx context.Context, s *stage) (plumbing.Hash, error) {
	if len(p.steps) > manyFiles {
		p.objs.Batch()
	}
	smudge, err := p.q.newSmudger(ctx, p.touchesAttributes())
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer smudge.Close()
	var h held
	waiting := 0
	for i := range p.steps {
		c, st := p.changes[i], &p.steps[i]
		content, err := p.save(c, st, &h.before)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		n := 0
		if c.New != (git.Entry{}) {
			n, err = p.stageOne(ctx, s, smudge, staging{i, content, &h})
		}
		if err != nil {
			return plumbing.ZeroHash, fmt.Errorf("stage %s: %w", quoted(c.Path), err)
		}
		if waiting += len(content) + n; waiting > maxBatch && len(p.steps) > manyFiles {
			if err := p.objs.Flush(); err != nil {
				return plumbing.ZeroHash, err
			}
			p.objs.Batch()
			waiting = 0
		}
	}
	if err := s.sync(); err != nil {
		return plumbing.ZeroHash, err
	}
	return p.hold(h)
}

// save keeps the raw bytes that a path has now, and returns them.
func (p *plan) save(c git.Change, st *step, raw *[]git.Change) ([]byte, error) {
	if st.Old.Kind == "" {
		return nil, nil
	}
	now, content, err := p.disk.read(c.Path)
	if err != nil {
		return nil, err
	}
	if !now.same(st.Old) {
		return nil, &ConflictError{p.r.ID, []Conflict{{Path: c.Path, Why: "changed while it was applied"}}}
	}
	*raw = append(*raw, git.Change{Path: c.Path, New: now.entry()})
	if now.Hash == c.Old.Hash.String() {
		return content, nil
	}
	_, err = p.objs.WriteBlob(content)
	return content, err
}

// staging is the index of a step, the raw bytes that its path has now, and where
// those that it gets are noted.
type staging struct {
	i    int
	old  []byte
	held *held
}

// stageOne returns how many bytes it added to the object store.
func (p *plan) stageOne(ctx context.Context, s *stage, smudge *smudger, at staging) (int, error) {
	c, st := p.changes[at.i], &p.steps[at.i]
	var content []byte
	var err error
	switch {
	case c.New.Mode == symlink:
		content, err = p.objs.Blob(c.New.Hash)
	case c.New.Hash == c.Old.Hash && st.Old.Kind == fileKind && c.Old.Mode != symlink:
		content = at.old
	default:
		content, err = smudge.smudge(ctx, c.New.Hash, c.Path)
	}
	if err != nil {
		return 0, err
	}
	st.New = state{Kind: linkKind, Hash: plumbing.ComputeHash(plumbing.BlobObject, content).String()}
	if c.New.Mode != symlink || p.flat {
		st.New.Kind, st.New.Perm = fileKind, p.perm(c, st.Old)
	}
	n := 0
	if st.New.Hash != c.New.Hash.String() && st.New.Hash != st.Old.Hash {
		n = len(content)
		if _, err := p.objs.WriteBlob(content); err != nil {
			return n, err
		}
	}
	at.held.after = append(at.held.after, git.Change{Path: c.Path, New: st.New.entry()})
	st.Staged = strconv.Itoa(at.i)
	return n, s.put(st.Staged, st.New, content)
}

// perm keeps the bits that a file has; only the executable bit follows the
// change, for those who may read.
func (p *plan) perm(c git.Change, old state) fs.FileMode {
	run := c.New.Mode == filemode.Executable
	if old.Kind != fileKind {
		if run {
			return 0o777 &^ p.q.umask & permBits
		}
		return 0o666 &^ p.q.umask & permBits
	}
	switch {
	case c.Old.Mode == c.New.Mode:
		return old.Perm
	case run:
		return (old.Perm | (old.Perm&0o444)>>2) & permBits
	}
	return old.Perm &^ 0o111
}

// touchesAttributes reports whether the change alters what chooses filters.
func (p *plan) touchesAttributes() bool {
	return slices.ContainsFunc(p.changes, func(c git.Change) bool { return isAttributes(c.Path) })
}

func isAttributes(p string) bool { return strings.EqualFold(path.Base(p), ".gitattributes") }
