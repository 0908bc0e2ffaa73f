package patch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

func TestStore(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n2\n3\n")
	l.write("run", "x\n")
	l.write("dir/old", "x\n")
	l.write("kind", "k\n")
	base := l.snapshot()
	r := l.store(base, file("a", "1\ntwo\n3"), executable("run", "x\n"), gone("dir/old"), file("dir", "now a file\n"),
		link("kind", "a"), file("new/deep/é\n", "x\r\n"), file("bin", "\x00\x01"), file("empty", ""))
	if got := l.git("ls-tree", "-r", r.Commit.String()); !strings.Contains(got, "120000 blob") || !strings.Contains(got, "100755 blob") {
		t.Errorf("tree is %s", got)
	}
	l.git("fsck", "--strict", "--no-dangling")
	for p, want := range map[string]string{"a": "1\ntwo\n3", "dir": "now a file\n", "kind": "a", "bin": "\x00\x01", "empty": ""} {
		out, err := l.repo.Output(t.Context(), git.Call{Args: []string{"cat-file", "blob", r.Commit.String() + ":" + p}})
		if err != nil || string(out) != want {
			t.Errorf("%s is %q, %v; want %q", p, out, err, want)
		}
	}
	for ref, want := range map[string]plumbing.Hash{
		"refs/ftl/results/" + r.ID: r.Commit, "refs/ftl/pending": r.Commit, "refs/ftl/base": base.Commit, r.Commit.String() + "^": base.Commit,
	} {
		if got := l.git("rev-parse", ref); got != want.String() {
			t.Errorf("%s is %s, want %s", ref, got, want)
		}
	}
	want := "claude-code <claude-code@git-ftl.localhost> User <user@example.com>\nDo it\n\nFtl-Task: do\\nit\nFtl-Agent: claude-code\nFtl-Id: " + r.ID
	if got := l.git("log", "-1", "--format=%an <%ae> %cn <%ce>%n%B", r.Commit.String()); strings.TrimSpace(got) != want {
		t.Errorf("commit is %q, want %q", got, want)
	}
	if got := l.git("interpret-trailers", "--parse", os.DevNull); got != "" {
		t.Errorf("trailers %q", got)
	}
	found, err := l.q.Find(t.Context(), r.ID)
	l.must(err)
	if d := cmp.Diff(r, found, cmp.Transformer("unix", time.Time.UnixNano)); d != "" {
		t.Error(d)
	}
}

