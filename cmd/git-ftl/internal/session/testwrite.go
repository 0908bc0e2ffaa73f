package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/language"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/llm"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/testrun"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func (s *Session) keepWritten(id string, w Written) error {
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return s.Repo.WriteState(writtenName(id), data)
}

// maxWritten bounds the files of tests that follow-ups add up to.
const maxWritten = 30

// write has new tests written, beside those that earlier turns left.
func (b *baseline) write(ctx context.Context) {
	r := b.task
	earlier, err := r.Written(r.out.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.why = firstLine(err.Error())
	}
	b.files = earlier.Files
	if r.Config.Tester == "" && len(b.files) == 0 {
		return
	}
	tree, err := r.listTree(ctx, r.startTree)
	if err != nil {
		b.why = firstLine(err.Error())
		return
	}
	defer tree.close()
	kit, err := testrun.NewKit(r.projects(tree), tree.paths, tree.text)
	if err == nil && b.wanted() {
		err = b.ask(ctx, tree, kit)
	}
	switch {
	case ctx.Err() != nil: // nobody waits for it any more
		b.why = context.Cause(ctx).Error()
	case err != nil:
		b.why = firstLine(err.Error())
	case len(b.files) > maxWritten:
		b.files = b.files[len(b.files)-maxWritten:]
	}
	if kit.Language != "" {
		b.runs = kit.Runs(b.files)
	}
}

// wanted reports whether a model is to write tests now.
func (b *baseline) wanted() bool {
	t := b.task.task
	return b.task.Config.Tester != "" && !t.mends && (!t.again || t.write || len(b.files) == 0)
}

// ask has the model write tests.
func (b *baseline) ask(ctx context.Context, tree *listedTree, kit testrun.Kit) error {
	r := b.task
	m, err := r.model(r.Config.Tester, r.secret.kept)
	if err != nil {
		return err
	}
	hide := withheld(valuesOf(r.secret.sought))
	in := llm.TestInput{
		Task: hide(r.wholeTask()), Map: hide(llm.RepoMap(append(b.paths(), tree.paths...), tree.beginning)),
		Language: kit.Language, Runner: kit.Runner, Style: kit.Style, Names: kit.Names, Check: kit.Check,
		Exists: func(file string) bool {
			return tree.has(file) || slices.ContainsFunc(b.files, func(f testrun.File) bool { return strings.EqualFold(f.Path, file) })
		},
	}
	for _, f := range tree.examples(kit.Language, r.out.asked()) {
		in.Examples = append(in.Examples, llm.TestFile{Path: f.Path, Content: hide(f.Content)})
	}
	start := r.Now()
	files, reply, err := m.WriteTests(ctx, in)
	r.tell(Event{Kind: EventStage, Stage: "write", Millis: millis(r.Now().Sub(start))})
	if reply.Model != "" {
		b.writer = &reply
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		b.files = append(b.files, testrun.File{Path: f.Path, Content: f.Content})
	}
	return nil
}

// paths are those of the tests that there are.
func (b *baseline) paths() (all []string) {
	for _, f := range b.files {
		all = append(all, f.Path)
	}
	return all
}

// wholeTask is what was asked for, with what was asked for before.
func (r *run) wholeTask() string {
	var before []string
	for _, t := range r.out.Turns {
		if !t.Mends {
			before = append(before, strings.TrimSpace(t.Task)+"\n\n")
		}
	}
	if r.out.Mends && len(before) > 0 {
		before = before[:len(before)-1] // which is asked for still
	}
	if len(before) == 0 {
		return r.out.asked()
	}
	var b strings.Builder
	b.WriteString("This was done before, and is tested already:\n\n")
	b.WriteString(strings.Join(before, ""))
	fmt.Fprintf(&b, "This is to be done now, and to be tested:\n\n%s", r.out.asked())
	return b.String()
}

// ownCommand is the project's own test command: the one that is set, else, where
// tests are wanted at all, the one that is found.
func (r *run) ownCommand(ctx context.Context) string {
	if r.Config.Test != "" {
		return r.Config.Test
	}
	tree, err := r.listTree(ctx, r.snap.Tree)
	if err != nil {
		return ""
	}
	defer tree.close()
	return language.Test(language.Detect(tree.paths, tree.text, r.Config.Languages))
}

// projects are those of a tree, that of the set language first.
func (r *run) projects(tree *listedTree) []language.Project {
	all := language.Detect(tree.paths, tree.text, r.Config.Languages)
	set := r.Config.Language
	if set == "" {
		return all
	}
	slices.SortStableFunc(all, func(a, b language.Project) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[a.Language == set], rank[b.Language == set])
	})
	if len(all) == 0 || all[0].Language != set {
		all = append([]language.Project{{Language: set}}, all...)
	}
	return all
}

// Bounds of what is read of a tree, in bytes.
const (
	maxManifest  = 1 << 20
	maxBeginning = 64 << 10
	maxSample    = 8 << 10
)

// listedTree is the regular files of a tree.
type listedTree struct {
	objs  *git.Objects
	paths []string // sorted
	blobs map[string]plumbing.Hash
}

// listTree lists a tree. The caller closes it.
func (s *Session) listTree(ctx context.Context, tree plumbing.Hash) (*listedTree, error) {
	t := &listedTree{objs: s.Repo.Objects(ctx), blobs: map[string]plumbing.Hash{}}
	all, err := t.objs.Diff(plumbing.ZeroHash, tree)
	if err != nil {
		t.close()
		return nil, fmt.Errorf("list the tree: %w", err)
	}
	for _, c := range all {
		if c.New.Mode == filemode.Regular || c.New.Mode == filemode.Executable {
			t.paths = append(t.paths, c.Path)
			t.blobs[c.Path] = c.New.Hash
		}
	}
	return t, nil
}

func (t *listedTree) close() { _ = t.objs.Close() }

func (t *listedTree) has(file string) bool { return t.blobs[file] != plumbing.ZeroHash }

// read gives the first bytes of a file.
func (t *listedTree) read(file string, most int64) (text []byte, err error) {
	if !t.has(file) {
		return nil, fs.ErrNotExist
	}
	err = t.objs.Stream(t.blobs[file], plumbing.BlobObject, func(_ int64, r io.Reader) error {
		text, err = io.ReadAll(io.LimitReader(r, most))
		return err
	})
	return text, err
}

func (t *listedTree) beginning(file string) ([]byte, error) { return t.read(file, maxBeginning) }

// text is a manifest, "" where it cannot be had.
func (t *listedTree) text(file string) string {
	text, _ := t.read(file, maxManifest)
	return string(text)
}

// examples are a few of the project's own tests, by what the task has in common with
// their paths.
func (t *listedTree) examples(lang, task string) []testrun.File {
	const most = 3
	var names []string
	for _, p := range t.paths {
		if language.Tests(lang, p) {
			names = append(names, p)
		}
	}
	task = strings.ToLower(task)
	near := func(p string) (n int) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(path.Base(p)), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if len(word) > 3 && word != "test" && strings.Contains(task, word) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(near(b), near(a)) })
	var all []testrun.File
	for _, p := range names[:min(len(names), most)] {
		if text, err := t.read(p, maxSample); err == nil {
			all = append(all, testrun.File{Path: p, Content: string(text)})
		}
	}
	return all
}
