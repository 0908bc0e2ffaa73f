package patch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// NewFile is a regular file that comes along with an apply and is no part of the
// result: it does not count for what was applied of it.
type NewFile struct {
	Path    string
	Content []byte
}

// bring adds to what is taken what comes along, through the gate that any patch
// has to pass.
func (a *apply) bring(ctx context.Context) error {
	a.comes = a.theirs
	if len(a.o.Beside) == 0 {
		return nil
	}
	p, err := addition(a.o.Beside)
	if err != nil {
		return err
	}
	if p.Files, err = a.free(p.Files); err != nil {
		return err
	}
	a.beside = map[plumbing.Hash]bool{}
	for _, f := range p.Files {
		a.beside[f.New] = true
	}
	if a.comes, err = a.q.build(ctx, a.objs, Base{Tree: a.theirs, LeftOut: a.o.Now.LeftOut}, p); err != nil {
		return err
	}
	changes, err := a.objs.Diff(a.theirs, a.comes)
	if err == nil {
		err = a.objs.Flush()
	}
	if err != nil {
		return err
	}
	return a.q.fsck(ctx, a.objs, a.comes, changes)
}

// addition words new files as a patch and parses it.
func addition(files []NewFile) (*Patch, error) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b NewFile) int { return strings.Compare(a.Path, b.Path) })
	var all bytes.Buffer
	for _, f := range files {
		from, to := cQuote("a/"+f.Path), cQuote("b/"+f.Path)
		fmt.Fprintf(&all, "diff --git %s %s\nnew file mode 100644\nindex %s..%s\n", from, to, plumbing.ZeroHash, plumbing.ComputeHash(plumbing.BlobObject, f.Content))
		if len(f.Content) == 0 {
			continue
		}
		lines := bytes.SplitAfter(f.Content, []byte("\n"))
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		fmt.Fprintf(&all, "--- /dev/null\n+++ %s\n@@ -0,0 +1,%d @@\n", to, len(lines))
		for _, line := range lines {
			all.WriteByte('+')
			all.Write(line)
		}
		if !bytes.HasSuffix(f.Content, []byte("\n")) {
			all.WriteString("\n\\ No newline at end of file\n")
		}
	}
	size := all.Len()
	fmt.Fprintf(&all, "ftl-end files=%d bytes=%d sha256=%x\n", len(files), size, sha256.Sum256(all.Bytes()))
	return Parse(bytes.NewReader(all.Bytes()), int64(all.Len()), Limits{})
}

// free drops the files that the result has as they are, and refuses those whose
// place is taken: before the result, in all of it, or in what is taken of it.
func (a *apply) free(files []File) ([]File, error) {
	var left []File
	var conflicts []Conflict
	theirs := newView(a.objs, a.theirs)
	trees := []*view{theirs, newView(a.objs, a.r.Tree), newView(a.objs, a.r.Have)}
	for _, f := range files {
		has, err := theirs.lookup(f.Path)
		if err != nil {
			return nil, err
		}
		if has == (git.Entry{Mode: filemode.Regular, Hash: f.New}) {
			continue
		}
		why, err := occupied(trees, f.Path)
		if err != nil {
			return nil, err
		}
		if why != "" {
			conflicts = append(conflicts, Conflict{Path: f.Path, Why: why})
		}
		left = append(left, f)
	}
	if len(conflicts) > 0 {
		return nil, &ConflictError{a.r.ID, conflicts}
	}
	return left, nil
}

// occupied says what is in the way of a new file, "" where nothing is.
func occupied(trees []*view, p string) (string, error) {
	for _, t := range trees {
		above, _, err := t.blocker(p)
		if err != nil {
			return "", err
		}
		if above != "" {
			return "the result has " + quoted(above) + ", which is no folder", nil
		}
		e, err := t.lookup(p)
		if err != nil {
			return "", err
		}
		if e != (git.Entry{}) {
			return "the result has something else there", nil
		}
	}
	return "", nil
}

// cameAlong reports whether a change is that of a file which is no part of what is
// taken, wherever the merge has put it.
func (a *apply) cameAlong(c git.Change, theirs *view) (bool, error) {
	if !a.beside[c.New.Hash] {
		return false, nil
	}
	e, err := theirs.lookup(c.Path)
	return e == (git.Entry{}), err
}
