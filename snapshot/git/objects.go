package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Email is the address of commits that git-ftl itself makes.
const Email = "git-ftl@localhost"

// ErrMissing says that the object store has no such object.
var ErrMissing = errors.New("object is missing")

// Objects reads and writes the objects of a repository. It is safe for
// concurrent use; Close ends its reader.
type Objects struct {
	repo *Repo
	disk *filesystem.Storage

	mu   sync.Mutex // one request at a time on the reader
	ctx  context.Context
	read *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader

	batch *memory.Storage // not nil: new objects wait here for one pack
	made  []plumbing.Hash
}

// Objects opens the object store. The reader, one "git cat-file --batch", is
// started by the first read and ends with Close or ctx.
func (r *Repo) Objects(ctx context.Context) *Objects {
	root := plainFS{osfs.New(filepath.Dir(r.ObjectDir()))}
	disk := filesystem.NewStorageWithOptions(root, cache.NewObjectLRU(1), filesystem.Options{})
	return &Objects{repo: r, ctx: ctx, disk: disk}
}

// plainFS hides Chmod from go-git, which would make each object readable to all
// where the umask says otherwise.
type plainFS struct{ billy.Filesystem }

// Blob reads a whole blob. Errors: ErrMissing.
func (o *Objects) Blob(h plumbing.Hash) ([]byte, error) {
	var buf bytes.Buffer
	err := o.Stream(h, plumbing.BlobObject, func(size int64, r io.Reader) error {
		buf.Grow(int(size))
		_, err := buf.ReadFrom(r)
		return err
	})
	return buf.Bytes(), err
}

// Tree reads a tree. Its entries are in git's order.
func (o *Objects) Tree(h plumbing.Hash) (*object.Tree, error) {
	t := &object.Tree{}
	return t, o.decode(h, plumbing.TreeObject, t.Decode)
}

// Commit reads a commit.
func (o *Objects) Commit(h plumbing.Hash) (*object.Commit, error) {
	c := &object.Commit{}
	return c, o.decode(h, plumbing.CommitObject, c.Decode)
}

func (o *Objects) decode(h plumbing.Hash, kind plumbing.ObjectType, into func(plumbing.EncodedObject) error) error {
	mem := &plumbing.MemoryObject{}
	mem.SetType(kind)
	err := o.Stream(h, kind, func(_ int64, r io.Reader) error {
		_, err := io.Copy(mem, r)
		return err
	})
	if err != nil {
		return err
	}
	return into(mem)
}

// Stream hands the bytes of one object to f, which need not read them all.
func (o *Objects) Stream(h plumbing.Hash, kind plumbing.ObjectType, f func(size int64, r io.Reader) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.batch != nil {
		if obj, err := o.batch.EncodedObject(kind, h); err == nil {
			r, err := obj.Reader()
			if err != nil {
				return err
			}
			return f(obj.Size(), r)
		}
	}
	if err := o.start(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(o.in, h); err != nil {
		return fmt.Errorf("read object %s: %w", h, err)
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("read object %s: %w", h, err)
	}
	fields := strings.Fields(head)
	if len(fields) != 3 {
		return fmt.Errorf("%s %s: %w", kind, h, ErrMissing)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return fmt.Errorf("read object %s: %w", h, err)
	}
	body := io.LimitReader(o.out, size)
	if fields[1] == kind.String() {
		err = f(size, body)
	} else {
		err = fmt.Errorf("object %s is a %s, not a %s", h, fields[1], kind)
	}
	_, drain := io.Copy(io.Discard, body)
	_, last := o.out.Discard(1)
	return errors.Join(err, drain, last)
}

func (o *Objects) start() error {
	if o.read != nil {
		return nil
	}
	cmd := o.repo.Command(o.ctx, Call{Args: []string{"cat-file", "--batch"}})
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	o.read, o.in, o.out = cmd, in, bufio.NewReaderSize(out, 1<<16)
	return nil
}

// Close ends the reader. Objects of an open batch are dropped.
func (o *Objects) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batch, o.made = nil, nil
	if o.read == nil {
		return nil
	}
	_ = o.in.Close()
	err := o.read.Wait()
	o.read = nil
	if o.ctx.Err() != nil {
		return nil
	}
	return err
}

// WriteBlob stores a blob.
func (o *Objects) WriteBlob(content []byte) (plumbing.Hash, error) {
	mem := &plumbing.MemoryObject{}
	mem.SetType(plumbing.BlobObject)
	if _, err := mem.Write(content); err != nil {
		return plumbing.ZeroHash, err
	}
	return o.write(mem)
}

// WriteTree stores a tree; its entries are sorted as git wants them.
func (o *Objects) WriteTree(entries []object.TreeEntry) (plumbing.Hash, error) {
	SortTree(entries)
	mem := &plumbing.MemoryObject{}
	if err := (&object.Tree{Entries: entries}).Encode(mem); err != nil {
		return plumbing.ZeroHash, err
	}
	return o.write(mem)
}

// WriteCommit stores a commit.
func (o *Objects) WriteCommit(c *object.Commit) (plumbing.Hash, error) {
	mem := &plumbing.MemoryObject{}
	if err := c.Encode(mem); err != nil {
		return plumbing.ZeroHash, err
	}
	return o.write(mem)
}

func (o *Objects) write(obj *plumbing.MemoryObject) (plumbing.Hash, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.batch == nil {
		return o.writeLoose(obj)
	}
	h, err := o.batch.SetEncodedObject(obj)
	o.made = append(o.made, h)
	return h, err
}

// writeLoose writes one file, unless it is there: most trees of a snapshot were
// in the one before. Where a group shares the object folder, it can read the file
// and write beside it, whatever the umask.
func (o *Objects) writeLoose(obj plumbing.EncodedObject) (plumbing.Hash, error) {
	hex := obj.Hash().String()
	dir := filepath.Join(o.repo.ObjectDir(), hex[:2])
	file := filepath.Join(dir, hex[2:])
	if _, err := os.Lstat(file); err == nil {
		return obj.Hash(), nil
	}
	_, before := os.Stat(dir)
	h, err := o.disk.SetEncodedObject(obj)
	if err != nil {
		return h, fmt.Errorf("write %s: %w", obj.Type(), err)
	}
	top, err := os.Stat(o.repo.ObjectDir())
	if err != nil || top.Mode()&0o020 == 0 {
		return h, err
	}
	if before != nil {
		err = os.Chmod(dir, top.Mode()&(fs.ModePerm|fs.ModeSetgid))
	}
	return h, errors.Join(err, os.Chmod(file, 0o440))
}

// Batch makes new objects wait in memory until Flush writes them as one pack;
// thousands of loose objects would cost far more.
func (o *Objects) Batch() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.batch == nil {
		o.batch = memory.NewStorage()
	}
}

// Flush ends Batch and writes what waits.
func (o *Objects) Flush() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting, made := o.batch, o.made
	o.batch, o.made = nil, nil
	if waiting == nil || len(made) == 0 {
		return nil
	}
	w, err := o.disk.PackfileWriter()
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	_, err = packfile.NewEncoder(w, waiting, false).Encode(unique(made), 0)
	return err
}

func unique(hashes []plumbing.Hash) []plumbing.Hash {
	seen := map[plumbing.Hash]bool{}
	var out []plumbing.Hash
	for _, h := range hashes {
		if !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

// ObjectDir is where new objects go, loose ones and packs.
func (r *Repo) ObjectDir() string {
	if r.objects != "" {
		return r.objects
	}
	return filepath.Join(r.CommonDir, "objects")
}
