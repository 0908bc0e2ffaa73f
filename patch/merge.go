package patch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Conflict is one path that an apply cannot write.
type Conflict struct {
	Path  string
	Lines string // of the user's file, "40-58, 70"; "" where lines are not the matter
	Why   string

	Against string // AgainstIndex or AgainstHead; "" is the working tree
}

// ConflictError says that a result does not fit the work tree. Nothing was
// written.
type ConflictError struct {
	ID    string
	Paths []Conflict
}

// Error counts them; paths are for the caller to show.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s conflicts with the work tree in %d places, first %s: %s",
		e.ID, len(e.Paths), quoted(e.Paths[0].Path), e.Paths[0].Why)
}

// merger merges two trees over their common base with git's own merge.
type merger struct {
	q    *Queue
	objs *git.Objects
	base plumbing.Hash // commit
}

// outcome is what a merge led to: with conflicts, the tree has what git would
// write for each, and stages what it would put into the index.
type outcome struct {
	tree      plumbing.Hash
	conflicts []Conflict
	stages    []indexStep   // sorted by path, without Old
	mine, its plumbing.Hash // commits, by which markers name the sides
}

// merge merges two trees over the base's.
func (m merger) merge(ctx context.Context, ours, theirs plumbing.Hash) (outcome, error) {
	if c, err := m.objs.Commit(m.base); err == nil && c.TreeHash == ours {
		return outcome{tree: theirs}, nil
	}
	config, err := m.config(ctx)
	if err != nil {
		return outcome{}, err
	}
	var o outcome
	if o.mine, err = m.commit(ours); err != nil {
		return o, err
	}
	if o.its, err = m.commit(theirs); err != nil {
		return o, err
	}
	out, err := m.q.repo.Output(ctx, git.Call{
		Args:   []string{"merge-tree", "--write-tree", "-z", "--messages", o.mine.String(), o.its.String()},
		Config: config,
	})
	var exit *git.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Code != 1) {
		return o, fmt.Errorf("merge: %w", err)
	}
	fields := strings.Split(string(out), "\x00")
	o.tree = plumbing.NewHash(fields[0])
	if err == nil {
		return o, nil
	}
	return o, m.conflicts(&o, fields[1:])
}

// config keeps every merge driver of the user's from running, since attributes
// choose it, and makes the rest not depend on settings.
func (m merger) config(ctx context.Context) ([]string, error) {
	config := []string{"merge.directoryRenames=true", "merge.conflictStyle=merge", "merge.renames=true", "merge.renormalize=false"}
	names, err := m.q.drivers(ctx, "merge", "driver")
	for _, name := range names {
		config = append(config, "merge."+name+".driver=false")
	}
	return config, err
}

