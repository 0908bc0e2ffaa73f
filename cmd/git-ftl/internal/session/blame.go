package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// BlamedLine is a line of a file and where it comes from. Commit, Author and When
// are what git blame says, and zero of a line that is not committed; Task and Agent
// are those of the result that brought the line, and "" where none is known to.
type BlamedLine struct {
	Text   string    `json:"text"`
	Commit string    `json:"commit"`
	Author string    `json:"author"`
	When   time.Time `json:"when,omitzero"` // of the committer
	Task   string    `json:"task"`
	Agent  string    `json:"agent"`
}

// ErrNoLines says that a path is no file whose lines could be told apart.
var ErrNoLines = errors.New("is no file of this work tree, or one that is left out")

// Blame says of each line of a file as it is now where it comes from. A result
// brought a line where it added the line at this path, was applied, and the line
// stands there since; a commit from before the task speaks against it. Errors:
// ErrNoLines.
func (s *Session) Blame(ctx context.Context, path string) ([]BlamedLine, error) {
	staged, err := s.Store.Stage(ctx, s.snapshotOptions(""))
	if err != nil {
		return nil, err
	}
	lines, err := s.gitBlame(ctx, staged.Tree, path)
	if err != nil {
		return nil, fmt.Errorf("blame %s: %w", path, err)
	}
	results, err := s.Queue.List(ctx)
	if err != nil {
		return nil, err
	}
	results = slices.DeleteFunc(results, func(r patch.Result) bool {
		touched := slices.ContainsFunc(r.Files, func(f patch.FileStat) bool { return f.Path == path })
		return !touched || r.State != patch.Whole && r.State != patch.Partial
	})
	slices.SortFunc(results, func(a, b patch.Result) int { return cmp.Or(a.Decided.Compare(b.Decided), strings.Compare(a.ID, b.ID)) })
	for _, r := range results { // of two that bring the same line, the first one did
		brought, err := s.brought(ctx, r, staged.Tree, path)
		if err != nil {
			return nil, fmt.Errorf("blame %s: %w", path, err)
		}
		began := s.beganAt(r)
		for _, n := range brought {
			if n < len(lines) && lines[n].Task == "" && (lines[n].Commit == "" || !lines[n].When.Before(began)) {
				lines[n].Task, lines[n].Agent = r.ID, r.Agent
			}
		}
	}
	return lines, nil
}

// beganAt is when the first turn of a result's task began, in whole seconds, as git
// has times.
func (s *Session) beganAt(r patch.Result) time.Time {
	began := r.Created
	if o, err := s.Task(r.ID); err == nil {
		began = o.Created
		if len(o.Turns) > 0 {
			began = o.Turns[0].Created
		}
	}
	return began.Truncate(time.Second)
}

// brought are the lines of a file in a tree, from 0, that were added by what is
// applied of a result.
func (s *Session) brought(ctx context.Context, r patch.Result, now plumbing.Hash, path string) ([]int, error) {
	added, err := s.hunks(ctx, r.BaseTree, r.Have, path)
	if err != nil {
		return nil, err
	}
	since, err := s.hunks(ctx, r.Have, now, path)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, h := range added {
		for n := h.new; n < h.new+h.added; n++ {
			if at, there := moved(since, n); there {
				all = append(all, at)
			}
		}
	}
	return all, nil
}

// span is where a file differs from another: lines from 0 and how many.
type span struct{ old, removed, new, added int }

// moved finds the place of a line in a later version; false where it is gone.
func moved(since []span, n int) (at int, there bool) {
	at = n
	for _, h := range since {
		switch {
		case n >= h.old+h.removed:
			at += h.added - h.removed
		case n >= h.old:
			return 0, false
		}
	}
	return at, true
}

var hunkHead = lazyregexp.New(`(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunks are where a file differs between two trees.
func (s *Session) hunks(ctx context.Context, from, to plumbing.Hash, path string) ([]span, error) {
	out, err := s.Repo.Output(ctx, git.Call{Args: []string{
		"--literal-pathspecs", "diff-tree", "-r", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--inter-hunk-context=0",
		from.String(), to.String(), "--", path,
	}})
	if err != nil {
		return nil, err
	}
	var all []span
	for _, m := range hunkHead.FindAllSubmatch(out, -1) {
		var h span
		h.old, h.removed = side(m[1], m[2])
		h.new, h.added = side(m[3], m[4])
		all = append(all, h)
	}
	return all, nil
}

// side reads one side of a hunk's head. Of no lines git gives the line before.
func side(start, count []byte) (from, n int) {
	from, _ = strconv.Atoi(string(start))
	n = 1
	if len(count) > 0 {
		n, _ = strconv.Atoi(string(count))
	}
	if n > 0 {
		from--
	}
	return from, n
}

// gitBlame is what git knows of the lines of a file: all are new that no commit has
// at this path.
func (s *Session) gitBlame(ctx context.Context, tree plumbing.Hash, path string) ([]BlamedLine, error) {
	objs := s.Repo.Objects(ctx)
	defer objs.Close()
	now, err := objs.Lookup(tree, path)
	if err != nil {
		return nil, err
	}
	if now.Mode != filemode.Regular && now.Mode != filemode.Executable {
		return nil, ErrNoLines
	}
	if kind, _ := s.Repo.Line(ctx, "cat-file", "-t", "HEAD:"+path); kind == "blob" {
		out, err := s.Repo.Output(ctx, git.Call{Args: []string{"blame", "--line-porcelain", "--no-textconv", "--", path}})
		return readBlame(out), err
	}
	out, err := s.Repo.Output(ctx, git.Call{Args: []string{"cat-file", "blob", now.Hash.String()}})
	var lines []BlamedLine
	for line := range bytes.Lines(out) {
		lines = append(lines, BlamedLine{Text: strings.TrimSuffix(string(line), "\n")})
	}
	return lines, err
}

// readBlame reads git blame --line-porcelain.
func readBlame(out []byte) (lines []BlamedLine) {
	var l BlamedLine
	for raw := range bytes.Lines(out) {
		text := strings.TrimSuffix(string(raw), "\n")
		if line, ok := strings.CutPrefix(text, "\t"); ok {
			if strings.Trim(l.Commit, "0") == "" { // not committed yet
				l = BlamedLine{}
			}
			l.Text = line
			lines, l = append(lines, l), BlamedLine{}
			continue
		}
		name, value, _ := strings.Cut(text, " ")
		switch {
		case l.Commit == "": // the first line of each
			l.Commit = name
		case name == "author":
			l.Author = value
		case name == "committer-time":
			if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
				l.When = time.Unix(seconds, 0)
			}
		}
	}
	return lines
}
