package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/review"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
)

type reviewCmd struct {
	ID string `arg:"" optional:"" help:"Result; the only undecided one of this work tree otherwise."`

	targetFlags
}

// Help is the end of the verb's --help.
func (c *reviewCmd) Help() string {
	return "Press ? on the screen for its keys. Marks and comments are kept until the result is another one. The flags say how what is applied is written, as those of git ftl apply do."
}

// Run implements the verb.
func (c *reviewCmd) Run(a *app) error {
	apply := &applyCmd{ID: c.ID, Patch: true, targetFlags: c.targetFlags}
	if err := apply.check(); err != nil {
		return err
	}
	if !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return &exitError{code: exitUsage, err: errors.New("a review needs a terminal"), hints: []string{"git ftl diff " + c.ID + " shows the change, git ftl apply -p " + c.ID + " asks hunk by hunk"}}
	}
	var send *continueCmd
	err := a.decide(func(ctx context.Context, s *session.Session) error {
		r, err := a.choose(ctx, s, c.ID)
		if err != nil {
			return err
		}
		v := &reviewing{applying{app: a, c: apply, s: s, r: r}}
		if lookup(a.env, "TERM") == "dumb" {
			return v.plain(ctx)
		}
		send, err = v.look(ctx, "")
		return err
	})
	if err != nil || send == nil {
		return err
	}
	return send.Run(a)
}

// reviewing is one review of a result.
type reviewing struct{ applying }

// plain asks hunk by hunk, below what is known of the change.
func (v *reviewing) plain(ctx context.Context) error {
	change, err := v.change(ctx)
	if err != nil {
		return err
	}
	for _, line := range change.Touched {
		fmt.Fprintf(v.stdout, "tests: %s\n", clean(line))
	}
	fmt.Fprintf(v.stdout, "%s  %s\n%s\n", change.ID, clean(change.About), clean(session.Subject(change.Task)))
	if change.Tests.Status != "" {
		fmt.Fprintf(v.stdout, "tests: %s, %s\n", clean(change.Tests.Status), clean(change.Tests.Detail))
	}
	if change.Summary != "" {
		fmt.Fprintf(v.stdout, "review: %s\n", cleanLines(change.Summary))
	}
	for _, f := range change.Findings {
		fmt.Fprintf(v.stdout, "%s %s  %s  %s\n", clean(f.Severity), clean(f.Rule), clean(f.Place()), clean(f.Message))
	}
	if err := v.s.MarkShown(v.r.ID, v.r.Commit.String()); err != nil {
		return err
	}
	return v.asked(ctx)
}

// look shows the screen and does what was decided on it. A result that moved
// meanwhile is shown anew, and nothing is done to it. The command that goes on with
// the task is left to the caller.
func (v *reviewing) look(ctx context.Context, note string) (*continueCmd, error) {
	for {
		out, err := v.screen(ctx, note)
		if err != nil || out.Action == review.Leave {
			return nil, err
		}
		send, err := v.do(ctx, out)
		if !errors.Is(err, patch.ErrChanged) {
			return send, err
		}
		if v.r, err = v.choose(ctx, v.s, v.r.ID); err != nil {
			return nil, err
		}
		note = v.r.ID + " has changed meanwhile: this is what it is now, and nothing was done"
	}
}

// screen lets the user look at the result as it is now.
func (v *reviewing) screen(ctx context.Context, note string) (review.Outcome, error) {
	change, err := v.change(ctx)
	if err != nil {
		return review.Outcome{}, err
	}
	if err := v.s.MarkShown(v.r.ID, v.r.Commit.String()); err != nil {
		return review.Outcome{}, err
	}
	var unkept error
	r := review.Review{Change: change, Decisions: v.decisions(), Note: note, Ask: v.asker(ctx), Keep: func(d review.Decisions) { unkept = v.keep(d) }}
	out, err := r.Run(ctx, review.Terminal{In: v.stdin, Out: handed(v.stdout), Env: v.env, Colour: v.colours(v.stdout)})
	if err == nil && unkept != nil {
		v.ui.note("the marks and comments could not be kept: " + unkept.Error())
	}
	return out, err
}

