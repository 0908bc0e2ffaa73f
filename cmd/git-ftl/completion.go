package main

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/container"
)

// completions are the scripts. They ask completeCmd for candidates, so that they
// never fall behind.
//
//go:embed completion.bash completion.zsh completion.fish
var completions embed.FS

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help implements kong.HelpProvider.
func (c *completionCmd) Help() string {
	return `bash: git ftl completion bash > ~/.local/share/bash-completion/completions/git-ftl, and source that file in ~/.bashrc, below git's own completion.

zsh: git ftl completion zsh > ~/.zfunc/_git-ftl, with fpath=(~/.zfunc $fpath) in ~/.zshrc above compinit.

fish: git ftl completion fish > ~/.config/fish/conf.d/git-ftl.fish.`
}

// Run implements the verb.
func (c *completionCmd) Run(a *app) error {
	text, err := completions.ReadFile("completion." + c.Shell)
	if err == nil {
		_, err = a.stdout.Write(text)
	}
	return err
}

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" name:"words"`
}

// Run implements the verb for the scripts: the words after "git ftl", the last of
// which is to be completed, give lines of candidate, tab, description. Where it
// knows nothing, it says nothing, and the shell falls back to files.
func (c *completeCmd) Run(a *app) error {
	verbs, err := a.verbs()
	if err != nil {
		return err
	}
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	ctx, cancel := a.context()
	defer cancel()
	at := place(verbs, words)
	for _, line := range a.candidates(ctx, at) {
		// A shell has a use of its own for other characters, and a clone can bring
		// refs with any.
		if strings.HasPrefix(line.word, at.word) && quoteArgs([]string{line.word}) == line.word {
			fmt.Fprintf(a.stdout, "%s%s\t%s\n", at.before, line.word, clean(strings.ReplaceAll(line.help, "\t", " ")))
		}
	}
	return nil
}

// spot is where on the command line a candidate is wanted.
type spot struct {
	node   *kong.Node
	flag   *kong.Flag // whose value it is, or nil
	args   int        // positional arguments before it
	raw    bool       // behind "--", or a command of its own: nothing is known
	word   string     // what is there of it
	before string     // what stands before it in the same word
}

// place walks the words down to the last one.
func place(root *kong.Node, words []string) spot {
	at := spot{node: root}
	if len(words) == 0 {
		return at
	}
	last := len(words) - 1
	for _, word := range words[:last] {
		at.step(word)
	}
	if at.word = words[last]; at.word == "=" && at.flag != nil { // bash splits there
		at.word = ""
	}
	if name, value, ok := strings.Cut(at.word, "="); ok && at.flag == nil && strings.HasPrefix(name, "--") {
		at.flag, at.before, at.word = at.find(name), name+"=", value
	}
	return at
}

// step goes over one whole word.
func (s *spot) step(word string) {
	switch {
	case s.raw || word == "=" && s.flag != nil:
	case s.flag != nil:
		s.flag = nil
	case word == "--":
		s.raw = true
	case strings.HasPrefix(word, "-"):
		if f := s.find(word); f != nil && !f.IsBool() && !f.IsCounter() {
			s.flag = f
		}
	default:
		s.argument(word)
	}
}

func (s *spot) argument(word string) {
	for _, child := range s.node.Children {
		if s.args == 0 && (child.Name == word || slices.Contains(child.Aliases, word)) {
			s.node = child
			return
		}
	}
	s.args++
	s.raw = slices.ContainsFunc(s.node.Positional, func(v *kong.Positional) bool { return v.Passthrough })
}