func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "x\n")
	l.write("Readme", "x\n")
	l.write("dir/f", "x\n")
	l.write("caf\u00e9", "x\n")
	l.write("keep/.env", "x\n")
	l.must(os.Symlink("dir", l.path("link")))
	l.must(os.Symlink("deep/er", l.path("down")))
	l.write("deep/er/f", "x\n")
	sub := l.path("sub")
	for _, args := range [][]string{{"init", "-q", sub}, {"-C", sub, "-c", "user.name=u", "-c", "user.email=u@e", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = gitEnv(t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	base := l.snapshot()
	base.LeftOut = []string{"secret.env", "private/"}
	tests := []struct {
		name     string
		sections []string
		path     string
		why      string
	}{
		{"other old blob", []string{sectionOf("a", reg, reg, "q\n", "y\n")}, "a", "not in the base"},
		{"context that does not fit", []string{strings.Replace(sectionOf("a", reg, reg, "x\n", "y\n"), "-x", "-z", 1)}, "a", "does not fit its base"},
		{"other new blob", []string{strings.Replace(sectionOf("a", reg, reg, "x\n", "y\n"), "+y", "+z", 1)}, "a", "index line"},
		{"added over a file", []string{added("a", "y\n")}, "a", "the base has it"},
		{"added over a folder", []string{added("dir", "y\n")}, "dir/f", "vanish"},
		{"modified nothing", []string{sectionOf("b", reg, reg, "x\n", "y\n")}, "b", "does not have it"},
		{"deleted nothing", []string{sectionOf("b", reg, 0, "x\n", "")}, "b", "does not have it"},
		{"deleted other content", []string{sectionOf("a", reg, 0, "q\n", "")}, "a", "not in the base"},
		{"deleted a folder", []string{sectionOf("dir", reg, 0, "x\n", "")}, "dir", "does not have it"},
		{"other old mode", []string{sectionOf("a", exe, reg, "x\n", "x\n")}, "a", "has the mode"},
		{"link to an env file", []string{sectionOf("z", 0, symlink, "", ".env")}, "z", "env file"},
		{"link to an env file in another case", []string{sectionOf("z", 0, symlink, "", "dir/../.ENV.Local")}, "z", "env file"},
		{"link through an env folder", []string{sectionOf("z", 0, symlink, "", ".env/x")}, "z", "env file"},
		{"hostile .gitmodules", []string{added(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = x\n\tupdate = !touch x\n")}, ".gitmodules", "gitmodulesUpdate"},
		{"hostile .gitmodules below", []string{added("dir/.gitmodules", "[submodule \"../x\"]\n\tpath = x\n\turl = -x\n")}, "dir/.gitmodules", "gitmodules"},
		{"endless .gitattributes", []string{added(".gitattributes", strings.Repeat("x", 3000)+" text\n")}, ".gitattributes", "gitattributes"},
		{"below a symlink", []string{added("link/new", "x\n")}, "link/new", "below the symlink"},
		{"through a symlink", []string{sectionOf("link/f", reg, reg, "x\n", "y\n")}, "link/f", "below the symlink"},
		{"below a file", []string{added("a/b", "x\n")}, "a/b", "no folder"},
		{"below a submodule", []string{added("sub/b", "x\n")}, "sub/b", "no folder"},
		{"submodule deleted as a file", []string{sectionOf("sub", reg, 0, "x\n", "")}, "sub", "has the mode"},
		{"case of a file of the base", []string{added("README", "x\n")}, "README", "collides"},
		{"case of a folder of the base", []string{added("DIR/g", "x\n")}, "DIR/g", "collides"},
		{"normal form of the base", []string{added("cafe\u0301", "x\n")}, "cafe\u0301", "collides"},
		{"link out of the tree", []string{sectionOf("dir/up", 0, sym, "", "../../x")}, "dir/up", "leaves the tree"},
		{"link out through a link", []string{sectionOf("up", 0, sym, "", "link/../../x")}, "up", "leaves the tree"},
		{"link out through a patched link", []string{sectionOf("p", 0, sym, "", "dir"), sectionOf("q", 0, sym, "", "p/../../x")}, "q", "leaves the tree"},
		{"link to a link to itself", []string{sectionOf("p", 0, sym, "", "q/x"), sectionOf("q", 0, sym, "", "p/x")}, "p", "too many links"},
		{"link into dot git through a link", []string{sectionOf("p", 0, sym, "", "down/../../.git")}, "p", ".git"},
		{"link to a file left out", []string{sectionOf("p", 0, sym, "", "SECRET.env")}, "p", "left out"},
		{"link below a folder left out", []string{sectionOf("p", 0, sym, "", "link/../private/key")}, "p", "left out"},
	}
	before := l.git("for-each-ref")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := l.storeBytes(base, seal(tt.sections...))
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) {
				t.Fatalf("got %v, want *UnsafeError", err)
			}
			if unsafe.Path != tt.path || !strings.Contains(unsafe.Why, tt.why) {
				t.Errorf("got %q: %q, want %q: …%s…", unsafe.Path, unsafe.Why, tt.path, tt.why)
			}
		})
	}
	if after := l.git("for-each-ref"); after != before {
		t.Errorf("refs moved:\n%s", after)
	}
	if left, _ := filepath.Glob(filepath.Join(l.repo.State, "*", "*.json")); len(left) > 0 {
		t.Errorf("records remain: %v", left)
	}
}

// Links that stay within the tree are the agent's to make.
func TestStoreTakesSafeLinks(t *testing.T) {
	l := newLab(t)
	l.write("dir/f", "x\n")
	l.must(os.Symlink("dir", l.path("link")))
	base := l.snapshot()
	r := l.store(base, link("dir/self", "../dir/f"), link("dangling", "no/such/file"), link("through", "link/../link/f"), link("up", "dir/.."),
		link("env", "dir/.env.example"), link("envy", ".envrc.d"))
	if got := len(r.Files); got != 6 {
		t.Errorf("%d files", got)
	}
}

func TestStoreTakesCaseRename(t *testing.T) {
	l := newLab(t)
	l.write("Readme", "x\n")
	r := l.store(l.snapshot(), gone("Readme"), file("README", "x\n"))
	if got := l.git("ls-tree", "--name-only", r.Commit.String()); got != "README" {
		t.Errorf("tree has %q", got)
	}
}

func TestFindAndList(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	put := func(id string, when time.Time) {
		p, err := parse(l.patch(base, file("a", id)))
		l.must(err)
		_, err = l.q.Store(t.Context(), base, p, Meta{ID: id, Agent: "a", Task: "t", When: when})
		l.must(err)
	}
	at := time.Now().Truncate(time.Second)
	put("kkkk", at)
	put("kkll", at.Add(time.Second))
	put("kkllm", at.Add(2*time.Second))
	put("kklz", at) // of the same moment as the first one
	all, err := l.q.List(t.Context())
	l.must(err)
	var ids []string
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	waiting, err := l.q.Waiting(t.Context())
	l.must(err)
	for _, got := range [][]string{ids, waiting} {
		if d := cmp.Diff([]string{"kkllm", "kkll", "kkkk", "kklz"}, got); d != "" {
			t.Error(d)
		}
	}
	for prefix, want := range map[string]string{"kkk": "kkkk", "kkll": "kkll", "kkllm": "kkllm"} {
		if r, err := l.q.Find(t.Context(), prefix); err != nil || r.ID != want {
			t.Errorf("%s: got %s, %v", prefix, r.ID, err)
		}
	}
	var many *AmbiguousError
	if _, err := l.q.Find(t.Context(), "kk"); !errors.As(err, &many) || len(many.IDs) != 4 {
		t.Errorf("got %v", err)
	}
	for _, prefix := range []string{"", "zz"} {
		if _, err := l.q.Find(t.Context(), prefix); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: got %v", prefix, err)
		}
	}
	p, err := parse(l.patch(base, file("a", "y")))
	l.must(err)
	for _, id := range []string{"kkkk", "abcd", "kkk", "../x"} {
		if _, err := l.q.Store(t.Context(), base, p, Meta{ID: id, Agent: "a", When: at}); err == nil {
			t.Errorf("%s was taken as an ID", id)
		}
	}
}