// do carries out what was decided.
func (v *reviewing) do(ctx context.Context, out review.Outcome) (*continueCmd, error) {
	if now, err := v.s.Choose(ctx, v.r.ID); err != nil || now.Commit != v.r.Commit || now.Have != v.r.Have {
		return nil, errors.Join(err, patch.ErrChanged)
	}
	switch out.Action {
	case review.Reject:
		return nil, (&rejectCmd{}).reject(ctx, v.app, v.s, v.r)
	case review.Send:
		return &continueCmd{taskFlags: taskFlags{Attempts: 1}, Args: []string{v.r.ID, out.Text}}, nil
	}
	v.o = patch.ApplyOptions{}
	if err := v.withTests(out.Tests); err != nil {
		return nil, err
	}
	if out.Pieces != nil {
		part, err := v.s.Queue.Take(ctx, v.r, out.Pieces)
		if err != nil {
			return nil, err
		}
		v.o.Part = &part
	}
	v.sayBranch(ctx, v.s, v.r.ID)
	err := v.run(ctx)
	if err == nil && out.Pieces != nil {
		err = v.keep(out.Left)
	}
	return nil, err
}

// change gathers what is known of the result.
func (v *reviewing) change(ctx context.Context) (review.Change, error) {
	pieces, err := v.s.Queue.Pieces(ctx, v.r, nil)
	if err != nil {
		return review.Change{}, decided(v.r.ID, err)
	}
	o, err := v.s.Task(v.r.ID)
	c := review.Change{ID: v.r.ID, Task: v.r.Task, About: v.r.Agent + cut(o.Status), Blocked: o.Blocked, Files: filesOf(pieces)}
	if err != nil {
		c.Notes = append(c.Notes, "its record cannot be read, so there are no findings to show: "+err.Error())
	}
	if v.r.State == patch.Partial {
		c.Notes = append(c.Notes, "applied in part; this is what is left")
	}
	for _, f := range o.Findings {
		c.Findings = append(c.Findings, review.Finding{Rule: f.Rule, Severity: string(f.Severity), Path: f.Path, Line: f.Line, Message: f.Message})
	}
	reviewOn(&c, o.Review, v.r.Commit.String())
	testsOn(&c, o, v.r.Commit.String())
	if files, _, err := v.s.Keepable(v.r.ID); err == nil {
		c.Keepable = len(files)
	}
	return c, nil
}

// filesOf gathers pieces by their files.
func filesOf(pieces []patch.Piece) []review.File {
	var files []review.File
	for _, p := range pieces {
		if n := len(files); n == 0 || files[n-1].Path != p.Path {
			files = append(files, review.File{Path: p.Path, Change: p.Change})
		}
		last := &files[len(files)-1]
		last.Pieces = append(last.Pieces, p)
	}
	return files
}

// decisions are those that an earlier look at the same commit has left.
func (v *reviewing) decisions() review.Decisions {
	var kept keptReview
	data, err := v.s.Repo.ReadState(keptName(v.r.ID))
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Commit != v.r.Commit.String() {
		return review.Decisions{}
	}
	return kept.Decisions
}

// keptReview is what a review leaves in the state folder.
type keptReview struct {
	Commit    string           `json:"commit"`
	Decisions review.Decisions `json:"decisions"`
}

func keptName(id string) string { return "reviews/" + strings.ToLower(id) + ".json" }

func (v *reviewing) keep(d review.Decisions) error {
	data, err := json.Marshal(keptReview{v.r.Commit.String(), d})
	if err != nil {
		return err
	}
	return v.s.Repo.WriteState(keptName(v.r.ID), data)
}
