package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/escape"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/snapshot"
)

// Recover finishes what an earlier git-ftl left: a half-done apply or undo, and
// tasks whose process died, whose change it stores; locks of the private index go.
// It is cheap where there is nothing: a look into a folder and at a few names.
func (s *Session) Recover(ctx context.Context) error {
	said, err := s.Queue.Recover(ctx)
	if err != nil {
		return err
	}
	if said != "" {
		s.note(said)
	}
	if err := s.Store.Sweep(); err != nil {
		return err
	}
	ids, err := s.ids("running")
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.recoverTask(ctx, id); err != nil {
			s.note(fmt.Sprintf("%s was cut off and could not be finished: %v", id, err))
		}
	}
	if said == "" && len(ids) == 0 {
		return nil
	}
	return s.Repo.Sweep(s.Now())
}

// recoverTask stores the change of one task, if it is dead.
func (s *Session) recoverTask(ctx context.Context, id string) error {
	unlock, dead, err := s.Repo.TryLock("task-" + id)
	if err != nil || !dead {
		return err
	}
	defer unlock()
	out, err := s.Task(id)
	if err != nil {
		return s.unmark(id, err)
	}
	if s, err = s.of(ctx, out); err != nil {
		return err
	}
	r := &run{Session: s, out: out, soft: ctx}
	if r.out.Status == Running {
		r.out.Status, r.out.Error = Interrupted, "git-ftl was cut off while it ran"
	}
	if !out.Ended.IsZero() || out.Started.IsZero() {
		return r.conclude(ctx)
	}
	switch err = r.rescue(ctx); {
	case err == nil:
		r.Session.note(fmt.Sprintf("%s was cut off; %s", id, r.rescued()))
		return nil
	case errors.Is(err, container.ErrGone):
		r.out.Status, r.out.Error = Failed, fmt.Sprintf("sandbox %s is gone, and with it what the agent had changed", r.out.Sandbox)
	case errors.As(err, new(*refusedError)):
		r.out.Status, r.out.Error, r.out.Kept = Failed, err.Error(), true
	default:
		return err // the sandbox keeps the change, and the next command tries again
	}
	return errors.Join(err, r.end(ctx))
}

// of is the session of the work tree that a task belongs to, where its result goes;
// this one where that is gone.
func (s *Session) of(ctx context.Context, o Outcome) (*Session, error) {
	if o.WorkTree == "" || o.WorkTree == s.Repo.Key() {
		return s, nil
	}
	repo, err := s.Repo.Tree(ctx, o.WorkTree)
	if err != nil || repo == nil {
		return s, err
	}
	other := *s
	other.Repo, other.Queue, other.Store = repo, s.Queue.In(repo), snapshot.New(repo)
	return &other, nil
}

// conclude ends a task of which nothing is left in a sandbox. Without an engine it
// stays among the running ones, until a later command has taken its mark off the
// sandbox.
func (r *run) conclude(ctx context.Context) error {
	if err := r.letGo(ctx); err != nil {
		if r.out.Ended.IsZero() {
			r.out.Ended = r.Now()
		}
		return errors.Join(err, r.save(ctx, r.out))
	}
	return r.end(ctx)
}

// unmark takes a task without a record out of the running ones, in silence where
// it died before it had one.
func (s *Session) unmark(id string, why error) error {
	if errors.Is(why, fs.ErrNotExist) {
		why = nil
	}
	return errors.Join(why, os.Remove(s.Repo.Path("running", id)))
}

// rescue takes the change out of the sandbox that a dead process left.
func (r *run) rescue(ctx context.Context) (err error) {
	hash, err := r.Repo.Ref(ctx, resultRef(r.out.ID))
	if err != nil {
		return err
	}
	if !hash.IsZero() && (r.out.Result == nil || *r.out.Result != hash.String()) {
		return r.adopt(ctx, hash)
	}
	if err := r.startedFrom(ctx); err != nil {
		return err
	}
	pool, err := r.Pool(ctx)
	if err != nil {
		return err
	}
	if r.box, err = pool.Reclaim(ctx, r.out.Sandbox); err != nil {
		return err
	}
	r.held = true
	defer func() { err = errors.Join(err, r.box.Release()) }()
	return r.collect(ctx, nil)
}

// startedFrom finds snapshot and start of a task that another process began.
func (r *run) startedFrom(ctx context.Context) (err error) {
	r.start = plumbing.NewHash(r.out.Start)
	if r.startTree, err = r.tree(ctx, r.start); err != nil {
		return err
	}
	if r.out.Result != nil {
		was, err := r.Queue.Find(ctx, r.out.ID)
		if err != nil {
			return err
		}
		if was.Base.String() == r.out.Snapshot { // which a turn that failed may have replaced
			r.snap, err = r.Store.At(ctx, was.ID, was.Base)
			r.snap.LeftOut = r.out.LeftOut
			return err
		}
	}
	r.snap, err = r.Store.Load(ctx, r.out.ID)
	return err
}

// adopt completes the record of a task that died after its result was stored.
func (r *run) adopt(ctx context.Context, commit plumbing.Hash) error {
	if commit.IsZero() {
		return nil
	}
	result, err := r.Queue.Find(ctx, r.out.ID)
	if err != nil {
		return err
	}
	hex := commit.String()
	r.out.Result, r.out.Files = &hex, changed(result.Files)
	r.forgetVerdicts(ctx, result)
	r.lint(ctx)
	return r.conclude(ctx)
}

// letGo takes the mark off the sandbox of a task whose change is stored, or that
// had none; a change that was refused is kept there.
func (r *run) letGo(ctx context.Context) error {
	if r.out.Sandbox == "" || r.out.Kept {
		return nil
	}
	pool, err := r.Pool(ctx)
	if err != nil {
		return err
	}
	box, err := pool.Reclaim(ctx, r.out.Sandbox)
	if errors.Is(err, container.ErrGone) || errors.Is(err, container.ErrBusy) {
		return nil // it is another's by now, so the mark was off
	}
	if err != nil {
		return err
	}
	if box.Holds() == r.out.ID {
		err = box.Unhold()
	}
	return errors.Join(err, box.Release())
}

func (r *run) rescued() string {
	if r.out.Result == nil {
		return "its agent had changed nothing"
	}
	return fmt.Sprintf("what its agent had changed is stored: git ftl diff %s", r.out.ID)
}

// annotate writes the display record beside the result's commit.
func (s *Session) annotate(ctx context.Context, o Outcome) error {
	data, err := readable(o)
	if err != nil {
		return err
	}
	return s.Queue.Note(ctx, plumbing.NewHash(*o.Result), data)
}

// readable is a record as JSON that reads well in git log, which shows it as it is: a
// line for each key, none for what is empty, and nothing that steers a terminal.
func readable(o Outcome) ([]byte, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(data))
	_, err = dec.Token() // the brace
	for err == nil && dec.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = dec.Token(); err == nil {
			err = dec.Decode(&value)
		}
		switch string(value) {
		case `""`, "null", "0", "false", "[]", "{}":
			continue
		}
		fmt.Fprintf(&out, ",\n %q: %s", key, value)
	}
	return []byte("{" + escape.JSON(strings.TrimPrefix(out.String(), ",")) + "\n}\n"), err
}