// drivers lists the subsections of a section that set one of the keys.
func (q *Queue) drivers(ctx context.Context, section, keys string) ([]string, error) {
	out, err := q.repo.Output(ctx, git.Call{
		Args: []string{"config", "-z", "--name-only", "--get-regexp", `^` + section + `\..*\.(` + keys + `)$`},
	})
	var exit *git.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s drivers: %w", section, err)
	}
	var names []string
	for key := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		name := strings.TrimPrefix(key, section+".")
		name = name[:max(0, strings.LastIndexByte(name, '.'))]
		if strings.ContainsAny(name, "=\n") {
			// git -c could not override it.
			return nil, fmt.Errorf("the name of the %s driver %s has an equals sign or a line break", section, quoted(name))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// commit wraps a tree, since merge-tree takes commits only.
func (m merger) commit(tree plumbing.Hash) (plumbing.Hash, error) {
	who := m.q.signature(m.q.now())
	return m.objs.WriteCommit(&object.Commit{
		Author: who, Committer: who, Message: "Work tree\n", TreeHash: tree, ParentHashes: []plumbing.Hash{m.base},
	})
}

const whyDeleted = "modify/delete"

// keptApart matches a name that git made to keep two things apart.
var keptApart = lazyregexp.New(`~[0-9a-f]{40}(_[0-9]+)?$`)

// conflicts reads what merge-tree -z says behind the tree: stages up to an
// empty field, then messages as a count, that many paths, a type and a text.
func (m merger) conflicts(o *outcome, fields []string) error {
	for len(fields) > 0 && fields[0] != "" {
		info, p, _ := strings.Cut(fields[0], "\t")
		part := strings.Fields(info)
		fields = fields[1:]
		if len(part) != 3 {
			return fmt.Errorf("merge: cannot read %s", quoted(info))
		}
		if n := len(o.stages); n == 0 || string(o.stages[n-1].Path) != p {
			o.stages = append(o.stages, indexStep{Path: []byte(p)})
		}
		stage, _ := strconv.Atoi(part[2])
		st := &o.stages[len(o.stages)-1]
		st.New = append(st.New, indexEntry{entry: entry{part[0], part[1]}, Stage: stage})
	}
	if len(o.stages) == 0 {
		return errors.New("merge: git names no conflict")
	}
	why := reasons(fields)
	merged := newView(m.objs, o.tree)
	for _, st := range o.stages {
		c := Conflict{Path: keptApart.ReplaceAllString(string(st.Path), ""), Why: "conflict"}
		if w := why[c.Path]; w != "" {
			c.Why = w
		}
		for _, e := range st.New {
			if e.Stage == 2 && !strings.HasPrefix(e.Mode, "16") {
				c.Lines = m.lines(merged, hashOf(e.Hash), o.mine, c.Path)
			}
		}
		if n := len(o.conflicts); n == 0 || o.conflicts[n-1].Path != c.Path {
			o.conflicts = append(o.conflicts, c)
		}
	}
	return nil
}

// reasons maps paths to the type of their conflict, which git keeps stable.
func reasons(fields []string) map[string]string {
	why := map[string]string{}
	if len(fields) > 0 {
		fields = fields[1:]
	}
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 0 || len(fields) < n+3 {
			break
		}
		kind, is := strings.CutPrefix(fields[n+1], "CONFLICT (")
		for _, p := range fields[1 : n+1] {
			if is {
				why[p] = strings.TrimSuffix(kind, ")")
			}
		}
		fields = fields[n+3:]
	}
	return why
}

// lines names the lines of the user's file that a conflict is about.
func (m merger) lines(merged *view, ours, mine plumbing.Hash, p string) string {
	e, err := merged.lookup(p)
	if err != nil || !e.Mode.IsFile() {
		return ""
	}
	with, err1 := m.objs.Blob(e.Hash)
	user, err2 := m.objs.Blob(ours)
	if err1 != nil || err2 != nil {
		return ""
	}
	return conflictLines(splitLines(with), splitLines(user), mine.String())
}

func splitLines(b []byte) []string {
	return slices.Collect(strings.Lines(string(bytes.TrimSuffix(b, []byte("\n")))))
}

// conflictLines finds our part of each conflict block in the user's file, in
// order. label names us on the opening marker.
func conflictLines(merged, user []string, label string) string {
	var out []string
	for i, pos := 0, 0; i < len(merged); i++ {
		if !strings.HasPrefix(merged[i], "<<<<<<<") || !strings.Contains(merged[i], " "+label) {
			continue
		}
		start := i + 1
		end := start
		for end < len(merged) && !strings.HasPrefix(merged[end], "=======") {
			end++
		}
		block := merged[start:end]
		if len(block) == 0 && i > 0 {
			block = merged[i-1 : i]
		}
		at := find(user[pos:], block)
		if at < 0 {
			continue
		}
		first, last := pos+at+1, pos+at+max(1, len(block))
		pos = min(last, len(user))
		i = end
		if first == last {
			out = append(out, strconv.Itoa(first))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", first, last))
		}
	}
	return strings.Join(out, ", ")
}

func find(lines, block []string) int {
	for i := 0; i+len(block) <= len(lines); i++ {
		if slices.EqualFunc(lines[i:i+len(block)], block, func(a, b string) bool {
			return strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n")
		}) {
			return i
		}
	}
	return -1
}
