package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

type trustCmd struct {
	DryRun bool `short:"n" name:"dry-run" help:"Only show what trust would widen."`
	Yes    bool `short:"y" help:"Trust it without being asked."`
	Digest bool `xor:"act" help:"Print the digest of these files as they are now, for FTL_TRUST, and nothing else."`
	Forget bool `xor:"act" help:"Take trust in this repository back, in all its work trees."`
	JSON   bool `name:"json" help:"Print one JSON object."`
}

// Help implements kong.HelpProvider.
func (c *trustCmd) Help() string {
	return "Of .ftlconfig only settings that widen nothing count, and of .ftlinclude nothing, until you have read and trusted " +
		"them. Trust is in exactly these bytes and in this repository: after a change, and in a clone or a copy, they " +
		"have to be trusted again. In CI FTL_TRUST=DIGEST trusts the content of that digest for one command."
}

// wish is one thing that trust would widen, beside what counts now.
type wish struct {
	config.Ask
	Now    string `json:"now"`    // the value that counts
	Origin string `json:"origin"` // where that comes from
	Stays  bool   `json:"stays"`  // it is the user's own and wins
}

// proposal is what the user is asked to trust.
type proposal struct {
	Digest  string              `json:"digest"`
	Files   []string            `json:"files"`
	Widens  []wish              `json:"widens"`
	Before  bool                `json:"before"`  // something was trusted here before
	Changed []config.Difference `json:"changed"` // since then
	Trusted bool                `json:"trusted"` // what is here counts

	content trust.Content
}

// Run implements the verb.
func (c *trustCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	switch {
	case c.Digest:
		return c.digest(a)
	case c.Forget:
		return c.forget(ctx, a, s)
	}
	if err := config.Check(*a.brought); err != nil {
		return err
	}
	p := a.propose(s)
	if err := c.decide(ctx, a, s, &p); err != nil {
		return err
	}
	if c.JSON {
		return a.json(p)
	}
	return nil
}

func (c *trustCmd) digest(a *app) error {
	if err := config.Check(*a.brought); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.stdout, a.brought.Digest())
	return err
}

func (c *trustCmd) forget(ctx context.Context, a *app, s *session.Session) error {
	if c.DryRun {
		return &exitError{code: exitUsage, err: errors.New("--forget has no dry run")}
	}
	had, err := trust.Forget(ctx, s.Repo)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return a.json(map[string]bool{"forgotten": had})
	case had:
		fmt.Fprintln(a.stdout, "what this repository brings is not trusted any more")
	default:
		fmt.Fprintln(a.stdout, "nothing was trusted here")
	}
	return nil
}

// propose takes what was read when the command began: what is shown, and nothing
// that took its place meanwhile, is what will be trusted.
func (a *app) propose(s *session.Session) proposal {
	p := proposal{Digest: a.brought.Digest(), Files: []string{}, Widens: []wish{}, Changed: []config.Difference{}, content: *a.brought}
	for _, f := range a.brought.Files {
		p.Files = append(p.Files, f.Name)
	}
	p.Widens = append(p.Widens, wishes(s.Config)...)
	book := trust.Open(s.Repo, session.Project(s.Repo))
	if p.Trusted = book.Covers(p.content); p.Trusted {
		return p
	}
	before, ok := book.Before(s.Repo.Key())
	if p.Before = ok; ok {
		p.Changed = append(p.Changed, config.Compare(before, p.content)...)
	}
	return p
}

func wishes(c *config.Config) (all []wish) {
	now := map[string]config.Setting{}
	for _, set := range c.Settings() {
		now[set.Name] = set
	}
	asks, _ := c.Asks()
	for _, ask := range asks {
		w := wish{Ask: ask}
		if set, ok := now[ask.Setting]; ok {
			w.Now, w.Origin = set.Value, set.Origin
			w.Stays = !slices.Contains([]string{"built-in", config.File, ask.File}, set.Origin)
		}
		all = append(all, w)
	}
	return all
}

// decide shows the proposal and, where the user agrees, trusts it.
func (c *trustCmd) decide(ctx context.Context, a *app, s *session.Session, p *proposal) error {
	done := c.DryRun || p.Trusted || len(p.Widens) == 0
	if c.Yes || done {
		if !c.JSON {
			p.show(a.stdout)
		}
	} else if err := c.ask(a, p); err != nil {
		return err
	}
	if done {
		return nil
	}
	if err := p.take(ctx, s); err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintf(a.stdout, "trusted until %s changes: %s\n", thisOrThese(p.Files), clean(strings.Join(p.Files, ", ")))
	}
	if config.Read(s.Repo.Dir).Digest() != p.Digest {
		a.ui.note("the files have changed since they were shown: what is there now needs trust again: git ftl trust")
	}
	return nil
}

// ask gets the user's word for what it shows at the terminal, wherever stdout goes.
func (c *trustCmd) ask(a *app, p *proposal) error {
	if c.JSON || !isTerminal(a.stdin) || !isTerminal(a.stderr) {
		if !c.JSON {
			p.show(a.stdout)
		}
		return &exitError{code: exitUntrusted, err: fmt.Errorf("%s not trusted: there is no terminal to ask at", areThese(p.Files)),
			hints: []string{"git ftl trust -n shows what it would widen, git ftl trust --yes trusts it"}}
	}
	p.show(a.stderr)
	if !a.agrees(p) {
		return &exitError{code: exitFailed, err: errors.New("nothing was trusted")}
	}
	return nil
}

