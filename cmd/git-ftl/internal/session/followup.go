package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// ErrRunning says that a process works on a task.
var ErrRunning = errors.New("the task is running")

// Turn is one instruction of a task and what came of it.
type Turn struct {
	Turn    int       `json:"turn"`
	Task    string    `json:"task"`
	Mends   bool      `json:"mends,omitempty"` // as Outcome has it
	Agent   string    `json:"agent"`
	Model   string    `json:"model"`
	Status  string    `json:"status"`
	Result  *string   `json:"result"` // commit, null where there was none yet
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"`
}

// MovedError says that a follow-up cannot start from what the user has now,
// since the result conflicts with it. Nothing has begun.
type MovedError struct {
	ID       string
	Conflict *patch.ConflictError
}

// Error counts the conflicts; they are for the caller to show.
func (e *MovedError) Error() string {
	return fmt.Sprintf("%s conflicts with your working tree, so the agent cannot go on from both", e.ID)
}

// Unwrap gives the conflicts.
func (e *MovedError) Unwrap() error { return e.Conflict }

// followed is what a follow-up goes on from.
type followed struct {
	record Outcome      // before this turn
	result patch.Result // zero where the task has none
}

// reclaim holds the lock of a task that has ended. Errors: ErrRunning.
func (s *Session) reclaim(ctx context.Context, id string) (unlock func(), err error) {
	brief, cancel := context.WithTimeout(ctx, time.Second) // a look at a task holds its lock too, for a moment
	defer cancel()
	unlock, err = s.Repo.Lock(brief, "task-"+id)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = ErrRunning
	}
	if err == nil {
		_ = os.Remove(s.Repo.Path("stop", id)) // whoever was asked to has ended
	}
	return unlock, err
}

// followUp is another turn of a task whose lock is held.
func (s *Session) followUp(ctx context.Context, t Task) (*run, error) {
	var f followed
	var err error
	if f.record, err = s.Task(t.Of); err == nil && f.record.Result != nil {
		f.result, err = s.Queue.Find(ctx, t.Of)
	}
	if err == nil && f.record.Kept {
		err = &refusedError{f.record.Sandbox, errors.New("it is not part of the result")}
	}
	if err != nil {
		return nil, fmt.Errorf("continue %s: %w", t.Of, err)
	}
	r := s.newRun(t, f.turn())
	r.from = &f
	return r, nil
}

// turn is the record of a follow-up that begins.
func (f followed) turn() Outcome {
	was, o := f.record, newOutcome(f.record.ID)
	o.Turn, o.Result, o.Files, o.State, o.Snapshot = was.Turn+1, was.Result, was.Files, was.State, was.Snapshot
	o.Findings, o.Blocked, o.Review, o.Tests = ofChange(was.Findings), was.Blocked, was.Review, was.Tests // until the result is another one
	o.Session = was.Session
	o.Turns = append(was.Turns, Turn{
		Turn: was.Turn, Task: was.Task, Mends: was.Mends, Agent: was.Agent, Model: was.Model, Status: was.Status,
		Result: was.Result, Created: was.Created, Ended: was.Ended,
	})
	return o
}

// undoTurn restores the record of a task whose follow-up never began.
func (r *run) undoTurn(ctx context.Context) error {
	if err := r.save(ctx, r.from.record); err != nil {
		return err
	}
	return r.leave(ctx)
}

// goOn finds what a follow-up starts from. Where the working tree is as the
// task's snapshot has it, or is to be left alone, that is the result as it is;
// else a new snapshot, with what is left of the result merged onto it.
func (r *run) goOn(ctx context.Context) error {
	was := r.from.result
	if was.ID == "" {
		return r.renew(ctx)
	}
	if was.Have == was.BaseTree || r.task.FromResult {
		staged, err := r.Store.Stage(ctx, r.takeOptions(""))
		if err != nil {
			return err
		}
		if staged.Tree == was.BaseTree || r.task.FromResult {
			return r.upon(ctx, staged, was)
		}
	}
	if err := r.renew(ctx); err != nil {
		return err
	}
	commit, err := r.Queue.Rest(ctx, was, r.base())
	var conflict *patch.ConflictError
	if errors.As(err, &conflict) {
		return &MovedError{was.ID, conflict}
	}
	if err != nil {
		return err
	}
	tree, err := r.tree(ctx, commit)
	if err != nil {
		return err
	}
	r.on(commit, tree)
	return r.Repo.UpdateRefs(ctx, "", git.RefUpdate{Name: startRef(r.out.ID), New: commit, Any: true})
}

