package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// RefUpdate is one move of a transaction.
type RefUpdate struct {
	Name string
	New  plumbing.Hash // zero deletes the ref
	Old  plumbing.Hash // the value it must have now; zero: it must not exist
	Any  bool          // take any old value, Old is not looked at
}

// UpdateRefs makes all moves or none, each with a reflog entry that says why; no
// reflog is made where why is empty. Errors: ErrMoved where a ref was elsewhere,
// else what git said.
func (r *Repo) UpdateRefs(ctx context.Context, why string, updates ...RefUpdate) error {
	var err error
	// Beside a "git pack-refs" git itself can read a ref's last value but one: it
	// tells a new packed-refs file by size, inode and the second. All moves are
	// refused then, so a ref that really moved is refused again.
	for range 3 {
		var t *RefTransaction
		if t, err = r.StartRefs(ctx, why); err != nil {
			return err
		}
		if err = t.Commit(updates...); !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return err
}

// RefTransaction is a git that waits for moves, so that its start costs nothing
// once they are known. It holds no lock while it waits. It ends with Commit,
// Abort or its context.
type RefTransaction struct {
	ctx    context.Context
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
}

// StartRefs begins an update of refs.
func (r *Repo) StartRefs(ctx context.Context, why string) (*RefTransaction, error) {
	args := []string{"update-ref", "--stdin", "-z"}
	if why != "" {
		args = append(args, "--create-reflog", "-m", why)
	}
	t := &RefTransaction{ctx: ctx}
	t.cmd = r.Command(ctx, Call{
		// A pack-refs or gc beside it locks each ref that it packs, on a busy machine for longer than git's 100 ms.
		Config: []string{"core.filesRefLockTimeout=5000", "core.packedRefsTimeout=5000"},
		Args:   args, Apart: true, Env: []string{"GIT_COMMITTER_NAME=git-ftl", "GIT_COMMITTER_EMAIL=" + Email},
	})
	t.cmd.Stderr = &t.stderr
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("git update-ref: %w", err)
	}
	return t, nil
}

// Commit makes all moves or none, and ends the transaction.
func (t *RefTransaction) Commit(updates ...RefUpdate) error {
	var in bytes.Buffer
	in.WriteString("start\x00")
	for _, u := range updates {
		old := u.Old.String()
		if u.Any {
			old = ""
		}
		if u.New.IsZero() {
			fmt.Fprintf(&in, "delete %s\x00%s\x00", u.Name, old)
		} else {
			fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", u.Name, u.New, old)
		}
	}
	in.WriteString("prepare\x00commit\x00")
	_, written := in.WriteTo(t.in)
	err := t.end()
	var exit *ExitError
	switch {
	case errors.As(err, &exit) && moved(exit.Stderr):
		return fmt.Errorf("move refs: %w: %s", ErrMoved, exit.Stderr)
	case err == nil && written != nil:
		return fmt.Errorf("git update-ref: %w", written)
	}
	return err
}

// Abort ends the transaction without a move.
func (t *RefTransaction) Abort() { _ = t.end() }

func (t *RefTransaction) end() error {
	_ = t.in.Close()
	return await(t.ctx, t.cmd, []string{"update-ref"}, &t.stderr)
}

// moved tells a lost race from a fault. git has one exit code for both, so this
// is the one place where its (untranslated) text decides.
func moved(stderr string) bool {
	return strings.Contains(stderr, "but expected") || strings.Contains(stderr, "reference already exists") ||
		strings.Contains(stderr, "unable to resolve reference")
}

// Ref returns the object that a full ref name points to, the zero hash where
// there is no such ref.
func (r *Repo) Ref(ctx context.Context, name string) (plumbing.Hash, error) {
	out, err := r.Output(ctx, Call{Args: []string{"rev-parse", "--quiet", "--verify", "--end-of-options", name}})
	var exit *ExitError
	if errors.As(err, &exit) && exit.Stderr == "" {
		return plumbing.ZeroHash, nil
	}
	return plumbing.NewHash(strings.TrimSpace(string(out))), err
}

// Refs lists the refs below a prefix ("refs/ftl/results/"), by full name.
func (r *Repo) Refs(ctx context.Context, prefix string) (map[string]plumbing.Hash, error) {
	out, err := r.Output(ctx, Call{Args: []string{"for-each-ref", "--format=%(objectname) %(refname)", prefix}})
	if err != nil {
		return nil, err
	}
	refs := map[string]plumbing.Hash{}
	for line := range strings.Lines(string(out)) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs[name] = plumbing.NewHash(hash)
	}
	return refs, nil
}
