package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// indexEntry is one entry of the user's index.
type indexEntry struct {
	entry
	Stage  int  `json:"stage,omitempty"`
	Intent bool `json:"intentToAdd,omitempty"`
	Skip   bool `json:"skipWorktree,omitempty"`
	Assume bool `json:"assumeUnchanged,omitempty"`
}

// indexStep is one path of the user's index: its entries before and after.
type indexStep struct {
	Path []byte       `json:"path"`
	Old  []indexEntry `json:"old"`
	New  []indexEntry `json:"new"`
}

// sameEntries compares what a commit would see of a path, or the stages of a
// conflict. A file that is only intended to be added counts as nothing: while it
// is written there is a moment without it.
func sameEntries(a, b []indexEntry) bool {
	return slices.Equal(plainEntries(a), plainEntries(b))
}

func plainEntries(list []indexEntry) []indexEntry {
	var plain []indexEntry
	for _, e := range list {
		if !e.Intent {
			plain = append(plain, indexEntry{entry: e.entry, Stage: e.Stage})
		}
	}
	return plain
}

// readIndex reads the user's index, by path.
func (q *Queue) readIndex(ctx context.Context, objs *git.Objects) (map[string][]indexEntry, error) {
	out, err := q.repo.Output(ctx, git.Call{Args: []string{"ls-files", "-z", "-s", "-v"}})
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	all := map[string][]indexEntry{}
	var empty []string // what may be but intended to be added
	nothing := plumbing.ComputeHash(plumbing.BlobObject, nil).String()
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, p, ok := strings.Cut(line, "\t")
		part := strings.Fields(info)
		if !ok || len(part) != 4 {
			continue
		}
		stage, _ := strconv.Atoi(part[3])
		e := indexEntry{
			entry: entry{part[1], part[2]}, Stage: stage,
			Skip: strings.EqualFold(part[0], "S"), Assume: part[0] != strings.ToUpper(part[0]),
		}
		if e.Hash == nothing && stage == 0 {
			empty = append(empty, p)
		}
		all[p] = append(all[p], e)
	}
	return all, q.markIntents(ctx, objs, all, empty)
}

// markIntents finds entries that are only intended to be added: the tree of the
// index does not have them.
func (q *Queue) markIntents(ctx context.Context, objs *git.Objects, all map[string][]indexEntry, empty []string) error {
	if len(empty) == 0 || unmerged(all) != "" {
		return nil
	}
	tree, err := q.indexTree(ctx)
	if err != nil {
		return err
	}
	v := newView(objs, tree)
	for _, p := range empty {
		e, err := v.lookup(p)
		if err != nil {
			return err
		}
		all[p][0].Intent = e == (git.Entry{})
	}
	return nil
}

// unmerged names a path of an index that is in conflict, "" where none is.
func unmerged(all map[string][]indexEntry) string {
	least := ""
	for p, list := range all {
		if list[0].Stage > 0 && (least == "" || p < least) {
			least = p
		}
	}
	return least
}

// indexTree is the tree that the user's index would commit. It is written from a
// copy, since git notes the tree in the index that it writes from.
func (q *Queue) indexTree(ctx context.Context) (plumbing.Hash, error) {
	dir, err := os.MkdirTemp(q.repo.State, "index-")
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("make scratch index: %w", err)
	}
	defer os.RemoveAll(dir)
	scratch := filepath.Join(dir, "index")
	data, err := os.ReadFile(filepath.Join(q.repo.GitDir, "index"))
	if err == nil {
		err = os.WriteFile(scratch, data, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plumbing.ZeroHash, fmt.Errorf("copy index: %w", err)
	}
	return q.writeTree(ctx, scratch)
}

func (q *Queue) writeTree(ctx context.Context, index string) (plumbing.Hash, error) {
	out, err := q.repo.Output(ctx, git.Call{Args: []string{"write-tree", "--missing-ok"}, Index: index})
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write tree of index: %w", err)
	}
	return plumbing.NewHash(strings.TrimSpace(string(out))), nil
}

