package patch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

func lines(n int, edit map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := edit[i]; ok {
			b.WriteString(s + "\n")
		} else {
			b.WriteString("line " + string(rune('a'+i%26)) + string(rune('a'+i/26)) + "\n")
		}
	}
	return b.String()
}

func TestApplyWritesAndUndoRestores(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", lines(30, nil))
	l.write("private", "p\n")
	l.must(os.Chmod(l.path("private"), 0o600))
	l.write("dir/only", "x\n")
	l.write("tofolder", "x\n")
	l.write("deep/er/f", "x\n")
	l.must(os.Chmod(l.path("deep/er"), 0o750))
	l.must(os.Symlink("a", l.path("kind")))
	l.write("untouched", "u\n")
	old := time.Now().Add(-time.Hour)
	for _, p := range []string{"a", "private", "untouched", "dir/only", "deep/er", "deep", "dir", "."} {
		l.must(os.Chtimes(l.path(p), old, old))
	}
	base := l.snapshot()
	l.git("update-ref", "refs/heads/main", base.Commit.String())
	l.git("read-tree", base.Commit.String())
	l.write("a", lines(30, map[int]string{2: "mine"}))
	r := l.store(base, file("a", lines(30, map[int]string{28: "agent"})), executable("private", "p\nq\n"), gone("dir/only"), file("dir", "f\n"),
		gone("tofolder"), file("tofolder/sub/x", "x\n"), gone("deep/er/f"), file("kind", "plain\n"), link("new/link", "../a"), executable("new/run", "#!\n"))
	before, index, refs := l.disk(), readFile(t, filepath.Join(l.repo.GitDir, "index")), l.git("for-each-ref", "refs/heads")

	done := l.apply(r.ID)
	if got, want := l.read("a"), lines(30, map[int]string{2: "mine", 28: "agent"}); got != want {
		t.Errorf("a is %q", got)
	}
	wantFiles := []Written{
		{Path: "a", Change: Modified, Merged: true}, {Path: "deep/er/f", Change: Deleted}, {Path: "dir", Change: Added}, {Path: "dir/only", Change: Deleted}, {Path: "kind", Change: Type},
		{Path: "new/link", Change: Added}, {Path: "new/run", Change: Added}, {Path: "private", Change: Modified}, {Path: "tofolder", Change: Deleted}, {Path: "tofolder/sub/x", Change: Added},
	}
	if d := cmp.Diff(wantFiles, done.Files); d != "" {
		t.Error(d)
	}
	for p, want := range map[string]fs.FileMode{"private": 0o700, "new/run": 0o755, "dir": 0o644, "new": 0o755 | fs.ModeDir, "kind": 0o644} {
		if fi, err := os.Lstat(l.path(p)); err != nil || fi.Mode() != want {
			t.Errorf("%s has mode %v, want %v", p, fi.Mode(), want)
		}
	}
	if _, err := os.Lstat(l.path("deep")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("emptied folder: %v", err)
	}
	if got := l.disk()["untouched"]; got != before["untouched"] {
		t.Errorf("untouched is %s, was %s", got, before["untouched"])
	}
	found, err := l.q.Find(t.Context(), r.ID)
	l.must(err)
	if pending := l.git("rev-parse", "refs/ftl/pending"); found.State != Whole || pending != r.Commit.String() {
		t.Errorf("state %s, pending %s", found.State, pending)
	}
	if open, err := l.q.Undecided(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("undecided: %v %v", open, err)
	}
	if _, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()}); !errors.Is(err, ErrDecided) {
		t.Errorf("second apply: %v", err)
	}

	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Errorf("after undo:\n%s", d)
	}
	if got := readFile(t, filepath.Join(l.repo.GitDir, "index")); got != index {
		t.Error("the index changed")
	}
	if got := l.git("for-each-ref", "refs/heads"); got != refs {
		t.Errorf("branches moved: %s", got)
	}
	if got := l.git("rev-parse", "refs/ftl/pending"); got != r.Commit.String() {
		t.Errorf("pending is %s", got)
	}
	if found, err = l.q.Find(t.Context(), r.ID); err != nil || found.State != Undone {
		t.Errorf("state %s, %v", found.State, err)
	}
	if _, err := l.q.Undo(t.Context(), UndoOptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("second undo: %v", err)
	}
	l.apply(r.ID)
	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Errorf("after the second undo:\n%s", d)
	}
	l.git("fsck", "--no-dangling")
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// refused applies, expects an error and that nothing changed.
func (l *lab) refused(id string, o ApplyOptions) error {
	l.t.Helper()
	before, refs := l.disk(), l.git("for-each-ref")
	_, err := l.q.Apply(l.t.Context(), id, o)
	if err == nil {
		l.t.Fatal("it was applied")
	}
	if d := cmp.Diff(before, l.disk()); d != "" {
		l.t.Errorf("refused (%v), but written:\n%s", err, d)
	}
	if now := l.git("for-each-ref"); now != refs {
		l.t.Errorf("refused, but refs moved:\n%s", now)
	}
	return err
}

