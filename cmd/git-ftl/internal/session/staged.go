package session

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Staged is what an index changes of HEAD, as git prints it.
type Staged struct {
	index string
	raw   []byte
	err   error // also that there is no HEAD yet
}

// ReadStaged asks git what an index changes: the user's own, or the file that git
// names to a hook of "git commit PATH". It needs no settings, so that it can go on
// beside their reading; what fails is reported by Look.Staged.
func ReadStaged(ctx context.Context, repo *git.Repo, index string) Staged {
	raw, err := diffIndex(ctx, repo, index, "HEAD")
	return Staged{index, raw, err}
}

func diffIndex(ctx context.Context, repo *git.Repo, index, tree string) ([]byte, error) {
	return repo.Output(ctx, git.Call{
		Args: []string{"diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ita-invisible-in-index", tree, "--"},
		Env:  []string{"GIT_INDEX_FILE=" + index},
	})
}

// staged is what an index changes, and the tree of HEAD where its ignore file may
// count.
func (s *Session) staged(ctx context.Context, i Staged) (raw []byte, base plumbing.Hash, err error) {
	if len(s.Config.Accepts) == 0 && i.err == nil {
		return i.raw, base, nil
	}
	if base, err = s.headTree(ctx); err != nil {
		return nil, base, err
	}
	raw, err = diffIndex(ctx, s.Repo, i.index, base.String())
	return raw, base, err
}
