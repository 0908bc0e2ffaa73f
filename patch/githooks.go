package patch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

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
	if err := h.all(ctx); err != nil {
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

// tidy drops white space as git commit does. Errors: ErrEmptyMessage.
func (q *Queue) tidy(ctx context.Context, message string) (string, error) {
	out, err := q.repo.Output(ctx, git.Call{Args: []string{"stripspace"}, Stdin: strings.NewReader(message)})
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

// all runs the hooks before a commit; the message is what they make of it, in the
// file where git commit has it.
func (h *hooks) all(ctx context.Context) error {
	message := filepath.Join(h.q.repo.GitDir, "COMMIT_EDITMSG")
	if err := os.WriteFile(message, []byte(h.j.Commit.Message), 0o666&^h.q.umask); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, hook := range [][]string{{"pre-commit"}, {"prepare-commit-msg", message, "message"}, {"commit-msg", message}} {
		if err := h.run(ctx, hook[0], hook[1:]...); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(message)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	h.j.Commit.Message, err = h.q.tidy(ctx, string(text))
	return err
}

func (h *hooks) run(ctx context.Context, name string, args ...string) error {
	call := append([]string{"--no-literal-pathspecs", "hook", "run", "--ignore-missing", name, "--"}, args...)
	cmd := h.q.repo.Command(ctx, git.Call{
		Args: call, Config: []string{"core.hooksPath=" + h.j.Commit.Hooks}, Index: h.index, Env: []string{"GIT_EDITOR=:"},
	})
	cmd.Stdout, cmd.Stderr = &h.j.said, &h.j.said
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
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

// absorb takes what hooks made of the apply's files for what the apply wrote, so
// that a rollback takes it back with the rest. The bytes stay in the object store,
// and are named: they can be the user's, who edited meanwhile.
func (q *Queue) absorb(ctx context.Context, d *disk, j *journal) (map[string]plumbing.Hash, error) {
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	dropped := map[string]plumbing.Hash{}
	for i := range j.Steps {
		st := &j.Steps[i]
		now, raw, err := d.read(string(st.Path))
		if err != nil {
			return dropped, err
		}
		if now.same(st.Old) || now.same(st.New) || now.Kind == oddKind {
			continue
		}
		if now.Kind != "" {
			if _, err := objs.WriteBlob(raw); err != nil {
				return dropped, err
			}
		}
		st.New, dropped[string(st.Path)] = now, hashOf(now.Hash)
	}
	return dropped, q.writeJournal(j)
}