func (l *lab) conflicts(id string, o ApplyOptions) []Conflict {
	l.t.Helper()
	err := l.refused(id, o)
	var c *ConflictError
	if !errors.As(err, &c) {
		l.t.Fatalf("got %v, want *ConflictError", err)
	}
	return c.Paths
}

func TestConflictNamesLines(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("main", lines(80, nil))
	l.write("gone", "x\n")
	l.write("cut", lines(20, nil))
	base := l.snapshot()
	mine := map[int]string{1: "top\ntop2"}
	for i := 40; i <= 58; i++ {
		mine[i] = "mine"
	}
	mine[70] = "seventy"
	l.write("main", lines(80, mine))
	l.must(os.Remove(l.path("gone")))
	l.write("cut", strings.Replace(lines(20, nil), lines(20, nil)[9*8:10*8], "", 1))
	its := map[int]string{}
	for i := 40; i <= 58; i++ {
		its[i] = "its"
	}
	its[70] = "siebzig"
	r := l.store(base, file("main", lines(80, its)), file("gone", "y\n"), file("cut", lines(20, map[int]string{10: "edited"})))
	got := l.conflicts(r.ID, ApplyOptions{Now: l.now()})
	want := []Conflict{
		{Path: "cut", Lines: "9", Why: "contents"}, {Path: "gone", Why: "modify/delete"}, {Path: "main", Lines: "41-59, 71", Why: "contents"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What the snapshot does not have is never overwritten.
func TestCleanMergeNeverOverwrites(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		setup func(l *lab)
		edit  change
		path  string
	}{
		{"ignored file", func(l *lab) { l.write("build/out", "mine\n") }, file("build/out", "its\n"), "build/out"},
		{"ignored file in another case", func(l *lab) { l.write("Build.log", "mine\n") }, file("build.log", "its\n"), "build.log"},
		{"ignored folder in another case", func(l *lab) { l.write("Cache/x", "mine\n") }, file("cache/y", "its\n"), "cache/y"},
		{"ignored file where a folder goes", func(l *lab) { l.write("build", "mine\n") }, file("build/out", "its\n"), "build/out"},
		{"folder with an ignored file where a file goes", func(l *lab) { l.write("a.d/build/x", "mine\n") }, file("a.d", "its\n"), "a.d"},
		{"ignored link where a folder goes", func(l *lab) { l.must(os.Symlink(l.t.TempDir(), l.path("build"))) }, file("build/out", "its\n"), "build/out"},
		{"assume unchanged", func(l *lab) {
			l.git("update-index", "--add", "a")
			l.git("update-index", "--assume-unchanged", "a")
		}, file("a", "its\n"), "a"},
		{"deleted after the snapshot", func(l *lab) {}, file("a", "its\n"), "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			l.write(".gitignore", "build\nBuild.log\nCache\n")
			l.write("a", "x\n")
			base := l.snapshot()
			r := l.store(base, tt.edit)
			now := l.now()
			tt.setup(l)
			switch tt.name {
			case "assume unchanged":
				l.write("a", "hidden\n")
			case "deleted after the snapshot":
				l.must(os.Remove(l.path("a")))
			default:
				now = l.now()
			}
			got := l.conflicts(r.ID, ApplyOptions{Now: now})
			if len(got) != 1 || got[0].Path != tt.path {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestLeftOutPathsAreNeverTouched(t *testing.T) {
	l := newLab(t)
	l.write(".env", "KEY=real\n")
	l.write("conf/private/x", "real\n")
	l.write("a", "x\n")
	whole := l.stage()
	without := func() plumbing.Hash {
		tree, err := l.objs.Rewrite(l.stage(), []git.Change{{Path: ".env"}, {Path: "conf/private/x"}})
		l.must(err)
		return tree
	}
	base := Base{Tree: without()}
	base.Commit = plumbing.NewHash(l.git("commit-tree", "-m", "s", base.Tree.String()))
	out := []string{".env", "conf/private/"}
	r := l.store(base, file(".env", "KEY=agent\n"), file("a", "y\n"))
	got := l.conflicts(r.ID, ApplyOptions{Now: Current{Tree: without(), LeftOut: out}})
	if len(got) != 1 || got[0].Path != ".env" {
		t.Errorf("got %v", got)
	}
	r = l.store(base, link("way", "conf/private/x"))
	var unsafe *UnsafeError
	if err := l.refused(r.ID, ApplyOptions{Now: Current{Tree: without(), LeftOut: out}}); !errors.As(err, &unsafe) || unsafe.Path != "way" {
		t.Errorf("got %v", err)
	}
	// A base that has the file, left out only since: not taken for a deletion.
	base.Tree = whole
	base.Commit = plumbing.NewHash(l.git("commit-tree", "-m", "s", whole.String()))
	r = l.store(base, file("a", "z\n"))
	_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: Current{Tree: without(), LeftOut: out}})
	l.must(err)
	if l.read(".env") != "KEY=real\n" || l.read("conf/private/x") != "real\n" || l.read("a") != "z\n" {
		t.Errorf("wrote %v", l.disk())
	}
}

// Attributes of the hostile tree choose no filter and no driver.
func TestAttributesOfThePatchRunNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ran := filepath.Join(t.TempDir(), "ran")
	l.git("config", "filter.evil.smudge", "touch "+ran+"; cat")
	l.git("config", "filter.evil.clean", "cat")
	l.git("config", "filter.evil.required", "true")
	l.git("config", "merge.evil.driver", "touch "+ran+"; true")
	l.write("a", lines(20, nil))
	l.write("b", "x\n")
	base := l.snapshot()
	r := l.store(base, file(".gitattributes", "* filter=evil merge=evil\n"), file("a", lines(20, map[int]string{3: "its"})), file("new", "n\n"))
	l.write("a", lines(20, map[int]string{15: "mine"}))
	l.apply(r.ID)
	if got := l.read("a"); got != lines(20, map[int]string{3: "its", 15: "mine"}) {
		t.Errorf("a is %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("a filter of the patch's attributes ran")
	}
	// Even once they are applied, the driver they choose stays off; and a patch
	// that alters attributes again runs no filter.
	base = l.snapshot()
	l.must(os.RemoveAll(ran))
	r = l.store(base, file("sub/.GITattributes", "x\n"), file("a", lines(20, map[int]string{3: "again", 15: "mine"})))
	l.write("a", lines(20, map[int]string{3: "other", 15: "mine"}))
	before := dirless(l.disk()) // a driver's git makes temporary files at the top for a moment
	var conflict *ConflictError
	if _, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()}); !errors.As(err, &conflict) || cmp.Diff(before, dirless(l.disk())) != "" {
		t.Errorf("got %v", err)
	}
	l.write("a", lines(20, map[int]string{3: "its", 15: "mine"}))
	l.apply(r.ID)
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter or merge driver ran")
	}
}

func TestFiltersOfTheUserApply(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.git("config", "filter.up.smudge", "tr a-z A-Z")
	l.git("config", "filter.up.clean", "tr A-Z a-z")
	l.write(".gitattributes", "*.up filter=up\n crlf eol=crlf\n*.txt text eol=crlf\n")
	l.write("x.up", "HELLO\n")
	l.write("y.txt", "a\r\nb\r\n")
	l.write(" z.up", "HELLO\n")
	base := l.snapshot()
	before := l.disk()
	r := l.store(base, file("x.up", "world\n"), file("y.txt", "a\nc\n"), file("new\n.up", "new"), file(" z.up", "world\n"), file(" q.txt", "q\n"))
	l.apply(r.ID)
	for p, want := range map[string]string{"x.up": "WORLD\n", "y.txt": "a\r\nc\r\n", "new\n.up": "NEW", " z.up": "WORLD\n", " q.txt": "q\r\n"} {
		if got := l.read(p); got != want {
			t.Errorf("%q is %q, want %q", p, got, want)
		}
	}
	if got := l.stage(); got != r.Tree {
		t.Errorf("staged again it is %s, want %s", got, r.Tree)
	}
	l.undo()
	if d := cmp.Diff(dirless(before), dirless(l.disk())); d != "" {
		t.Error(d)
	}
}

// dirless drops folders, whose times a staging git may change.
func dirless(all map[string]string) map[string]string {
	for p, s := range all {
		if strings.HasPrefix(s, "d") {
			delete(all, p)
		}
	}
	return all
}

// No link is followed, not even one that the work tree got later.
func TestApplyFollowsNoLink(t *testing.T) {
	l := newLab(t)
	l.write("dir/f", "x\n")
	l.write("sub/g", "x\n")
	base := l.snapshot()
	r := l.store(base, file("dir/f", "y\n"), file("dir/new", "n\n"), file("sub/h", "n\n"))
	now := l.now()
	outside := t.TempDir()
	l.must(os.WriteFile(filepath.Join(outside, "f"), []byte("x\n"), 0o644))
	l.must(os.RemoveAll(l.path("dir")))
	l.must(os.Symlink(outside, l.path("dir")))
	got := l.conflicts(r.ID, ApplyOptions{Now: now})
	if len(got) != 2 || got[0].Path != "dir/f" || got[1].Path != "dir/new" {
		t.Errorf("got %v", got)
	}
	if names, _ := os.ReadDir(outside); len(names) != 1 || readFile(t, filepath.Join(outside, "f")) != "x\n" {
		t.Errorf("outside has %v", names)
	}
	// Swapped at the last moment: rolled back as a whole.
	l.must(os.Remove(l.path("dir")))
	l.write("dir/f", "x\n")
	l.q.hook = func(step string) error {
		if step == "rename dir/new" {
			l.must(os.Rename(l.path("dir"), l.path("dir.away")))
			l.must(os.Symlink(outside, l.path("dir")))
		}
		return nil
	}
	_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()})
	l.q.hook = func(string) error { return nil }
	if err != nil && readFile(t, filepath.Join(outside, "f")) != "x\n" {
		t.Error("a link was followed")
	}
	if names, _ := os.ReadDir(outside); len(names) != 1 {
		t.Errorf("outside has %v", names)
	}
}