// A mirror clone brings refs, but no decision.
func TestForgedResultIsForeign(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	mine := l.store(base, file("a", "mine\n"))
	forged := l.git("commit-tree", "-p", base.Commit.String(), "-m", "\x1b[2Jforged", base.Tree.String())
	l.git("update-ref", "refs/ftl/results/zzzz", forged)
	l.git("update-ref", "refs/ftl/results/a.b", l.git("rev-parse", base.Commit.String()+"^{tree}"))
	moved := l.store(base, file("a", "moved\n"))
	l.git("update-ref", "refs/ftl/results/"+moved.ID, forged)
	states := map[string]State{}
	all, err := l.q.List(t.Context())
	l.must(err)
	for _, r := range all {
		states[r.ID] = r.State
		if strings.Contains(r.Subject, "\x1b") {
			t.Errorf("subject %q", r.Subject)
		}
	}
	want := map[string]State{mine.ID: Undecided, "zzzz": Foreign, "a.b": Foreign, moved.ID: Foreign}
	if d := cmp.Diff(want, states); d != "" {
		t.Error(d)
	}
	open, err := l.q.Undecided(t.Context())
	l.must(err)
	if len(open) != 1 || open[0].ID != mine.ID {
		t.Errorf("undecided: %v", open)
	}
	if _, err := l.q.Apply(t.Context(), "zzzz", ApplyOptions{Now: l.now()}); !errors.Is(err, ErrForeign) {
		t.Errorf("apply: %v", err)
	}
	if err := l.q.Reject(t.Context(), "zzzz"); !errors.Is(err, ErrForeign) {
		t.Errorf("reject: %v", err)
	}
}

func TestReject(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	first := l.store(base, file("a", "1\n"))
	second := l.store(base, file("a", "2\n"))
	l.must(l.q.Reject(t.Context(), first.ID))
	if got := l.git("rev-parse", "refs/ftl/pending"); got != second.Commit.String() {
		t.Errorf("pending is %s", got)
	}
	l.must(l.q.Reject(t.Context(), second.ID))
	if got := l.git("for-each-ref", "refs/ftl/pending", "refs/ftl/base"); got != "" {
		t.Errorf("remains: %s", got)
	}
	if r, err := l.q.Find(t.Context(), second.ID); err != nil || r.State != Rejected || r.Decided.IsZero() {
		t.Errorf("got %v %v", r, err)
	}
}

func TestNote(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	one, two := l.store(base, file("a", "1\n")), l.store(base, file("a", "2\n"))
	l.must(l.q.Note(t.Context(), one.Commit, []byte(`{"n":0}`)))
	l.must(l.q.Note(t.Context(), two.Commit, []byte(`{"n":2}`)))
	l.must(l.q.Note(t.Context(), one.Commit, []byte(`{"n":1}`)))
	for _, tt := range []struct{ commit, want string }{{one.Commit.String(), `{"n":1}`}, {two.Commit.String(), `{"n":2}`}} {
		if got := l.git("notes", "--ref=ftl", "show", tt.commit); got != tt.want {
			t.Errorf("note is %q, want %q", got, tt.want)
		}
	}
	if got := l.git("rev-list", "--count", "refs/notes/ftl"); got != "1" {
		t.Errorf("%s commits", got)
	}
}