// find gives the flag that a word is, nil where it is none or has its value.
func (s *spot) find(word string) *kong.Flag {
	for n := s.node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// candidate is a word and what it means.
type candidate struct{ word, help string }

func (a *app) candidates(ctx context.Context, at spot) []candidate {
	switch {
	case at.raw:
		return nil
	case at.flag != nil:
		return a.valuesOf(ctx, at)
	case strings.HasPrefix(at.word, "-"):
		return at.flags()
	}
	var all []candidate
	for _, child := range at.node.Children {
		if !child.Hidden && at.args == 0 {
			all = append(all, candidate{child.Name, child.Help})
		}
	}
	if at.args < len(at.node.Positional) {
		all = append(all, a.argumentsOf(ctx, at, at.node.Positional[at.args])...)
	} else if n := len(at.node.Positional); n > 0 && at.node.Positional[n-1].IsCumulative() {
		all = append(all, a.argumentsOf(ctx, at, at.node.Positional[n-1])...)
	}
	return all
}

func (s *spot) flags() (all []candidate) {
	for n := s.node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if !f.Hidden && (n == s.node || f.Name == "help") && !slices.ContainsFunc(all, func(c candidate) bool { return c.word == "--"+f.Name }) {
				all = append(all, candidate{"--" + f.Name, f.Help})
			}
		}
	}
	return all
}

// valuesOf are the values that a flag can have.
func (a *app) valuesOf(ctx context.Context, at spot) (all []candidate) {
	all = enum(at.flag.Value)
	switch at.flag.Name {
	case "agent":
		for _, name := range config.BuiltinAgents() {
			all = append(all, candidate{name, ""})
		}
		if s, err := a.open(ctx); err == nil {
			for name, agent := range s.Config.Agents {
				all = append(all, candidate{name, agent.Command})
			}
		}
	case "name":
		all = append(all, a.sandboxNames(ctx)...)
	}
	return all
}

func enum(v *kong.Value) (all []candidate) {
	for _, word := range v.EnumSlice() {
		if word != "" {
			all = append(all, candidate{word, ""})
		}
	}
	return all
}

// argumentsOf are the values that a positional argument can have.
func (a *app) argumentsOf(ctx context.Context, at spot, arg *kong.Positional) (all []candidate) {
	all = enum(arg)
	of := ""
	if at.node.Parent != nil {
		of = at.node.Parent.Name
	}
	switch {
	case of == "snapshots" && strings.EqualFold(arg.Name, "id"):
		return append(all, a.snapshotIDs(ctx)...)
	case of == "sandbox" && strings.EqualFold(arg.Name, "name"):
		return append(all, a.sandboxNames(ctx)...)
	case strings.EqualFold(arg.Name, "id"), strings.EqualFold(arg.Name, "ids"), at.node.Name == "diff" && at.args == 0:
		return append(all, a.taskIDs(ctx)...)
	}
	return all
}

// taskIDs are those of git ftl list.
func (a *app) taskIDs(ctx context.Context) (all []candidate) {
	s, err := a.open(ctx)
	if err != nil {
		return nil
	}
	lines, err := tasks(ctx, s)
	if err != nil {
		return nil
	}
	for _, l := range lines {
		all = append(all, candidate{l.ID, strings.TrimSpace(l.State + "  " + session.Subject(l.Task))})
	}
	return all
}

func (a *app) snapshotIDs(ctx context.Context) (all []candidate) {
	s, err := a.open(ctx)
	if err != nil {
		return nil
	}
	taken, err := s.Snapshots(ctx, true)
	if err != nil {
		return nil
	}
	for _, t := range taken {
		all = append(all, candidate{t.ID, when(t.Created) + "  " + session.Subject(t.Task)})
	}
	return all
}

// sandboxNames asks no engine.
func (a *app) sandboxNames(ctx context.Context) (all []candidate) {
	s, err := a.open(ctx)
	if err != nil {
		return nil
	}
	pool := &container.Pool{Dir: s.Repo.State, Now: s.Now}
	boxes, err := pool.Recorded()
	if err != nil {
		return nil
	}
	for _, b := range boxes {
		all = append(all, candidate{b.Name, "last used " + when(b.LastUsed)})
	}
	return all
}
