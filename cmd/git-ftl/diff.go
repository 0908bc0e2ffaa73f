package main

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type diffCmd struct {
	Args []string `arg:"" optional:"" name:"args" help:"[ID] [--left] [git diff options] [-- PATH…]; --left shows what is not applied yet."`
}

// Run implements the verb: git diff from the snapshot to the result, with the
// user's own pager, colours and tools, and no hook.
func (c *diffCmd) Run(a *app) error {
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
		full = append(append(full, options...), from, to, "--")
		cmd := exec.CommandContext(ctx, "git", append(full, paths...)...)
		cmd.Dir, cmd.Env = a.dir, a.env
		cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
		err = cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return &exitError{code: max(exit.ExitCode(), exitFailed), err: err, quiet: true} // git has said why
		}
		return err
	})
}

// idShape is what a result's ID or a part of it looks like, and no revision or
// object name does.
var idShape = regexp.MustCompile(`^[k-zK-Z]{1,40}$`)

// diffTarget takes an ID out of the arguments before "--".
func (a *app) diffTarget(ctx context.Context, s *session.Session, args []string) (patch.Result, []string, error) {
	options, _ := splitPaths(args)
	if i := slices.IndexFunc(options, idShape.MatchString); i >= 0 {
		r, err := a.choose(ctx, s, options[i])
		return r, slices.Concat(args[:i], args[i+1:]), err
	}
	r, err := a.choose(ctx, s, "")
	return r, args, err
}

// splitPaths parts options from what follows "--".
func splitPaths(args []string) (options, paths []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}
