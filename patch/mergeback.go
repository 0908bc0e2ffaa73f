package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// mergeBack takes an apply out of a file that was edited since: what is there
// now and what was before it, merged over what it wrote, as raw bytes. What has
// no text on all three sides is left alone.
func (u *undo) mergeBack(ctx context.Context, st step) error {
	p := string(st.Path)
	now, raw, err := u.disk.read(p)
	if err != nil {
		return err
	}
	if now.Kind != fileKind || st.New.Kind != fileKind || st.Old.Kind != fileKind {
		u.leave(st, "edited since, and not a file before and after; left alone")
		return nil
	}
	applied, err := u.objs.Blob(hashOf(st.New.Hash))
	if err != nil {
		return fmt.Errorf("merge %s: %w", quoted(p), err)
	}
	before, err := u.objs.Blob(hashOf(st.Old.Hash))
	if err != nil {
		return fmt.Errorf("merge %s: %w", quoted(p), err)
	}
	for _, content := range [][]byte{raw, applied, before} {
		if bytes.IndexByte(content, 0) >= 0 {
			u.leave(st, "edited since, and binary; left alone")
			return nil
		}
	}
	merged, conflict, err := u.mergeFile(ctx, raw, applied, before)
	if err != nil {
		return fmt.Errorf("merge %s: %w", quoted(p), err)
	}
	if conflict {
		u.conflicts = append(u.conflicts, Conflict{Path: p, Why: "contents", Lines: markerLines(merged, "before "+u.r.ID)})
	}
	back := state{Kind: fileKind, Hash: plumbing.ComputeHash(plumbing.BlobObject, merged).String(), Perm: now.Perm}
	if now.Perm == st.New.Perm {
		back.Perm = st.Old.Perm
	}
	if _, err := u.objs.WriteBlob(merged); err != nil {
		return err
	}
	u.todo = append(u.todo, step{Path: st.Path, Old: back, New: now})
	return nil
}

// leave keeps a file as it is, and what was applied there undoable.
func (u *undo) leave(st step, why string) {
	u.conflicts = append(u.conflicts, Conflict{Path: string(st.Path), Why: why})
	u.keptSteps = append(u.keptSteps, st)
}

// mergeFile merges raw bytes as git does, with markers where that conflicts.
func (u *undo) mergeFile(ctx context.Context, ours, base, theirs []byte) (merged []byte, conflict bool, err error) {
	dir, err := os.MkdirTemp(u.q.repo.State, "merge-")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(dir)
	args := []string{"merge-file", "-p", "-L", oursLabel, "-L", "as applied", "-L", "before " + u.r.ID}
	for _, side := range []struct {
		name    string
		content []byte
	}{{"ours", ours}, {"base", base}, {"theirs", theirs}} {
		name := filepath.Join(dir, side.name)
		if err := os.WriteFile(name, side.content, 0o600); err != nil {
			return nil, false, err
		}
		args = append(args, name)
	}
	merged, err = u.q.repo.Output(ctx, git.Call{Args: args, Config: []string{"merge.conflictStyle=merge"}})
	var exit *git.ExitError
	if errors.As(err, &exit) && exit.Code > 0 && exit.Code < 128 { // how many conflicts
		return merged, true, nil
	}
	return merged, false, err
}
