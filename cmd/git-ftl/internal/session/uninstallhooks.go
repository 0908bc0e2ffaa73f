package session

import (
	"context"

	"github.com/git-ftl/git-ftl/hooks"
)

// findHooks finds the git hooks that git-ftl installed. One that was edited since is
// the user's own now.
func (u *uninstall) findHooks(ctx context.Context) error {
	all, err := hooks.Uninstall(ctx, u.Repo, hooks.Names(), true)
	for _, h := range all {
		switch h.Did {
		case "left":
			u.out.Kept = append(u.out.Kept, Collected{What: "hook", Name: h.File, Why: h.Why})
		case "restored":
			u.removes(Collected{What: "hook", Name: h.File, Why: "the one from before is back"})
		default:
			u.removes(Collected{What: "hook", Name: h.File, Why: "git-ftl's"})
		}
	}
	return err
}

func (u *uninstall) dropHooks(ctx context.Context) error {
	_, err := hooks.Uninstall(ctx, u.Repo, hooks.Names(), false)
	return err
}
