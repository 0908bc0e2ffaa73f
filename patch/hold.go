package patch

import (
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// held is what undo needs of an apply, as raw bytes that the object store has.
type held struct {
	before, after []git.Change // files that are overwritten or removed, and what comes
}

// hold wraps it in a chain of commits, so that git gc keeps it: the bytes before,
// below them the bytes after, below these what the index had.
func (p *plan) hold(h held) (plumbing.Hash, error) {
	var parents []plumbing.Hash
	for _, part := range []struct {
		say   string
		files []git.Change
	}{
		{"Index before\n", p.staged()},
		{"Raw bytes after\n", h.after},
		{"Raw bytes\n", h.before},
	} {
		tree, err := p.objs.Rewrite(plumbing.ZeroHash, part.files)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		who := p.q.signature(p.q.now())
		c, err := p.objs.WriteCommit(&object.Commit{
			Author: who, Committer: who, Message: part.say, TreeHash: tree, ParentHashes: parents,
		})
		if err != nil {
			return plumbing.ZeroHash, err
		}
		parents = []plumbing.Hash{c}
	}
	return parents[0], nil
}

// staged lists what the index has at the paths that change there.
func (p *plan) staged() []git.Change {
	var list []git.Change
	for _, st := range p.indexed {
		for _, e := range st.Old {
			mode, err := strconv.ParseUint(e.Mode, 8, 32)
			if err != nil || e.Stage > 0 || e.Intent || strings.HasPrefix(e.Mode, "16") {
				continue
			}
			list = append(list, git.Change{Path: string(st.Path), New: git.Entry{Mode: filemode.FileMode(mode), Hash: hashOf(e.Hash)}})
		}
	}
	return list
}