func TestLinkedWorktreeHasItsOwnPending(t *testing.T) {
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	l.git("update-ref", "refs/heads/main", base.Commit.String())
	dir := filepath.Join(t.TempDir(), "wt")
	l.git("worktree", "add", "-q", "--detach", dir, base.Commit.String())
	w := labAt(t, dir, false)
	r := w.store(base, file("a", "y\n"))
	if got := l.git("for-each-ref", "refs/ftl/pending"); got != "" {
		t.Errorf("main work tree has %s", got)
	}
	if got := w.git("rev-parse", "refs/worktree/ftl/pending"); got != r.Commit.String() {
		t.Errorf("pending is %s", got)
	}
	if open, err := l.q.Undecided(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("main work tree: %v %v", open, err)
	}
	w.apply(r.ID)
	if w.read("a") != "y\n" || l.read("a") != "x\n" {
		t.Errorf("wrote %q and %q", w.read("a"), l.read("a"))
	}
	w.undo()
	if w.read("a") != "x\n" {
		t.Errorf("undo left %q", w.read("a"))
	}
}

// No ref is lost beside a running pack-refs.
func TestRefsSurvivePackRefs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "x\n")
	base := l.snapshot()
	other := plumbing.NewHash(l.git("commit-tree", "-m", "other", base.Tree.String()))
	const transactions, each = 100, 50
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			_ = l.repo.Do(context.WithoutCancel(ctx), git.Call{Args: []string{"pack-refs", "--all"}})
		}
	})
	for i := range transactions {
		var moves []git.RefUpdate
		for k := range each {
			u := git.RefUpdate{Name: fmt.Sprintf("refs/ftl/test/%d", k), New: base.Commit}
			if i%2 == 1 {
				u.New, u.Old = other, base.Commit
			} else if i > 0 {
				u.Old = other
			}
			moves = append(moves, u)
		}
		if err := l.repo.UpdateRefs(t.Context(), "test", moves...); err != nil {
			stop()
			wg.Wait()
			t.Fatalf("transaction %d: %v", i, err)
		}
	}
	stop()
	wg.Wait()
	refs, err := l.repo.Refs(t.Context(), "refs/ftl/test/")
	l.must(err)
	for name, h := range refs {
		if h != other {
			t.Errorf("%s is %s", name, h)
		}
	}
	if len(refs) != each {
		t.Errorf("%d refs", len(refs))
	}
	l.git("fsck", "--no-dangling")
}

// TestStoreTakesOrdinaryGitFiles: what git fsck has nothing against passes, and
// leaves nothing behind.
func TestStoreTakesOrdinaryGitFiles(t *testing.T) {
	l := newLab(t)
	l.write("dir/a", "1\n")
	base := l.snapshot()
	r := l.store(base, file(".gitattributes", "*.bin binary\n"), file("dir/.gitignore", "*.o\n"),
		file(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = https://example.com/x\n"))
	l.git("fsck", "--strict", "--no-dangling")
	if left, err := filepath.Glob(l.repo.Path("fsck-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	l.apply(r.ID)
}

// TestStoreAfterCrash: a record whose refs never moved does not keep its task
// from being stored, while a result that is there is never written over.
func TestStoreAfterCrash(t *testing.T) {
	l := newLab(t)
	l.write("a", "1\n")
	base := l.snapshot()
	r := l.store(base, file("a", "2\n"))
	l.git("update-ref", "-d", "refs/ftl/results/"+r.ID)
	p, err := parse(l.patch(base, file("a", "3\n")))
	l.must(err)
	again, err := l.q.Store(t.Context(), base, p, Meta{ID: r.ID, Task: "again", Agent: "x", Subject: "again", When: r.Created})
	l.must(err)
	if got := l.git("show", "refs/ftl/results/"+r.ID+":a"); got != "3" {
		t.Errorf("stored %q", got)
	}
	if _, err := l.q.Store(t.Context(), base, p, Meta{ID: r.ID, Task: "third", Agent: "x", Subject: "third", When: r.Created}); err == nil {
		t.Error("a result was written over")
	}
	if kept, err := l.q.Find(t.Context(), r.ID); err != nil || kept.Task != "again" || kept.Commit != again.Commit {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestStatIsGits: the counts of lines are those of git, not of the hunks that
// came.
func TestStatIsGits(t *testing.T) {
	l := newLab(t)
	l.write("a", strings.Repeat("same\n", 50)+"1\n")
	l.write("gone", "1\n2\n")
	base := l.snapshot()
	// The sandbox says that every line of a changed.
	r := l.store(base, file("a", strings.Repeat("same\n", 50)+"2\n"), gone("gone"), file("bin", "\x00\x01"), link("l", "a"))
	want := []FileStat{
		{"a", Modified, 1, 1, false}, {"bin", Added, 0, 0, true}, {"gone", Deleted, 0, 2, false}, {"l", Added, 1, 0, false},
	}
	if diff := cmp.Diff(want, r.Files); diff != "" {
		t.Error(diff)
	}
}
