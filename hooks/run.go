package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Call is one run of a hook by git.
type Call struct {
	Name  string
	Args  []string  // as git gave them
	Stdin io.Reader // as git gave it; read where the hook has one
	Check Check
}

// PushError names refs that hold what no one has decided on, and may not be pushed.
type PushError struct{ Refs []string }

// Error names them all.
func (e *PushError) Error() string {
	return fmt.Sprintf("push of %s: refs of git-ftl hold work that nobody has decided on", strings.Join(e.Refs, ", "))
}

// Hints are the ways out.
func (e *PushError) Hints() []string {
	return []string{"git push --all and git push --tags push what a mirror needs; git push --no-verify pushes these too"}
}

// ErrUnknown says that git-ftl has nothing to do in a hook of that name.
var ErrUnknown = errors.New("git-ftl has no such hook")

// Run looks at what git is about to record or send. A hook that only takes something
// away, or has nothing to say, reports no files. Errors: ErrUnknown, *PushError, what
// Check returns.
func (c Call) Run(ctx context.Context, repo *git.Repo) (Report, error) {
	switch c.Name {
	case "pre-commit", "pre-merge-commit", "pre-applypatch":
		return c.Check(ctx, "", "") // of an amended commit too: what it keeps was looked at before
	case "pre-push":
		return c.push(ctx, repo)
	case RefTransaction:
		return c.refs(ctx, repo)
	}
	return Report{}, fmt.Errorf("%s: %w", c.Name, ErrUnknown)
}

// refs looks at the commits that branches are about to get and that nothing had, so
// that a fetch or a checkout costs nothing. Only a prepared change can be refused.
func (c Call) refs(ctx context.Context, repo *git.Repo) (Report, error) {
	if len(c.Args) == 0 || c.Args[0] != "prepared" {
		return Report{}, nil
	}
	rows, err := c.rows(3)
	if err != nil {
		return Report{}, err
	}
	var tips []string
	for _, row := range rows {
		if strings.HasPrefix(row[2], "refs/heads/") && names(row[1]) {
			tips = append(tips, row[1])
		}
	}
	return c.commits(ctx, repo, tips, "--branches", "--remotes", "--tags")
}

// push looks at the commits that the remote lacks, as far as that is known here.
func (c Call) push(ctx context.Context, repo *git.Repo) (Report, error) {
	rows, err := c.rows(4)
	if err != nil {
		return Report{}, err
	}
	var tips, remotes []string
	refused := &PushError{}
	for _, row := range rows {
		local, tip, remote, there := row[0], row[1], row[2], row[3]
		if !names(tip) { // it is deleted there
			continue
		}
		if private(local) || private(remote) {
			refused.Refs = append(refused.Refs, remote)
		}
		tips, remotes = append(tips, tip), append(remotes, there)
	}
	if len(refused.Refs) > 0 {
		return Report{Blocked: true}, refused
	}
	known, err := present(ctx, repo, remotes)
	if err != nil {
		return Report{}, err
	}
	// A remote that is not configured is named by its URL, which is no pattern.
	if len(c.Args) > 1 && c.Args[0] != c.Args[1] {
		known = append(known, "--remotes="+c.Args[0])
	}
	return c.commits(ctx, repo, tips, known...)
}

// private reports whether a ref is git-ftl's own.
func private(ref string) bool {
	return strings.HasPrefix(ref, "refs/ftl/") || strings.HasPrefix(ref, "refs/worktree/ftl/") || ref == "refs/notes/ftl"
}

// names reports whether an object name is one, and not zeros or a symbolic ref.
func names(object string) bool {
	return strings.Trim(object, "0123456789abcdef") == "" && strings.Trim(object, "0") != ""
}

// rows reads lines of n fields. The first can hold spaces: of a push it is the source
// as the user wrote it, such as HEAD@{1 day ago}.
func (c Call) rows(n int) ([][]string, error) {
	data, err := io.ReadAll(c.Stdin)
	if err != nil {
		return nil, fmt.Errorf("read what git tells %s: %w", c.Name, err)
	}
	var rows [][]string
	for line := range bytes.Lines(data) {
		row := strings.Split(strings.TrimSuffix(string(line), "\n"), " ")
		if len(row) < n {
			return nil, fmt.Errorf("read what git tells %s: %q has not %d fields", c.Name, line, n)
		}
		first := len(row) - n + 1
		rows = append(rows, append([]string{strings.Join(row[:first], " ")}, row[first:]...))
	}
	return rows, nil
}

// present are those objects that are here: a remote can have what was never fetched.
func present(ctx context.Context, repo *git.Repo, objects []string) ([]string, error) {
	objects = slices.DeleteFunc(objects, func(o string) bool { return !names(o) })
	if len(objects) == 0 {
		return nil, nil
	}
	out, err := repo.Output(ctx, git.Call{Args: []string{"cat-file", "--batch-check=%(objectname)"}, Stdin: strings.NewReader(strings.Join(objects, "\n") + "\n")})
	if err != nil {
		return nil, fmt.Errorf("look for what the remote has: %w", err)
	}
	var here []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSuffix(line, "\n"); names(line) { // "NAME missing" otherwise
			here = append(here, line)
		}
	}
	return here, nil
}

// commits looks at each commit that can be reached from tips and not from what is
// known: what one adds and the next takes away is sent all the same.
func (c Call) commits(ctx context.Context, repo *git.Repo, tips []string, known ...string) (Report, error) {
	var sum Report
	if len(tips) == 0 {
		return sum, nil
	}
	args := []string{"rev-list", "--parents", "--topo-order", "--reverse", "--stdin", "--not"}
	in := strings.Join(tips, "\n") + "\n" // a mirror has more of them than a command line holds
	for _, k := range known {
		if names(k) {
			in += "^" + k + "\n"
		} else {
			args = append(args, k)
		}
	}
	out, err := repo.Output(ctx, git.Call{Args: args, Stdin: strings.NewReader(in)})
	if err != nil {
		return sum, fmt.Errorf("list new commits: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		ids := strings.Fields(line)
		from, err := base(ctx, repo, ids[1:])
		if err != nil {
			return sum, err
		}
		r, err := c.Check(ctx, from, ids[0])
		if err != nil {
			return sum, fmt.Errorf("commit %s: %w", ids[0], err)
		}
		sum.add(r)
	}
	return sum, nil
}

// base is what a commit with these parents was made from. Of a merge it is what git
// makes of them by itself, so that only what the merge added counts.
func base(ctx context.Context, repo *git.Repo, parents []string) (string, error) {
	switch len(parents) {
	case 0:
		return "", nil
	case 2:
	default:
		return parents[0], nil
	}
	out, err := repo.Output(ctx, git.Call{Args: []string{"merge-tree", "--write-tree", "--no-messages", "--allow-unrelated-histories", parents[0], parents[1]}})
	var exit *git.ExitError
	if errors.As(err, &exit) && exit.Code == 1 { // with conflicts, whose sides are in the tree
		err = nil
	}
	tree, _, _ := strings.Cut(string(out), "\n")
	if err != nil || !names(tree) {
		return "", fmt.Errorf("merge %s and %s again: %w", parents[0], parents[1], err)
	}
	return tree, nil
}
