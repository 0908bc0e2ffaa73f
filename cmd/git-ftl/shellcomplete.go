package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/prompt"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// complete gives the ways to go on with the last word before the cursor: verbs,
// their flags, IDs, the paths of a result, and files for the words of a task.
func (sh *shell) complete(before string) (from int, all []prompt.Candidate) {
	from = strings.LastIndexAny(before, " \n\t") + 1
	word := before[from:]
	words := append(strings.Fields(before[:from]), word)
	for _, c := range sh.wordsFor(words) {
		if strings.HasPrefix(c.word, word) && !slices.ContainsFunc(all, func(p prompt.Candidate) bool { return p.Word == c.word }) {
			all = append(all, prompt.Candidate{Word: c.word, Help: c.help})
		}
	}
	return from, all
}

func (sh *shell) wordsFor(words []string) []candidate {
	ctx := context.Background()
	last := words[len(words)-1]
	verb := strings.TrimPrefix(words[0], "/")
	bare := slices.Contains(bareVerbs(), words[0])
	switch {
	case len(words) == 1 && strings.HasPrefix(last, "/"):
		return sh.verbNames("/")
	case len(words) == 1:
		return append(sh.shellVerbs(), sh.files(last)...)
	case words[0] == "agent" && len(words) == 2:
		return sh.agents(ctx)
	case words[0] == "help" && len(words) == 2:
		return append(sh.verbNames(""), sh.verbNames("/")...)
	case find(sh.verbs, verb) == nil || !bare && verb == words[0]:
		return sh.files(last)
	case slices.Contains(words[:len(words)-1], "--"):
		return sh.changed(ctx, words)
	}
	words[0] = verb
	return sh.candidates(ctx, place(sh.verbs, words))
}

func (sh *shell) shellVerbs() []candidate {
	all := []candidate{
		{"new", "A fresh task."}, {"agent", "Who does the tasks from now on."}, {"help", "What can be typed."}, {"exit", "Leave; everything stays."},
	}
	for _, name := range bareVerbs() {
		if node := find(sh.verbs, name); node != nil {
			all = append(all, candidate{name, node.Help})
		}
	}
	return all
}

func (sh *shell) verbNames(prefix string) (all []candidate) {
	for _, child := range sh.verbs.Children {
		if !child.Hidden {
			all = append(all, candidate{prefix + child.Name, child.Help})
		}
	}
	return all
}

func (sh *shell) agents(ctx context.Context) (all []candidate) {
	for _, name := range config.BuiltinAgents() {
		all = append(all, candidate{name, ""})
	}
	if s, err := sh.command().open(ctx); err == nil {
		for name, agent := range s.Config.Agents {
			all = append(all, candidate{name, agent.Command})
		}
	}
	return all
}

func (sh *shell) knowsAgent(name string) bool {
	return slices.ContainsFunc(sh.agents(context.Background()), func(c candidate) bool { return c.word == name })
}

// changed are the paths of the result that a verb is about, as they are seen from
// where the user stands.
func (sh *shell) changed(ctx context.Context, words []string) (all []candidate) {
	id := ""
	for _, word := range words[1 : len(words)-1] {
		if idShape.MatchString(word) {
			id = word
		}
	}
	o, err := sh.resultOf(ctx, id)
	if err != nil {
		return nil
	}
	for _, f := range o.Files {
		path, err := filepath.Rel(sh.dir, filepath.Join(sh.s.Repo.Dir, filepath.FromSlash(f.Path)))
		if err == nil {
			all = append(all, candidate{quoteArgs([]string{filepath.ToSlash(path)}), f.Change})
		}
	}
	return all
}

// resultOf asks no one.
func (sh *shell) resultOf(ctx context.Context, id string) (session.Outcome, error) {
	if id == "" {
		id = sh.current
	}
	r, err := sh.s.Choose(ctx, id)
	if err != nil {
		return session.Outcome{}, err
	}
	return sh.s.Task(r.ID)
}

// files are the entries of a folder that a word names, but for git's own.
func (sh *shell) files(word string) (all []candidate) {
	dir, _ := filepath.Split(filepath.FromSlash(word))
	if word == "" {
		return nil
	}
	entries, err := os.ReadDir(sh.path(dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := filepath.ToSlash(dir) + e.Name()
		if e.IsDir() {
			name += "/"
		}
		if e.Name() != ".git" && clean(name) == name {
			all = append(all, candidate{name, ""})
		}
	}
	return all
}
