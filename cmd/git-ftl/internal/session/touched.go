package session

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// touched lists the project's own tests, and the settings of them, that a change
// edits or deletes. A test that it adds is none of the project's yet; a setting that
// it adds may switch off those that are.
func touched(files []File) []string {
	var all []string
	for _, f := range files {
		counts := language.IsTest(f.Path) || language.IsTestSetting(f.Path)
		if f.Change == string(patch.Added) {
			counts = language.IsTestSwitch(f.Path)
		}
		if counts {
			all = append(all, f.Path)
		}
	}
	return all
}

// touched adds to those the files whose tests stand among other code, where the change
// leaves those of them other than they were.
func (r *run) touched(ctx context.Context, result patch.Result) []string {
	all := touched(r.out.Files)
	objs := r.Repo.Objects(ctx)
	defer objs.Close()
	tests := func(tree plumbing.Hash, file string) string {
		text, _ := readFile(objs, tree, file)
		return language.InlineTests(text)
	}
	for _, f := range r.out.Files {
		if !language.HasInlineTests(f.Path) || f.Change == string(patch.Added) || slices.Contains(all, f.Path) {
			continue
		}
		if was := tests(result.BaseTree, f.Path); was != "" && was != tests(result.Tree, f.Path) {
			all = append(all, f.Path)
		}
	}
	slices.Sort(all)
	return all
}

// readFile gives the text of a file of a tree, as much of it as a file of source has.
func readFile(objs *git.Objects, tree plumbing.Hash, file string) (text string, err error) {
	e, err := objs.Lookup(tree, file)
	if err != nil || e.Mode != filemode.Regular && e.Mode != filemode.Executable {
		return "", err
	}
	err = objs.Stream(e.Hash, plumbing.BlobObject, func(_ int64, r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, maxManifest))
		text = string(data)
		return err
	})
	return text, err
}

// Touching says what a change does to the project's own tests, a line each, with so
// many names in each; nothing where it leaves them alone. The names are the sandbox's.
func (o Outcome) Touching(most int) []string {
	change := map[string]string{}
	for _, f := range o.Files {
		change[f.Path] = f.Change
	}
	var tests, settings [3][]string // edited, deleted, added
	for _, p := range o.Tests.Touched {
		of := &settings
		did := 0
		switch change[p] {
		case string(patch.Deleted):
			did = 1
		case string(patch.Added):
			did = 2
		}
		if did < 2 && (language.IsTest(p) || language.HasInlineTests(p)) {
			of = &tests
		}
		of[did] = append(of[did], p)
	}
	var lines []string
	for _, did := range []int{1, 0, 2} {
		verb := []string{"edits", "deletes", "adds"}[did]
		if n := len(tests[did]); n > 0 {
			lines = append(lines, fmt.Sprintf("the change %s %d of the project's own tests: %s", verb, n, someOf(tests[did], most)))
		}
		if len(settings[did]) > 0 {
			lines = append(lines, fmt.Sprintf("the change %s what can say which tests run: %s", verb, someOf(settings[did], most)))
		}
	}
	return lines
}

// someOf keeps the first names of a list, and of each what is enough to know it by.
func someOf(names []string, most int) string {
	const long = 120
	var some []string
	for _, name := range names[:min(len(names), most)] {
		if r := []rune(name); len(r) > long {
			name = "…" + string(r[len(r)-long:])
		}
		some = append(some, name)
	}
	if more := len(names) - most; more > 0 {
		some = append(some, fmt.Sprintf("%d more", more))
	}
	return strings.Join(some, ", ")
}

// testWords tells a model of tests: what the change does to the project's own first,
// then what came of them on a commit.
func (o Outcome) testWords(commit string) string {
	const names = 20
	lines := o.Touching(names)
	if t := o.Tests; t.Of == commit && t.Status != TestsSkipped {
		lines = append(append(lines, t.Status+": "+t.Detail), t.words()...)
	}
	return strings.Join(lines, "\n")
}

// words are the verdicts, the project's own first, those that do not pass with what
// they printed.
func (t Tests) words() (lines []string) {
	all := t.Written
	if t.Own != nil {
		all = slices.Concat(t.Own.Failed, all)
	}
	room := 12 << 10 // bytes of outputs
	for _, v := range all {
		line := v.Status + " " + v.Path + " " + v.Name
		if v.Proves {
			line += ", which failed before the change"
		}
		lines = append(lines, strings.TrimRight(line+": "+v.Detail, ": "))
		if v.Status != TestsPassed && v.Output != "" && room > 0 {
			output := v.Output[max(len(v.Output)-room, 0):]
			room -= len(output)
			lines = append(lines, output)
		}
	}
	return lines
}
