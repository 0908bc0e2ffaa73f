package patch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// CommitOptions says how an apply words its commit. Author and committer are
// the user, and it is signed where the user's configuration says so.
type CommitOptions struct {
	Message string // as the commit is to have it, but for what hooks make of it
	Hooks   bool   // run the user's hooks as "git commit" does
}

// HookError says that a hook of the user's refused the commit. Everything was
// taken back.
type HookError struct {
	Name   string
	Output string // what the hooks printed, raw

	// What hooks, or the user meanwhile, made of files that were taken back, as
	// blobs; zero where they removed one.
	Dropped map[string]plumbing.Hash
}

// Error names the hook.
func (e *HookError) Error() string { return "the hook " + e.Name + " refused the commit" }

// ErrEmptyMessage says that a commit has no message.
var ErrEmptyMessage = errors.New("the commit message is empty")

// ErrHeadMoved says that a commit was made while an apply was under way, which
// was taken back.
var ErrHeadMoved = errors.New("a commit was made meanwhile; everything was taken back")

// commitPlan is the commit that an apply makes.
type commitPlan struct {
	Head    string `json:"head"` // where HEAD is before, zero in an unborn repository
	Tree    string `json:"tree"` // HEAD with what is taken
	Message string `json:"message"`
	Hooks   string `json:"hooks,omitempty"` // folder of the hooks that run, "" for none
	Commit  string `json:"commit,omitempty"`
}

// commitPlan is nil where there is nothing to commit.
func (p *plan) commitPlan(ctx context.Context) (*commitPlan, error) {
	if p.headTree.IsZero() {
		return nil, nil
	}
	c := &commitPlan{Head: p.o.Now.Head.String(), Tree: p.headTree.String()}
	var err error
	if c.Message, err = p.q.tidy(ctx, p.o.Commit.Message); err != nil {
		return nil, err
	}
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := p.q.repo.Line(ctx, "var", who); err != nil {
			return nil, fmt.Errorf("commit: %w", err)
		}
	}
	if p.o.Commit.Hooks {
		c.Hooks = p.q.hooksDir(ctx)
		if err := p.keepsHooks(c.Hooks); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// hooksDir is where the user's hooks are. What our own calls pin comes last.
func (q *Queue) hooksDir(ctx context.Context) string {
	out, err := q.repo.Line(ctx, "config", "--type=path", "--get-all", "core.hooksPath")
	all := strings.Split(out, "\n")
	if err != nil || len(all) < 2 {
		return filepath.Join(q.repo.CommonDir, "hooks")
	}
	dir := all[len(all)-2]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(q.repo.Dir, dir)
	}
	return dir
}

// makeCommit stores the commit and notes it in the journal; HEAD does not move
// yet, so that only this note decides after a crash.
func (q *Queue) makeCommit(ctx context.Context, j *journal, tree string) error {
	args := []string{"commit-tree", "-F", "-"}
	if sign, _ := q.repo.Line(ctx, "config", "--type=bool", "commit.gpgSign"); sign == "true" {
		args = append(args, "-S")
	}
	if j.Commit.Head != plumbing.ZeroHash.String() {
		args = append(args, "-p", j.Commit.Head)
	}
	out, err := q.repo.Output(ctx, git.Call{Args: append(args, tree), Stdin: strings.NewReader(j.Commit.Message)})
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	j.Commit.Commit = strings.TrimSpace(string(out))
	j.Record.Commit = j.Commit.Commit
	return nil
}

// moveHead is the last step of an apply that commits: before it everything can
// be taken back.
func (q *Queue) moveHead(ctx context.Context, j *journal) error {
	if j.Commit == nil {
		return nil
	}
	if err := q.step("head"); err != nil {
		return err
	}
	c := j.Commit
	now, err := q.repo.Ref(ctx, "HEAD")
	if err != nil || now == hashOf(c.Commit) {
		return err
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	err = q.keepModes(q.headFiles(ctx), func() error {
		return q.repo.UpdateRefs(ctx, "commit (git-ftl apply "+j.ID+"): "+oneLine(subject),
			git.RefUpdate{Name: "HEAD", New: hashOf(c.Commit), Old: hashOf(c.Head)})
	})
	if errors.Is(err, git.ErrMoved) {
		return ErrHeadMoved
	}
	if err != nil {
		return err
	}
	return q.step("head moved")
}

// committed reports whether HEAD has the commit of an interrupted apply.
func (q *Queue) committed(ctx context.Context, commit string) bool {
	if commit == "" {
		return false
	}
	return q.repo.Do(ctx, git.Call{Args: []string{"merge-base", "--is-ancestor", commit, "HEAD"}}) == nil
}
