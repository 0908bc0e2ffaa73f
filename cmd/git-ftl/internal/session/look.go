package session

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Look lints what a user asks about, with the secrets that can be had without
// asking them anything. What it needs is gathered once for all its calls.
type Look struct {
	s       *Session
	linter  *lint.Linter
	skipped []string
}

// Look gathers what a linter needs.
func (s *Session) Look(ctx context.Context) *Look { return s.look(s.known(ctx)) }

func (s *Session) look(k known) *Look {
	return &Look{s, lint.New(lint.Options{Values: k.values, Watched: s.watched(), Now: s.Now()}), k.skipped}
}

// terms say what counts for a change.
type terms struct {
	base plumbing.Hash // tree whose ignore file may count; zero is none
	id   string        // of the result, "" where it is none
	own  bool          // the user is about to commit it
	task string
}

func (l *Look) termsOf(r patch.Result) terms { return terms{base: r.BaseTree, id: r.ID, task: r.Task} }

// Result looks at what a result changes from its snapshot on.
func (l *Look) Result(ctx context.Context, r patch.Result) (lint.Report, error) {
	objs := l.s.Repo.Objects(ctx)
	defer objs.Close()
	changes, err := objs.Diff(r.BaseTree, r.Tree)
	if err != nil {
		return lint.Report{}, err
	}
	return l.changes(ctx, objs, l.termsOf(r), changes)
}

// Staged looks at what an index changes of HEAD.
func (l *Look) Staged(ctx context.Context, i Staged) (lint.Report, error) {
	out, base, err := l.s.staged(ctx, i)
	if err != nil {
		return lint.Report{}, err
	}
	changes, err := git.ParseRaw(out)
	if err != nil || len(changes) == 0 {
		return lint.Report{Findings: []lint.Finding{}, Skipped: []string{}}, err
	}
	objs := l.s.Repo.Objects(ctx)
	defer objs.Close()
	return l.changes(ctx, objs, terms{base: base, own: true}, changes)
}

// Trees looks at what differs between two commits or trees; "" is the empty tree.
func (l *Look) Trees(ctx context.Context, from, to string) (lint.Report, error) {
	objs := l.s.Repo.Objects(ctx)
	defer objs.Close()
	var sides [2]plumbing.Hash
	for i, side := range []string{from, to} {
		if side == "" {
			continue
		}
		line, err := l.s.Repo.Line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", side+"^{tree}")
		if err != nil {
			return lint.Report{}, fmt.Errorf("%s is no commit and no tree", side)
		}
		sides[i] = plumbing.NewHash(line)
	}
	changes, err := objs.Diff(sides[0], sides[1])
	if err != nil {
		return lint.Report{}, err
	}
	return l.changes(ctx, objs, terms{base: sides[0], own: true}, changes)
}

// Commits looks at each commit that git rev-list finds: a secret that a later one
// takes out again is published all the same. What counts is the ignore file that
// the oldest one came upon.
func (l *Look) Commits(ctx context.Context, revisions ...string) (lint.Report, error) {
	total := lint.Report{Findings: []lint.Finding{}, Skipped: []string{}}
	args := append([]string{"rev-list", "--reverse", "--parents"}, revisions...)
	out, err := l.s.Repo.Output(ctx, git.Call{Args: append(args, "--")})
	if err != nil || len(out) == 0 {
		return total, err
	}
	objs := l.s.Repo.Objects(ctx)
	defer objs.Close()
	var t terms
	for i, line := range bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n")) {
		base, changes, err := objs.Introduced(strings.Fields(string(line)))
		if err != nil {
			return total, err
		}
		if i == 0 {
			t.base = base
		}
		report, err := l.changes(ctx, objs, t, changes)
		if err != nil {
			return total, err
		}
		total.Add(report)
	}
	return total, nil
}

// changes looks at changes of any kind.
func (l *Look) changes(ctx context.Context, blobs lint.Blobs, t terms, changes []git.Change) (lint.Report, error) {
	accepted, err := l.s.accepted(ctx, t.base)
	if err != nil {
		return lint.Report{}, err
	}
	accepted = accepted.And(lint.Acceptance{IDs: l.s.waived(t.id)})
	if t.own {
		accepted.Advice = ownWork()
	}
	report, err := l.linter.Check(ctx, blobs, changes, lint.Terms{Task: t.task, Accepted: accepted})
	report.Skipped = append(report.Skipped, l.skipped...)
	return report, err
}

// ownWork are the families that only advise where a person commits: they add links,
// pipelines and editor tasks every day, about which an agent has to be asked.
func ownWork() []string { return []string{"surface", "ci", "manifest"} }

// emptyTree is the tree without entries, which git knows without having it.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// headTree is the tree of HEAD, the empty one in an unborn repository.
func (s *Session) headTree(ctx context.Context) (plumbing.Hash, error) {
	line, err := s.Repo.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
	if err == nil {
		return plumbing.NewHash(line), nil
	}
	if _, unborn := s.Repo.Line(ctx, "symbolic-ref", "--quiet", "HEAD"); unborn == nil {
		return plumbing.NewHash(emptyTree), nil
	}
	return plumbing.ZeroHash, err
}

// accepted is what the base's ignore file says, where it is the very content that
// the user has trusted, and over it what the user's own settings say.
func (s *Session) accepted(ctx context.Context, base plumbing.Hash) (lint.Acceptance, error) {
	ok, err := s.hasIgnoreFile(ctx, base)
	if err != nil {
		return lint.Acceptance{}, err
	}
	return s.acceptance(ok)
}

func (s *Session) acceptance(ignoreFile bool) (a lint.Acceptance, err error) {
	if ignoreFile && len(s.Config.Accepts) > 0 {
		var wrong []error
		a, wrong = lint.ParseIgnore(s.Config.Accepts)
		for _, err := range wrong {
			s.note(err.Error() + "; the line does not count")
		}
	}
	for _, l := range s.Config.Lint {
		setting, err := lint.NewSetting(l.Rule, l.Severity, "config")
		if err != nil {
			return a, fmt.Errorf("%s: ftl.lint: %w", l.Origin, err)
		}
		a.Settings = append(a.Settings, setting)
	}
	return a, nil
}

// hasIgnoreFile reports whether a tree has the ignore file that is trusted.
func (s *Session) hasIgnoreFile(ctx context.Context, base plumbing.Hash) (bool, error) {
	if len(s.Config.Accepts) == 0 || base.IsZero() || base.String() == emptyTree {
		return false, nil
	}
	objs := s.Repo.Objects(ctx)
	defer objs.Close()
	e, err := objs.Lookup(base, lint.IgnoreFile)
	return e.Hash == plumbing.ComputeHash(plumbing.BlobObject, s.Config.Accepts), err
}
