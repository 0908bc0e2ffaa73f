// Package hooks puts git-ftl into a repository's git hooks, takes it out again, and
// knows what each hook asks to be looked at.
//
// A hook that was there before is kept: it runs first, as git would run it, and comes
// back byte for byte. Only folders inside the repository's git dir are written to; a
// hook that is not git-ftl's, or was edited, is never overwritten. What is looked at
// comes from the object store and from the index that git names, never from the
// working tree, and no lock of git's is taken.
package hooks

import (
	"context"
	"slices"
)

// RefTransaction is the hook that fires for every change of a ref, also for those
// that skip the others. It costs a process for each, so it has to be asked for.
const RefTransaction = "reference-transaction"

// Default are the hooks that are installed where none is named.
func Default() []string {
	return []string{"pre-commit", "pre-merge-commit", "pre-applypatch", "pre-push"}
}

// Names are all hooks that git-ftl knows.
func Names() []string { return append(Default(), RefTransaction) }

// known reports whether git-ftl has something to do in a hook.
func known(name string) bool { return slices.Contains(Names(), name) }

// Check looks at what a change adds. from and to are tree-ish: from is "" for the
// empty tree; both are "" for what the index that git has named to the hook changes
// of HEAD.
type Check func(ctx context.Context, from, to string) (Report, error)

// Report is what was looked at and what came of it.
type Report struct {
	Blocked  bool
	Files    int      // that were read
	Bytes    int64    // of them
	Skipped  []string // what was not looked at and why, for a person
	Findings int
	Lines    []string // a line for each finding, unescaped; may be fewer
}

// add counts what another check saw.
func (r *Report) add(more Report) {
	r.Blocked = r.Blocked || more.Blocked
	r.Files += more.Files
	r.Bytes += more.Bytes
	r.Findings += more.Findings
	r.Lines = append(r.Lines, more.Lines...)
	for _, s := range more.Skipped {
		if !slices.Contains(r.Skipped, s) {
			r.Skipped = append(r.Skipped, s)
		}
	}
}