// upon starts from the result as it is. Its snapshot can be of a time when less was
// known: a file that has to stay outside by now ends it.
func (r *run) upon(ctx context.Context, staged snapshot.Staged, was patch.Result) error {
	scan, err := r.scanner(staged.LeftOut)
	if err != nil {
		return err
	}
	held, err := r.Store.Held(ctx, staged.Tree, was.Tree, scan)
	if err == nil && len(held) > 0 {
		err = fmt.Errorf("%s started from another %s, which %s; go on without --from-result", was.ID, held[0].Path, held[0].Why)
	}
	if err != nil {
		return err
	}
	r.snap, err = r.Store.At(ctx, was.ID, was.Base)
	r.snap.Parent, r.snap.Branch, r.snap.Dirty, r.snap.LeftOut = staged.Head, staged.Branch, staged.Dirty, staged.LeftOut
	r.on(was.Commit, was.Tree)
	return err
}

// startRef keeps the commit that a follow-up starts from while it runs, or its
// sandbox holds its change: until the result comes upon it, nothing else does.
func startRef(id string) string { return "refs/ftl/starts/" + id }

// renew takes another snapshot in place of the task's. The one before stays
// reachable from the result that was made on it.
func (r *run) renew(ctx context.Context) (err error) {
	o := r.takeOptions(r.out.ID)
	o.Replace = true
	if r.snap, err = r.Store.Take(ctx, o); err != nil {
		return err
	}
	r.on(r.snap.Commit, r.snap.Tree)
	return nil
}

// on sets the commit that the workspace starts from.
func (r *run) on(commit, tree plumbing.Hash) {
	r.start, r.startTree = commit, tree
	r.out.Start = commit.String()
}

func (r *run) tree(ctx context.Context, commit plumbing.Hash) (plumbing.Hash, error) {
	objs := r.Repo.Objects(ctx)
	defer objs.Close()
	c, err := objs.Commit(commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return c.TreeHash, nil
}

// shown is the task's snapshot with the tree that the agent starts from.
func (r *run) shown() snapshot.Snapshot {
	s := r.snap
	s.Commit, s.Tree = r.start, r.startTree
	return s
}

// base is the task's snapshot as the queue knows it.
func (r *run) base() patch.Base {
	b := patch.Base{Commit: r.snap.Commit, Tree: r.snap.Tree}
	for _, l := range r.snap.LeftOut {
		b.LeftOut = append(b.LeftOut, l.Path)
	}
	return b
}

// maxContext bounds the diff that an agent without a memory is given, in bytes.
const maxContext = 128 << 10

// Prompt words a follow-up for an agent that remembers nothing: what it was
// asked before, what it has changed so far, and what it is asked now.
func (s *Session) Prompt(ctx context.Context, o Outcome, text string) (string, error) {
	var b strings.Builder
	b.WriteString("You have worked on this repository before. You were asked:\n\n")
	for _, t := range o.Turns {
		fmt.Fprintf(&b, "%s\n\n", strings.TrimRight(t.Task, "\n"))
	}
	fmt.Fprintf(&b, "%s\n\n", strings.TrimRight(o.Task, "\n"))
	if o.Result != nil {
		r, err := s.Queue.Find(ctx, o.ID)
		if err != nil {
			return "", err
		}
		diff, err := s.Repo.Output(ctx, git.Call{Args: []string{
			"diff-tree", "-p", "--no-ext-diff", "--no-textconv", r.BaseTree.String(), r.Tree.String(), "--",
		}})
		if err != nil {
			return "", err
		}
		if len(diff) > maxContext {
			diff = append(diff[:maxContext:maxContext], "\n… the rest is left out\n"...)
		}
		fmt.Fprintf(&b, "This is what you have changed so far; it is in the workspace:\n\n%s\n", diff)
	}
	fmt.Fprintf(&b, "Now:\n\n%s", text)
	return b.String(), nil
}
