package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
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
	c := &commitPlan{Head: p.o.Now.Head.String(), Tree: p.headTree.String(), Message: p.o.Commit.Message}
	if strings.TrimSpace(c.Message) == "" {
		return nil, ErrEmptyMessage
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

// keepsHooks refuses a change that alters the very hooks that are to run.
func (p *plan) keepsHooks(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // no hooks
	}
	top, err := filepath.EvalSymlinks(p.q.repo.Dir)
	if err != nil {
		return err
	}
	for _, c := range p.changes {
		at := filepath.Join(top, filepath.FromSlash(c.Path))
		if rel, err := filepath.Rel(real, at); err == nil && filepath.IsLocal(rel) {
			return &UnsafeError{Path: c.Path, Why: "is one of the hooks that would run on this commit"}
		}
	}
	return nil
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

// commitWithHooks lets the hooks see the work tree with the change, and an index
// that is HEAD with it, and commits what they leave of that.
func (q *Queue) commitWithHooks(ctx context.Context, j *journal) error {
	if j.Commit == nil || j.Commit.Commit != "" {
		return nil
	}
	if err := q.step("hooks"); err != nil {
		return err
	}
	h, err := q.newHooks(j)
	if err != nil {
		return err
	}
	defer os.RemoveAll(h.dir)
	if err := q.repo.Do(ctx, git.Call{Args: []string{"read-tree", j.Commit.Tree}, Index: h.index}); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	_ = indexWriter{q, j.alters()}.refresh(ctx, h.index)
	message := filepath.Join(q.repo.GitDir, "COMMIT_EDITMSG")
	if err := os.WriteFile(message, []byte(j.Commit.Message), 0o666&^q.umask); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, hook := range [][]string{{"pre-commit"}, {"prepare-commit-msg", message, "message"}, {"commit-msg", message}} {
		if err := h.run(ctx, hook[0], hook[1:]...); err != nil {
			return err
		}
	}
	if j.Commit.Message, err = q.cleanMessage(ctx, message); err != nil {
		return err
	}
	tree, err := q.writeTree(ctx, h.index)
	if err != nil {
		return err
	}
	if err := q.followHooks(ctx, j, tree); err != nil {
		return err
	}
	if err := q.makeCommit(ctx, j, tree.String()); err != nil {
		return err
	}
	return q.writeJournal(j)
}

func (q *Queue) cleanMessage(ctx context.Context, file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	out, err := q.repo.Output(ctx, git.Call{Args: []string{"stripspace"}, Stdin: bytes.NewReader(data)})
	if err == nil && len(out) == 0 {
		err = ErrEmptyMessage
	}
	return string(out), err
}

// followHooks puts into the user's index what a hook made of a file that the
// index was to have as the commit: else its work would show as taken back.
func (q *Queue) followHooks(ctx context.Context, j *journal, tree plumbing.Hash) error {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	changes, err := objs.Diff(hashOf(j.Commit.Tree), tree)
	if err != nil {
		return err
	}
	for _, c := range changes {
		for i := range j.Index {
			st := &j.Index[i]
			if string(st.Path) == c.Path && len(st.New) == 1 && st.New[0].entry == entryOf(c.Old) && c.New != (git.Entry{}) {
				st.New[0].entry = entryOf(c.New)
			}
		}
	}
	j.Record.Index = j.Index
	return nil
}

// hooks runs the user's hooks as git commit does.
type hooks struct {
	q     *Queue
	j     *journal
	dir   string // scratch
	index string
}

func (q *Queue) newHooks(j *journal) (*hooks, error) {
	dir, err := os.MkdirTemp(q.repo.State, "index-")
	if err != nil {
		return nil, fmt.Errorf("make scratch index: %w", err)
	}
	return &hooks{q, j, dir, filepath.Join(dir, "index")}, nil
}

func (h *hooks) run(ctx context.Context, name string, args ...string) error {
	call := append([]string{"--no-literal-pathspecs", "hook", "run", "--ignore-missing", name, "--"}, args...)
	cmd := h.q.repo.Command(ctx, git.Call{
		Args: call, Config: []string{"core.hooksPath=" + h.j.Commit.Hooks}, Index: h.index, Env: []string{"GIT_EDITOR=:"},
	})
	cmd.Stdout, cmd.Stderr = &h.j.said, &h.j.said
	if err := cmd.Run(); err != nil {
		return &HookError{Name: name, Output: h.j.said.String()}
	}
	return nil
}

// afterCommit runs the last hook, whose exit code does not matter, and returns
// what it printed.
func (q *Queue) afterCommit(ctx context.Context, j *journal) string {
	if j.Commit == nil || j.Commit.Hooks == "" {
		return ""
	}
	j.said.Reset()
	h := hooks{q: q, j: j, index: filepath.Join(q.repo.GitDir, "index")}
	_ = h.run(ctx, "post-commit")
	return j.said.String()
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
	err = q.repo.UpdateRefs(ctx, "commit (git-ftl apply "+j.ID+"): "+oneLine(subject),
		git.RefUpdate{Name: "HEAD", New: hashOf(c.Commit), Old: hashOf(c.Head)})
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

// absorb takes what hooks made of the apply's files for what the apply wrote, so
// that a rollback takes it back with the rest. The bytes stay in the object
// store.
func (q *Queue) absorb(ctx context.Context, d *disk, j *journal) error {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	for i := range j.Steps {
		st := &j.Steps[i]
		now, raw, err := d.read(string(st.Path))
		if err != nil {
			return err
		}
		if now.same(st.Old) || now.same(st.New) || now.Kind == oddKind {
			continue
		}
		if now.Kind != "" {
			if _, err := objs.WriteBlob(raw); err != nil {
				return err
			}
		}
		st.New = now
	}
	return q.writeJournal(j)
}
