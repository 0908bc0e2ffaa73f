package patch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// ErrPatch says that an edited patch does not apply.
var ErrPatch = errors.New("the patch does not apply")

// WriteLeft writes what is left of a result, of some paths where there are any,
// as a patch that git apply and TakePatch take. Errors: ErrForeign, ErrDecided,
// ErrPaths.
func (q *Queue) WriteLeft(ctx context.Context, r Result, paths []string, w io.Writer) error {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	_, tree, err := q.left(objs, r, paths)
	if err == nil {
		err = q.diff(ctx, r.Have, tree, w, "--binary", "--full-index")
	}
	if err != nil {
		return fmt.Errorf("write what is left of %s: %w", r.ID, err)
	}
	return nil
}

// TakePatch returns the part of a result that a patch makes of what was applied
// of it, as a person left it after editing that of WriteLeft: counts of lines may
// be wrong. Errors: ErrPatch.
func (q *Queue) TakePatch(ctx context.Context, r Result, patch io.Reader) (Part, error) {
	dir, err := os.MkdirTemp(q.repo.State, "index-")
	if err != nil {
		return Part{}, fmt.Errorf("make scratch index: %w", err)
	}
	defer os.RemoveAll(dir)
	index := path.Join(dir, "index")
	if err := q.repo.Do(ctx, git.Call{Args: []string{"read-tree", r.Have.String()}, Index: index}); err != nil {
		return Part{}, fmt.Errorf("take a patch of %s: %w", r.ID, err)
	}
	err = q.repo.Do(ctx, git.Call{
		Args:   []string{"apply", "--cached", "--recount", "--whitespace=nowarn", "--no-ignore-whitespace", "-p1", "-"},
		Config: []string{"core.protectHFS=true", "core.protectNTFS=true", "core.autocrlf=false", "apply.whitespace=nowarn"},
		Index:  index, Stdin: patch,
	})
	var exit *git.ExitError
	if asExit(err, &exit) {
		return Part{}, fmt.Errorf("%w: %s", ErrPatch, exit.Stderr)
	}
	if err != nil {
		return Part{}, fmt.Errorf("take a patch of %s: %w", r.ID, err)
	}
	out, err := q.repo.Output(ctx, git.Call{Args: []string{"write-tree"}, Index: index})
	if err != nil {
		return Part{}, fmt.Errorf("take a patch of %s: %w", r.ID, err)
	}
	return Part{Have: r.Have, Tree: plumbing.NewHash(string(out[:min(len(out), 40)]))}, nil
}