// moveIndex makes each path of the user's index what the journal says. What is
// done already is passed over; what is neither old nor new is the user's: it is
// an error while an apply runs, and left alone when a crash is mended.
func (q *Queue) moveIndex(ctx context.Context, j *journal) error {
	if len(j.Index) == 0 {
		return nil
	}
	if err := q.step("index"); err != nil {
		return err
	}
	objs := q.repo.Objects(ctx)
	defer objs.Close()
	now, err := q.readIndex(ctx, objs)
	if err != nil {
		return err
	}
	var todo []indexStep
	for _, st := range j.Index {
		has := now[string(st.Path)]
		switch {
		case slices.Equal(has, st.New):
		case sameEntries(has, st.Old), sameEntries(has, st.New):
			todo = append(todo, st)
		case j.live:
			return &ConflictError{j.ID, []Conflict{{Path: string(st.Path), Why: "changed meanwhile", Against: AgainstIndex}}}
		}
	}
	if len(todo) == 0 {
		return nil
	}
	return q.keepModes([]string{filepath.Join(q.repo.GitDir, "index")}, func() error {
		return indexWriter{q, j.alters()}.write(ctx, todo)
	})
}

// alters reports whether the steps alter what chooses filters.
func (j *journal) alters() bool {
	return slices.ContainsFunc(j.Steps, func(st step) bool { return isAttributes(string(st.Path)) })
}

// indexWriter writes the user's index by git's own commands, which know its
// extensions. With plain, no filter of the user's runs to compare files.
type indexWriter struct {
	q     *Queue
	plain bool
}

func (w indexWriter) write(ctx context.Context, steps []indexStep) error {
	config, err := w.config(ctx)
	if err != nil {
		return err
	}
	if err := w.wait(ctx); err != nil {
		return err
	}
	var info, skip, assume, intent bytes.Buffer
	for _, st := range steps { // removals first: a folder may be in a file's place
		fmt.Fprintf(&info, "0 %s\t%s\x00", plumbing.ZeroHash, st.Path)
	}
	for _, st := range steps {
		for _, e := range st.New {
			if e.Intent {
				fmt.Fprintf(&intent, "%s\x00", st.Path)
				continue
			}
			fmt.Fprintf(&info, "%s %s %d\t%s\x00", e.Mode, e.Hash, e.Stage, st.Path)
			if e.Skip {
				fmt.Fprintf(&skip, "%s\x00", st.Path)
			}
			if e.Assume {
				fmt.Fprintf(&assume, "%s\x00", st.Path)
			}
		}
	}
	for _, run := range []struct {
		args []string
		in   *bytes.Buffer
	}{
		{[]string{"update-index", "-z", "--index-info"}, &info},
		{[]string{"add", "-N", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"}, &intent},
		{[]string{"update-index", "-z", "--skip-worktree", "--stdin"}, &skip},
		{[]string{"update-index", "-z", "--assume-unchanged", "--stdin"}, &assume},
	} {
		if run.in.Len() == 0 {
			continue
		}
		if err := w.q.repo.Do(ctx, git.Call{Args: run.args, Config: config, Stdin: run.in, Apart: true}); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
	}
	return nil
}

// refresh notes in an index which files are as it says. Entries that are written
// singly need that not: git compares each with its file.
func (w indexWriter) refresh(ctx context.Context, index string) error {
	config, err := w.config(ctx)
	if err != nil {
		return err
	}
	err = w.q.repo.Do(ctx, git.Call{Args: []string{"update-index", "-q", "--unmerged", "--refresh"}, Config: config, Index: index})
	var exit *git.ExitError
	if errors.As(err, &exit) && exit.Code == 1 { // files differ
		return nil
	}
	return err
}

// config keeps a split index split, which our calls would join otherwise.
func (w indexWriter) config(ctx context.Context) ([]string, error) {
	split := []string{"core.splitIndex=true"}
	shared, err := w.q.repo.Output(ctx, git.Call{Args: []string{"rev-parse", "--shared-index-path"}, Config: split})
	var exit *git.ExitError
	if err != nil && !errors.As(err, &exit) { // git refuses where the index is sparse, which is never split
		return nil, err
	}
	config := []string{"core.safecrlf=false"}
	made := !strings.HasSuffix(strings.TrimSpace(string(shared)), "."+plumbing.ZeroHash.String())
	if err == nil && made {
		config = append(config, split...)
	}
	if !w.plain {
		return config, nil
	}
	off, err := w.q.noFilters(ctx)
	return append(config, off...), err
}

const lockWait = 2 * time.Second

// wait waits for another git that writes the index, such as an editor's status.
func (w indexWriter) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := os.Lstat(filepath.Join(w.q.repo.GitDir, "index.lock"))
		if err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("write index: another git holds %s", quoted(filepath.Join(w.q.repo.GitDir, "index.lock")))
		case <-tick.C:
		}
	}
}
