package snapshot

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/snapshot/git"
	"github.com/go-git/go-git/v5/plumbing"
)

// gitlink is the mode of a submodule as git prints it.
const gitlink = "160000"

// status is what git says of the private index.
type status struct {
	head    plumbing.Hash
	branch  string
	changed []record
	others  []string // untracked; a slash at the end marks a repository of its own
}

// record is a path whose entry in HEAD, the private index or the work tree
// differs from one of the others.
type record struct {
	path string
	work byte          // the work tree against the index, as git's second column; D is gone
	link bool          // a submodule in the index
	mode string        // in the index, octal; zeros where it is not there
	hash plumbing.Hash // in the index
	open bool          // in conflict
}

// readStatus is the one walk over the work tree. With exactly these settings
// git uses the untracked cache; "git add" never does.
func (x *index) readStatus(ctx context.Context, started func()) (status, error) {
	c := x.call("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames", "--ignore-submodules=dirty")
	c.Started = started
	out, err := x.repo.Output(ctx, c)
	if err != nil {
		return status{}, err
	}
	return parseStatus(string(out))
}

// lenientFilters lets everything but the staging itself pass files whose filter
// fails, where the user's own "git status" ends; the staging then finds each.
func (x *index) lenientFilters(ctx context.Context) []string {
	out, err := x.repo.Output(ctx, git.Call{Args: []string{"config", "-z", "--name-only", "--get-regexp", `^filter\..*\.required$`}})
	if err != nil {
		return nil // none is configured
	}
	var off []string
	for _, key := range splitNUL(string(out)) {
		off = append(off, key+"=false")
	}
	return off
}

func (x *index) call(args ...string) git.Call {
	return git.Call{Args: args, Index: x.path, Config: append([]string{
		"core.untrackedCache=true", "status.showUntrackedFiles=all", "core.safecrlf=false"}, x.lenient...)}
}

func parseStatus(out string) (status, error) {
	var s status
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
			s.header(rest)
		case "?":
			s.others = append(s.others, rest)
		case "1", "u":
			r, ok := parseRecord(kind, rest)
			if !ok {
				return s, fmt.Errorf("read git status: unknown line %q", line)
			}
			s.changed = append(s.changed, r)
		case "":
		default:
			return s, fmt.Errorf("read git status: unknown line %q", line)
		}
	}
	return s, nil
}

func (s *status) header(line string) {
	key, value, _ := strings.Cut(line, " ")
	switch {
	case key == "branch.oid" && value != "(initial)":
		s.head = plumbing.NewHash(value)
	case key == "branch.head" && value != "(detached)":
		s.branch = value
	}
}

// parseRecord reads "XY sub mH mI mW hH hI path", or for a conflict "XY sub m1
// m2 m3 mW h1 h2 h3 path".
func parseRecord(kind, line string) (record, bool) {
	n := 8
	if kind == "u" {
		n = 10
	}
	f := strings.SplitN(line, " ", n)
	if len(f) != n || len(f[0]) != 2 {
		return record{}, false
	}
	r := record{path: f[n-1], work: f[0][1], link: f[3] == gitlink, mode: f[3], hash: plumbing.NewHash(f[6])}
	if kind == "u" {
		r.work, r.open = 'M', true
		if f[5] == "000000" {
			r.work = 'D'
		}
	}
	return r, true
}
