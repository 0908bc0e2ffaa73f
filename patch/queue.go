package patch

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Queue keeps the results of a repository and applies them to one of its work
// trees. It is safe for concurrent use, also by several processes.
type Queue struct {
	repo  *git.Repo
	umask fs.FileMode
	now   func() time.Time
	hook  func(step string) error // of tests: an error stops as a crash would
}

// NewQueue opens the queue of a work tree. umask is the process's, for new
// files and folders.
func NewQueue(repo *git.Repo, umask fs.FileMode) *Queue {
	return &Queue{repo: repo, umask: umask & fs.ModePerm, now: time.Now, hook: func(string) error { return nil }}
}

// In is the same queue of another work tree of the repository.
func (q *Queue) In(repo *git.Repo) *Queue {
	other := *q
	other.repo = repo
	return &other
}

// Base is the snapshot that a task started from.
type Base struct {
	Commit, Tree plumbing.Hash
	LeftOut      []string // paths that the snapshot leaves out: no link may lead there
}

// Meta says where a result comes from. ID is four or more letters k to z.
type Meta struct {
	ID, Task, Agent, Subject string
	When                     time.Time

	// Of a follow-up: the commit that its agent started from, a descendant of the
	// base, which the new commit comes upon; and the commit that the result has
	// now, which it takes the place of. Both are zero for a new result.
	On, Replaces plumbing.Hash
}

var idPattern = lazyregexp.New(`^[k-z]{4,40}$`)

const manyFiles = 200 // from here on, objects are written as packs

// pendingRefs names the refs of this work tree's newest undecided result and
// its base.
func (q *Queue) pendingRefs() (pending, base string) {
	if q.repo.Linked() {
		return "refs/worktree/ftl/pending", "refs/worktree/ftl/base"
	}
	return "refs/ftl/pending", "refs/ftl/base"
}

// commit words a result, upon another commit. Its author is the agent, its
// committer the user.
func (q *Queue) commit(ctx context.Context, r Result, on plumbing.Hash) *object.Commit {
	agent := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
			return c
		}
		return -1
	}, strings.ToLower(r.Agent))
	if agent == "" {
		agent = "agent"
	}
	subject := oneLine(r.Subject)
	if subject == "" {
		subject = "Result " + r.ID
	}
	return &object.Commit{
		Author:    object.Signature{Name: agent, Email: agent + "@git-ftl.localhost", When: r.Created},
		Committer: q.committer(ctx, r.Created),
		Message: fmt.Sprintf("%s\n\nFtl-Task: %s\nFtl-Agent: %s\nFtl-Id: %s\n",
			subject, oneLine(r.Task), oneLine(r.Agent), r.ID),
		TreeHash:     r.Tree,
		ParentHashes: []plumbing.Hash{on},
	}
}

// committer is the user as git knows them, and git-ftl where it does not.
func (q *Queue) committer(ctx context.Context, when time.Time) object.Signature {
	who := q.signature(when)
	if out, err := q.repo.Line(ctx, "var", "GIT_COMMITTER_IDENT"); err == nil {
		var user object.Signature
		user.Decode([]byte(out))
		if user.Name != "" && user.Email != "" {
			who.Name, who.Email = user.Name, user.Email
		}
	}
	return who
}

func (q *Queue) signature(when time.Time) object.Signature {
	return object.Signature{Name: "git-ftl", Email: git.Email, When: when}
}

// Reject forgets that a result is pending; the result itself stays. Errors:
// ErrUnknown, *AmbiguousError, ErrForeign, ErrDecided.
func (q *Queue) Reject(ctx context.Context, id string) error {
	unlock, err := q.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := q.Find(ctx, id)
	if err != nil {
		return err
	}
	if r.State == Foreign {
		return fmt.Errorf("reject %s: %w", r.ID, ErrForeign)
	}
	r, err = q.revise(ctx, r.ID, func(r *Result) error {
		if r.State == Whole {
			return fmt.Errorf("reject %s: %w", r.ID, ErrDecided)
		}
		r.State, r.Decided = Rejected, q.now()
		return nil
	})
	if err != nil {
		return err
	}
	return q.settle(ctx, r)
}

func (q *Queue) lock(ctx context.Context) (unlock func(), err error) {
	return q.repo.Lock(ctx, "worktree-"+q.repo.Key())
}

// settle moves the pending refs on from a result that was decided, to the newest
// one that is undecided here. Where there is none they stay after an apply, so
// that what was applied can still be compared, and go after a reject.
func (q *Queue) settle(ctx context.Context, r Result) error {
	pending, base := q.pendingRefs()
	now, err := q.repo.Ref(ctx, pending)
	if err != nil || now != r.Commit {
		return err
	}
	open, err := q.List(ctx)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(o Result) bool { return o.Worktree != q.repo.Key() || !o.open() || o.ID == r.ID })
	to := []git.RefUpdate{{Name: pending, Old: now}, {Name: base, Any: true}}
	switch {
	case len(open) > 0:
		to[0].New, to[1].New = open[0].Commit, open[0].Base
	case r.State != Rejected:
		return nil
	}
	return q.repo.UpdateRefs(ctx, "git-ftl: decided "+r.ID, to...)
}

// open reports whether a result waits for a decision.
func (r Result) open() bool { return r.State == Undecided || r.State == Partial }

// restorePending makes a result pending if none is.
func (q *Queue) restorePending(ctx context.Context, r Result) error {
	pending, base := q.pendingRefs()
	now, err := q.repo.Ref(ctx, pending)
	if err != nil || !now.IsZero() {
		return err
	}
	return q.repo.UpdateRefs(ctx, "git-ftl: undone "+r.ID,
		git.RefUpdate{Name: pending, New: r.Commit}, git.RefUpdate{Name: base, New: r.Base, Any: true})
}
