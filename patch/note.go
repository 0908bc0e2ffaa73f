package patch

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

const notesRef = "refs/notes/ftl"

// Note attaches a record to a result's commit, for display by git log
// --notes=ftl. The notes are one commit without history.
func (q *Queue) Note(ctx context.Context, commit plumbing.Hash, record []byte) error {
	unlock, err := q.repo.Lock(ctx, "notes")
	if err != nil {
		return err
	}
	defer unlock()
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	old, err := q.repo.Ref(ctx, notesRef)
	if err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	var tree plumbing.Hash
	if !old.IsZero() {
		c, err := objs.Commit(old)
		if err != nil {
			return fmt.Errorf("write note: %w", err)
		}
		tree = c.TreeHash
	}
	made, err := writeNote(objs, tree, commit, bytes.TrimRight(record, "\n"))
	if err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	who := q.signature(q.now())
	made.Author, made.Committer = who, who
	h, err := objs.WriteCommit(made)
	if err != nil {
		return fmt.Errorf("write note: %w", err)
	}
	return q.repo.UpdateRefs(ctx, "git-ftl: note", git.RefUpdate{Name: notesRef, New: h, Old: old})
}

// writeNote stores a record and the notes tree with it, and returns the commit
// that is to hold them.
func writeNote(objs *git.Objects, tree, commit plumbing.Hash, record []byte) (*object.Commit, error) {
	blob, err := objs.WriteBlob(append(record, '\n'))
	if err != nil {
		return nil, err
	}
	h, err := objs.Rewrite(tree, []git.Change{{Path: commit.String(), New: git.Entry{Mode: filemode.Regular, Hash: blob}}})
	return &object.Commit{TreeHash: h, Message: "Records of git-ftl\n"}, err
}