// An edit between the check and the write stops the apply, which takes back the
// rest and leaves the edit.
func TestEditWhileApplyingRollsBack(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	l.write("b", "x\n")
	l.write("c", "x\n")
	base := l.snapshot()
	before := dirless(l.disk())
	r := l.store(base, file("a", "y\n"), file("b", "y\n"), gone("c"), file("d/e", "new\n"))
	l.q.hook = func(step string) error {
		if step == "rename a" {
			l.write("b", "edited\n")
		}
		return nil
	}
	_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now()})
	l.q.hook = func(string) error { return nil }
	var c *ConflictError
	if !errors.As(err, &c) || len(c.Paths) != 1 || c.Paths[0].Path != "b" {
		t.Fatalf("got %v", err)
	}
	if l.read("b") != "edited\n" {
		t.Errorf("the edit is gone: %q", l.read("b"))
	}
	after := dirless(l.disk())
	delete(before, "b")
	delete(after, "b")
	if d := cmp.Diff(before, after); d != "" {
		t.Error(d)
	}
	if said, err := l.q.Recover(t.Context()); said != "" || err != nil {
		t.Errorf("a journal is left: %s %v", said, err)
	}
	if got := l.git("for-each-ref", "refs/ftl/applied"); got != "" {
		t.Errorf("remains %s", got)
	}
}

