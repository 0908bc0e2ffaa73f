package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
)

// pointerText is an LFS pointer without extensions, by the specification at
// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
var pointerText = lazyregexp.New(`\Aversion https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n\z`)

// Sizes between which a blob can be a pointer, in bytes.
const (
	minPointer = 120
	maxPointer = 200
)

// pointer is a file of a tree that stands for content in the LFS store.
type pointer struct {
	entry git.Entry
	oid   string // SHA-256 of the content, in hex
	size  int64  // of the content, in bytes
}

func parsePointer(e git.Entry, data []byte) (pointer, bool) {
	m := pointerText.FindSubmatch(data)
	if m == nil || !e.Mode.IsFile() {
		return pointer{}, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return pointer{e, string(m[1]), size}, err == nil
}

// knownPointers is what was found in a tree, for the next one to build on.
type knownPointers struct {
	Tree  string
	Paths [][]byte
}

// pointers finds the LFS pointers of a tree, at a cost that follows the
// difference to the tree of the last call.
func pointers(ctx context.Context, repo *git.Repo, objects *git.Objects, tree plumbing.Hash) (map[string]pointer, error) {
	name := "lfs/" + repo.Key()
	var was knownPointers
	if data, err := repo.ReadState(name); err != nil || json.Unmarshal(data, &was) != nil {
		was = knownPointers{}
	}
	candidates, err := was.candidates(ctx, repo, objects, tree)
	if err != nil && was.Tree != "" { // that tree was pruned
		was = knownPointers{}
		candidates, err = was.candidates(ctx, repo, objects, tree)
	}
	if err != nil {
		return nil, err
	}
	found, err := readPointers(objects, candidates)
	if err != nil || was.Tree == tree.String() {
		return found, err
	}
	is := knownPointers{Tree: tree.String()}
	for p := range found {
		is.Paths = append(is.Paths, []byte(p))
	}
	data, err := json.Marshal(is)
	if err != nil {
		return nil, err
	}
	return found, repo.WriteState(name, data)
}

// candidates are the pointers of before and what changed since and is as small.
func (k knownPointers) candidates(ctx context.Context, repo *git.Repo, objects *git.Objects, tree plumbing.Hash) (map[string]git.Entry, error) {
	changes, err := objects.Diff(plumbing.NewHash(k.Tree), tree)
	if err != nil {
		return nil, err
	}
	all := map[string]git.Entry{}
	for _, p := range k.Paths {
		if all[string(p)], err = objects.Lookup(tree, string(p)); err != nil {
			return nil, err
		}
	}
	small, err := smallBlobs(ctx, repo, changes)
	for _, c := range small {
		all[c.Path] = c.New
	}
	return all, err
}

func readPointers(objects *git.Objects, candidates map[string]git.Entry) (map[string]pointer, error) {
	found := map[string]pointer{}
	for p, e := range candidates {
		if !e.Mode.IsFile() {
			continue
		}
		var data []byte
		err := objects.Stream(e.Hash, plumbing.BlobObject, func(size int64, r io.Reader) (err error) {
			if size <= maxPointer {
				data, err = io.ReadAll(r)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if one, ok := parsePointer(e, data); ok {
			found[p] = one
		}
	}
	return found, nil
}

// smallBlobs returns the changes to files of a pointer's size.
func smallBlobs(ctx context.Context, repo *git.Repo, changes []git.Change) ([]git.Change, error) {
	var in bytes.Buffer
	var files, small []git.Change
	for _, c := range changes {
		if c.New.Mode.IsFile() {
			files = append(files, c)
			in.WriteString(c.New.Hash.String() + "\n")
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	out, err := repo.Output(ctx, git.Call{Args: []string{"cat-file", "--batch-check=%(objectsize)", "--buffer"}, Stdin: &in})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err == nil && n >= minPointer && n <= maxPointer {
			small = append(small, files[0])
		}
		files = files[1:]
	}
	return small, nil
}

// lfsFile is where the content of a pointer lies on this machine, if it does.
func lfsFile(repo *git.Repo, oid string) string {
	return filepath.Join(repo.CommonDir, "lfs", "objects", oid[:2], oid[2:4], oid)
}

// hasContent reports whether the content of a pointer seems to be here.
func (p pointer) hasContent(repo *git.Repo) bool {
	info, err := os.Lstat(lfsFile(repo, p.oid))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.size
}

// fill puts content in place of LFS pointers. One whose content is not here, or
// is not what the pointer says, stays.
func (e *exporter) fill(ctx context.Context, tree plumbing.Hash) (plumbing.Hash, error) {
	all, err := pointers(ctx, e.store.repo, e.objects, e.snap.Tree)
	if err != nil {
		return tree, err
	}
	if e.lfs, err = e.content(ctx, all); err != nil {
		return tree, err
	}
	var changes []git.Change
	for at, p := range all {
		if blob := e.lfs[p.oid]; blob != "" {
			changes = append(changes, git.Change{Path: at, New: git.Entry{Mode: p.entry.Mode, Hash: plumbing.NewHash(blob)}})
		}
	}
	if len(changes) == 0 {
		return tree, nil
	}
	return e.objects.Rewrite(tree, changes)
}

// content returns the blobs of what pointers stand for, as exportState.LFS.
func (e *exporter) content(ctx context.Context, all map[string]pointer) (map[string]string, error) {
	blobs := map[string]string{}
	var missing []pointer
	var need int64
	for _, p := range all {
		if blob := e.was.LFS[p.oid]; blob != "" {
			blobs[p.oid] = blob
		} else if p.hasContent(e.repo) && verified(e.repo, p) {
			missing = append(missing, p)
			need += p.size
		}
	}
	// As a loose object, in a pack, and as a file.
	if err := room(e.repo, need*3); err != nil {
		return nil, err
	}
	return blobs, e.writeContent(ctx, missing, blobs)
}

// writeContent makes blobs of files of the LFS store, in the export.
func (e *exporter) writeContent(ctx context.Context, files []pointer, blobs map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	var in bytes.Buffer
	for _, p := range files {
		in.WriteString(quotedLine(lfsFile(e.repo, p.oid)) + "\n")
	}
	out, err := e.repo.Output(ctx, git.Call{Args: []string{"hash-object", "-w", "--no-filters", "--stdin-paths"}, Stdin: &in})
	if err != nil {
		return err
	}
	hashes := strings.Fields(string(out))
	if len(hashes) != len(files) {
		return errors.New("hash LFS content: an answer is missing")
	}
	for i, p := range files {
		blobs[p.oid] = hashes[i]
	}
	return nil
}

// quotedLine writes a path as git reads it from a list of lines.
func quotedLine(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(p) + `"`
}

// verified reports whether the content is what the pointer says: its name alone
// proves nothing.
func verified(repo *git.Repo, p pointer) bool {
	f, err := os.Open(lfsFile(repo, p.oid))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return err == nil && n == p.size && hex.EncodeToString(sum.Sum(nil)) == p.oid
}

// countPointers notes how many files are LFS pointers in the sandbox.
func (st *staging) countPointers(ctx context.Context) error {
	uses, err := st.usesLFS()
	if err != nil || !uses {
		return err
	}
	st.lfs = st.opt.LFS
	all, err := pointers(ctx, st.index.repo, st.objects, st.tree)
	if err != nil {
		return fmt.Errorf("find LFS pointers: %w", err)
	}
	for _, p := range all {
		if !st.lfs || !p.hasContent(st.index.repo) {
			st.pointers++
		}
	}
	return nil
}

// usesLFS reports whether attributes name the filter. Whenever some change, the
// private index is made anew, so that the answer of that pass stays true.
func (st *staging) usesLFS() (bool, error) {
	mem := &st.index.mem
	if !st.index.fresh {
		return mem.LFS, nil
	}
	local, _ := os.ReadFile(filepath.Join(st.index.repo.CommonDir, "info", "attributes"))
	mem.LFS = bytes.Contains(local, []byte("filter=lfs"))
	for p := range mem.Attrs {
		e, err := st.objects.Lookup(st.tree, p)
		if err != nil {
			return false, err
		}
		if mem.LFS || !e.Mode.IsFile() {
			continue
		}
		text, err := st.objects.Blob(e.Hash)
		if err != nil {
			return false, err
		}
		mem.LFS = bytes.Contains(text, []byte("filter=lfs"))
	}
	return mem.LFS, nil
}
