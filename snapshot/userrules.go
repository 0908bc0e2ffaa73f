package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// userRules is what .ftlignore and .ftlinclude say, by git's own reading of
// their patterns.
type userRules struct {
	ignore   bool     // there is an .ftlignore file
	inside   []string // of the private index, matched by .ftlignore
	hidden   pathSet  // every path matched by .ftlignore
	included pathSet  // every path matched by .ftlinclude
	brought  []string // those of included that are not in the private index
}

// ignoredExtras returns the extras that git ignores now, as "git add" would.
func (st *staging) ignoredExtras(ctx context.Context) (pathSet, error) {
	var there []string
	for p := range st.index.mem.Extras {
		// git fails on a path behind a symbolic link.
		if _, err := st.lstat(p); err == nil {
			there = append(there, p)
		}
	}
	return st.index.ignored(ctx, there)
}

func setOf(paths []string) pathSet {
	set := pathSet{}
	for _, p := range paths {
		set[p] = true
	}
	return set
}

// readRules asks git only where files with rules exist. One that git ignores
// below the top folder is not seen.
func (st *staging) readRules(ctx context.Context) (err error) {
	st.rules = userRules{hidden: pathSet{}, included: pathSet{}}
	ignore, include := st.findRules()
	switch {
	case st.opt.Include && include:
		err = st.include(ctx, perFolder(includeFile))
	case !st.opt.Include && st.opt.Lines != "":
		err = st.includeLines(ctx)
	}
	if err != nil {
		return err
	}
	if st.rules.ignore = ignore; !ignore {
		return nil
	}
	if st.rules.inside, err = st.matched(ctx, perFolder(ignoreFile), "-c"); err != nil {
		return err
	}
	outside, err := st.hiddenOf(ctx, maps.Keys(st.outside()))
	st.rules.hidden = setOf(slices.Concat(outside, st.rules.inside))
	return err
}

// include takes what some rules match.
func (st *staging) include(ctx context.Context, rules string) (err error) {
	var inside []string
	if inside, err = st.matched(ctx, rules, "-c"); err != nil {
		return err
	}
	st.rules.brought, err = st.matched(ctx, rules, "-o")
	st.rules.included = setOf(slices.Concat(inside, st.rules.brought))
	return err
}

// includeLines takes the lines that the caller was given: those on disk may be
// others by now.
func (st *staging) includeLines(ctx context.Context) error {
	name := st.index.path + ".lines"
	if err := os.WriteFile(name, []byte(st.opt.Lines), 0o600); err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	defer func() { _ = remove(name) }()
	return st.include(ctx, "--exclude-from="+name)
}

// perFolder makes git read rules from files of this name, each for its folder.
func perFolder(name string) string { return "--exclude-per-directory=" + name }

func (st *staging) findRules() (ignore, include bool) {
	seen := st.index.mem.Rules
	for _, p := range st.status.others {
		if isRules(p) {
			seen[p] = true
		}
	}
	seen[ignoreFile], seen[includeFile] = true, true
	for p := range seen {
		if _, err := st.lstat(p); err != nil {
			delete(seen, p)
			continue
		}
		ignore = ignore || path.Base(p) == ignoreFile
		include = include || path.Base(p) == includeFile
	}
	return ignore, include
}

// matched lists what rules, an option of git ls-files, match of the files in the
// private index (-c) or of the others on disk (-o).
func (st *staging) matched(ctx context.Context, rules, which string) ([]string, error) {
	out, err := st.index.repo.Output(ctx, st.index.call("ls-files", "-z", which, "-i", rules))
	return splitNUL(string(out)), err
}

// outside is what may enter the private index.
func (st *staging) outside() pathSet {
	candidates := setOf(slices.Concat(st.rules.brought, st.status.others))
	for p := range st.index.mem.Absent {
		if info, err := st.lstat(p); err == nil && !info.IsDir() {
			candidates[p] = true
		}
	}
	return candidates
}

// hiddenOf asks .ftlignore about files that are not in the private index, by way
// of an index that holds nothing but their names.
func (st *staging) hiddenOf(ctx context.Context, paths iter.Seq[string]) ([]string, error) {
	var in bytes.Buffer
	for p := range paths {
		if !strings.HasSuffix(p, "/") && !refusedByGit(p) {
			in.WriteString("100644 1111111111111111111111111111111111111111 0\t" + p + "\x00")
		}
	}
	if in.Len() == 0 {
		return nil, nil
	}
	scratch := st.index.path + ".scratch"
	if err := errors.Join(remove(scratch), remove(scratch+".lock")); err != nil {
		return nil, err
	}
	defer func() { _ = remove(scratch) }()
	fill := st.index.call("update-index", "-z", "--index-info")
	fill.Index, fill.Stdin = scratch, &in
	if err := st.index.repo.Do(ctx, fill); err != nil {
		return nil, err
	}
	ask := st.index.call("ls-files", "-z", "-c", "-i", perFolder(ignoreFile))
	ask.Index = scratch
	out, err := st.index.repo.Output(ctx, ask)
	return splitNUL(string(out)), err
}
