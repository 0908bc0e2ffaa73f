package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/patch"
)

type diffCmd struct {
	Args []string `arg:"" optional:"" name:"args" help:"[ID] [--left] [git diff options] [-- PATH…]; --left shows what is not applied yet."`
}

// Run implements the verb: git diff from the snapshot to the result, with the
// user's own pager, colours and tools, and no hook.
func (c *diffCmd) Run(a *app) error {
	if options, _ := splitPaths(c.Args); slices.Contains(options, "-h") || slices.Contains(options, "--help") {
		return a.usage()
	}
	return a.decide(func(ctx context.Context, s *session.Session) error {
		r, args, err := a.diffTarget(ctx, s, c.Args)
		if err != nil {
			return err
		}
		if err := s.MarkShown(r.ID, r.Commit.String()); err != nil {
			return err
		}
		verb := "diff"
		if i := slices.Index(args, "--tool"); i >= 0 || slices.ContainsFunc(args, func(s string) bool { return strings.HasPrefix(s, "--tool=") }) {
			verb = "difftool"
		}
		full := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", verb}
		options, paths := splitPaths(args)
		from, to := r.Base.String(), r.Commit.String()
		if i := slices.Index(options, "--left"); i >= 0 {
			options = slices.Delete(slices.Clone(options), i, i+1)
			from, to = r.Have.String(), r.Tree.String()
		}
		if plumbing.NewHash(from).IsZero() { // of a foreign one, which can be a first commit
			from = emptyTree
		}
		full = append(append(full, options...), from, to, "--")
		cmd := exec.CommandContext(ctx, "git", append(full, paths...)...)
		cmd.Dir, cmd.Env = a.dir, a.env
		cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, handed(a.stdout), a.stderr
		err = cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code := max(exit.ExitCode(), exitFailed)
			if code == gitUsage {
				code = exitUsage
			}
			return &exitError{code: code, err: err, quiet: true} // git has said why
		}
		return err
	})
}

// gitUsage is how git exits where it does not know an option.
const gitUsage = 129

// idShape is what a result's ID or a part of it looks like, and no revision or
// object name does.
var idShape = lazyregexp.New(`^[k-zK-Z]{1,40}$`)

// diffTarget takes an ID out of the arguments before "--". Other revisions have
// no place there: git would compare them all.
func (a *app) diffTarget(ctx context.Context, s *session.Session, args []string) (patch.Result, []string, error) {
	options, _ := splitPaths(args)
	words := diffWords(options)
	if len(words) == 0 {
		r, err := a.choose(ctx, s, "")
		return r, args, err
	}
	for n, i := range words {
		if word := options[i]; n > 0 || !idShape.MatchString(word) {
			return patch.Result{}, nil, &exitError{code: exitUsage, err: fmt.Errorf("%q is no ID of a result", word), hints: []string{
				"git ftl diff -- " + quoteArgs([]string{word}) + " takes it as a path", "git diff COMMIT ftl/pending compares with a commit",
			}}
		}
	}
	i := words[0]
	r, err := a.choose(ctx, s, options[i])
	return r, slices.Concat(args[:i], args[i+1:]), orPath(a, err, "diff", options[i])
}

// diffWords finds the arguments that are neither an option nor the value of one.
func diffWords(options []string) []int {
	valued := []string{
		"-S", "-G", "-I", "-O", "-U", "-l", "--unified", "--inter-hunk-context", "--diff-filter", "--diff-algorithm", "--anchored",
		"--output", "--src-prefix", "--dst-prefix", "--line-prefix", "--word-diff-regex", "--ws-error-highlight",
		"--skip-to", "--rotate-to", "--find-object", "--tool", "--extcmd",
	}
	var words []int
	for i, option := range options {
		if !strings.HasPrefix(option, "-") && (i == 0 || !slices.Contains(valued, options[i-1])) {
			words = append(words, i)
		}
	}
	return words
}

// orPath adds to the error of an unknown ID that there is a file of that name.
func orPath(a *app, err error, verb, word string) error {
	if !errors.Is(err, patch.ErrUnknown) {
		return err
	}
	if _, none := os.Lstat(a.path(word)); none != nil {
		return err
	}
	e := *explain(err, a.env)
	e.hints = append([]string{"git ftl " + verb + " -- " + quoteArgs([]string{word}) + " takes it as a path"}, e.hints...)
	return &e
}

// splitPaths parts options from what follows "--".
func splitPaths(args []string) (options, paths []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}