// take writes down that what was shown is trusted.
func (p *proposal) take(ctx context.Context, s *session.Session) error {
	project, err := s.Project(ctx)
	if err != nil {
		return err
	}
	p.Trusted = true
	return trust.Take(ctx, s.Repo, project, p.content)
}

func areThese(files []string) string {
	if len(files) == 1 {
		return files[0] + " is"
	}
	return strings.Join(files, " and ") + " are"
}

func thisOrThese(files []string) string {
	if len(files) == 1 {
		return "it"
	}
	return "one of them"
}

// agrees names the settings again: the list above can be longer than the screen.
func (a *app) agrees(p *proposal) bool {
	var names []string
	for _, w := range p.Widens {
		names = append(names, w.label())
	}
	fmt.Fprintf(a.stderr, "%s: trust %s (y/N)? ", plural(len(names), "thing"), clean(strings.Join(firstOf(slices.Compact(names)), ", ")))
	line, _ := bufio.NewReader(a.stdin).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(line), "y")
}

func (w wish) label() string {
	if w.Key == "" {
		return w.File
	}
	return name(w.Key)
}

// show writes a line for each thing that would widen, and for each change.
func (p *proposal) show(to io.Writer) {
	switch {
	case len(p.Widens) == 0:
		fmt.Fprintln(to, "nothing here needs trust")
		return
	case p.Trusted:
		fmt.Fprintln(to, "trusted:")
	default:
		fmt.Fprintln(to, "trust would widen what a task may do:")
	}
	for _, w := range p.Widens {
		w.show(to)
	}
	if len(p.Changed) == 0 {
		return
	}
	fmt.Fprintln(to, "changed since it was trusted:")
	for _, d := range p.Changed {
		showDifference(to, d)
	}
}

func (w wish) show(to io.Writer) {
	if w.Key == "" {
		fmt.Fprintf(to, "  %s: %s:\n", clean(w.File), w.means())
		for _, line := range w.Values {
			fmt.Fprintf(to, "    %s\n", quoted([]string{line}))
		}
		return
	}
	if !w.Effect && w.File != config.File {
		fmt.Fprintf(to, "  %s: %s  (without effect in a sandbox)\n", w.File, name(w.Key))
		return
	}
	fmt.Fprintf(to, "  %s: %s: %s", w.File, name(w.Key), quoted(w.Values))
	switch {
	case !w.Effect:
		fmt.Fprintf(to, "  (this version knows no such setting, a later one may)\n")
	case w.Stays:
		fmt.Fprintf(to, "  (your own stays: %s, %s)\n", clean(strconv.Quote(w.Now)), clean(w.Origin))
	case w.Origin == config.File || w.Origin == "" || w.Setting != w.Key:
		fmt.Fprintln(to)
	default:
		fmt.Fprintf(to, "  (now %s)\n", clean(strconv.Quote(w.Now)))
	}
}

// means says what the lines of a file are.
func (w wish) means() string {
	switch w.File {
	case trust.IncludeFile:
		return "files that stay outside otherwise come along"
	case trust.LintFile:
		return "findings that do not count"
	}
	return "an image is built from it, with this machine's network"
}

func showDifference(to io.Writer, d config.Difference) {
	what := clean(d.File)
	if d.Key != "" {
		what += ": " + name(d.Key)
	}
	if d.Old == nil && d.New == nil {
		fmt.Fprintf(to, "  ~ %s: only its form\n", what)
	}
	if d.Old != nil {
		fmt.Fprintf(to, "  - %s: %s\n", what, quoted(d.Old))
	}
	if d.New != nil {
		fmt.Fprintf(to, "  + %s: %s\n", what, quoted(d.New))
	}
}

// quoted writes values so that each is seen from its begin to its end.
func quoted(values []string) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = clean(strconv.Quote(v))
	}
	if len(all) == 0 {
		return "[]"
	}
	return strings.Join(all, " ")
}

// name is a key of the repository, quoted where it could be taken for more.
func name(key string) string {
	odd := strings.ContainsFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
	if odd || key == "" {
		return clean(strconv.Quote(key))
	}
	return key
}

// source reads the repository's own files, once for a command, and finds out
// whether the user has trusted them.
func (a *app) source(r *git.Repo) config.Source {
	if a.brought == nil {
		c := config.Read(r.Dir)
		a.brought = &c
	}
	src := config.Source{Env: a.env, Content: *a.brought}
	book := trust.Open(r, session.Project(r))
	digest := lookup(a.env, "FTL_TRUST")
	src.Trusted = book.Covers(src.Content) || digest == src.Content.Digest()
	src.Other = digest != "" && !src.Trusted
	if before, ok := book.Before(r.Key()); ok && !src.Trusted {
		src.Before = &before
	}
	return src
}

// untrustedError is for what a run cannot go on without.
func untrustedError(key string) error {
	return &exitError{code: exitUntrusted, err: fmt.Errorf("%s is set by %s alone, which is not trusted", key, config.File), hints: []string{"git ftl trust"}}
}