func TestPartialApply(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "x\n")
	l.write("b", "x\n")
	l.write("d/c", "x\n")
	base := l.snapshot()
	first := l.disk()
	r := l.store(base, file("a", "y\n"), file("b", "y\n"), file("d/c", "y\n"))
	if err := l.refused(r.ID, ApplyOptions{Now: l.now(), Paths: []string{"nothing"}}); !errors.Is(err, ErrPaths) {
		t.Errorf("got %v", err)
	}
	done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Paths: []string{"a"}})
	l.must(err)
	if d := cmp.Diff([]string{"b", "d/c"}, done.Left); d != "" || done.Result.State != Partial || l.read("b") != "x\n" {
		t.Errorf("left %v, state %s", done.Left, done.Result.State)
	}
	if got := l.git("rev-parse", "refs/ftl/pending"); got != r.Commit.String() {
		t.Errorf("pending is %s", got)
	}
	done, err = l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Paths: []string{"d"}})
	l.must(err)
	if d := cmp.Diff([]string{"b"}, done.Left); d != "" {
		t.Error(d)
	}
	done = l.apply(r.ID)
	if len(done.Left) != 0 || len(done.Files) != 1 || done.Result.State != Whole {
		t.Errorf("got %+v", done)
	}
	for _, want := range []State{Partial, Partial, Undone} {
		if got := l.undo().Result.State; got != want {
			t.Errorf("state %s, want %s", got, want)
		}
	}
	if d := cmp.Diff(first, l.disk()); d != "" {
		t.Error(d)
	}
	if got := l.git("for-each-ref", "refs/ftl/applied"); got != "" {
		t.Errorf("remains %s", got)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	r := l.store(l.snapshot(), file("a", "y\n"), file("b", "y\n"))
	before, refs := l.disk(), l.git("for-each-ref")
	done, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), DryRun: true})
	l.must(err)
	if len(done.Files) != 2 || !done.DryRun {
		t.Errorf("got %+v", done)
	}
	if d := cmp.Diff(before, l.disk()); d != "" || l.git("for-each-ref") != refs {
		t.Error("a dry run wrote", d)
	}
	l.apply(r.ID)
	before = l.disk()
	if _, err := l.q.Undo(t.Context(), UndoOptions{DryRun: true}); err != nil || cmp.Diff(before, l.disk()) != "" {
		t.Errorf("a dry undo wrote, %v", err)
	}
}

