package session

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
)

// conceal puts shadows in place of real values in what the user asks for, and in
// what the workspace tells of HEAD: a secret that somebody typed is no exception.
// A file to attach is not changed: it is an error that it holds one.
func (r *run) conceal() error {
	r.secret.values = valuesOf(r.secret.sought)
	named := map[string]bool{}
	r.task.Text, r.out.Task = r.hide(r.task.Text, named), r.hide(r.out.Task, named)
	r.task.Agent = r.told(r.task.Agent, named)
	if r.task.Replay != nil {
		again := r.told(*r.task.Replay, named)
		r.task.Replay = &again
	}
	if r.out.Argv != nil {
		r.out.Argv = r.task.Agent.Argv
	}
	r.hide(r.Config.Setup, named)
	if len(named) > 0 {
		r.note(fmt.Sprintf("the task holds the value of %s; the sandbox is told the shadow", strings.Join(slices.Sorted(maps.Keys(named)), ", ")))
	}
	r.snap.Branch, r.snap.Hide = r.hidden(r.snap.Branch), r.hidden
	return r.checkAttached()
}

// told is an agent whose task holds no real value.
func (r *run) told(a agent.Agent, named map[string]bool) agent.Agent {
	a.Argv, a.Stdin = slices.Clone(a.Argv), r.hide(a.Stdin, named)
	for i, word := range a.Argv {
		a.Argv[i] = r.hide(word, named)
	}
	return a
}

// hidden is a text with shadows in place of real values.
func (r *run) hidden(text string) string { return r.hide(text, map[string]bool{}) }

// hide is hidden, and names the secrets that were there.
func (r *run) hide(text string, named map[string]bool) string {
	for _, v := range r.secret.values {
		for _, n := range v.Needles {
			if form := n.Text.Reveal(); strings.Contains(text, form) {
				text, named[v.Name] = strings.ReplaceAll(text, form, r.secret.standIn(v.Name, form)), true
			}
		}
	}
	return text
}

// standIn is the shadow of a secret, or one made for a part or an encoding of it.
func (s secrets) standIn(name, form string) string {
	for _, c := range s.credentials {
		if c.Name == name && c.Real.Reveal() == form {
			return c.Shadow
		}
	}
	return s.mint.Shadow(name, form)
}

func (r *run) checkAttached() error {
	finder := r.secret.mint.Finder(r.secret.sought)
	for _, a := range r.task.Attach {
		f, err := os.Open(a.Path)
		if err != nil {
			return fmt.Errorf("attach %s: %w", a.Path, err)
		}
		names, err := finder.Find(io.MultiReader(strings.NewReader(a.Name+"\n"), f))
		_ = f.Close()
		if err == nil && len(names) > 0 {
			err = fmt.Errorf("it %s, which no sandbox gets", holding(names))
		}
		if err != nil {
			return fmt.Errorf("attach %s: %w", a.Path, err)
		}
	}
	return nil
}