func TestFolderRenameOfTheUserMovesNewFiles(t *testing.T) {
	l := newLab(t)
	for _, n := range []string{"a", "b", "c"} {
		l.write("old/"+n, lines(20, map[int]string{1: n}))
	}
	base := l.snapshot()
	r := l.store(base, file("old/new", lines(20, nil)), file("old/a", lines(20, map[int]string{1: "a", 9: "its"})))
	l.must(os.Rename(l.path("old"), l.path("moved")))
	l.apply(r.ID)
	if l.read("moved/new") != lines(20, nil) || l.read("moved/a") != lines(20, map[int]string{1: "a", 9: "its"}) {
		t.Errorf("got %v", l.disk())
	}
}

// The merged tree passes the gate again: two safe halves can be unsafe.
func TestMergedTreePassesTheGate(t *testing.T) {
	l := newLab(t)
	l.write("x/y/f", "x\n")
	base := l.snapshot()
	r := l.store(base, link("x/y/way", "../../f"))
	l.must(os.Symlink("x/y", l.path("short")))
	l.must(os.Rename(l.path("x/y"), l.path("x.y")))
	l.must(os.Remove(l.path("short")))
	var unsafe *UnsafeError
	err := l.refused(r.ID, ApplyOptions{Now: l.now()})
	if !errors.As(err, &unsafe) || !strings.Contains(unsafe.Why, "leaves the tree") {
		t.Errorf("got %v", err)
	}
	r = l.store(base, file("Readme", "its\n"))
	l.write("README", "mine\n")
	err = l.refused(r.ID, ApplyOptions{Now: l.now()})
	if !errors.As(err, &unsafe) || unsafe.Path != "Readme" {
		t.Errorf("got %v", err)
	}
}
