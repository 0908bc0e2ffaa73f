package patch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

// committed makes a first commit of what the work tree has.
func (l *lab) committed() {
	l.t.Helper()
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "first")
}

func (l *lab) applyWith(id string, o ApplyOptions) Applied {
	l.t.Helper()
	o.Now = l.now()
	done, err := l.q.Apply(l.t.Context(), id, o)
	l.must(err)
	return done
}

// entries is the user's index, with what ls-files tells of it.
func (l *lab) entries() string {
	l.t.Helper()
	return l.git("ls-files", "-s", "-v") + "\n" + l.git("diff", "--cached", "--name-status") + "\n" + l.git("diff", "--name-status")
}

func numbered(changed map[int]string) string {
	var b strings.Builder
	for i := 1; i <= 40; i++ {
		if s, ok := changed[i]; ok {
			b.WriteString(s + "\n")
		} else {
			b.WriteString("line " + string(rune('a'+i%26)) + "\n")
		}
	}
	return b.String()
}

// staged is a repository with one file that has a staged and an unstaged edit,
// and a result that changes it too.
func stagedLab(t *testing.T) (*lab, Result) {
	l := newLab(t)
	l.write("f", numbered(nil))
	l.write("gone", "x\n")
	l.write("other", "x\n")
	l.committed()
	l.write("f", numbered(map[int]string{5: "staged"}))
	l.write("new", "staged\n")
	l.git("add", "f", "new")
	l.write("f", numbered(map[int]string{5: "staged", 15: "dirty"}))
	l.write("other", "dirty\n")
	l.write("untracked", "u\n")
	r := l.store(l.snapshot(), file("f", numbered(map[int]string{5: "staged", 15: "dirty", 25: "agent"})),
		gone("gone"), executable("added/x", "agent\n"), file("new", "staged\nagent\n"))
	return l, r
}

func TestIndexGetsTheChangeAlone(t *testing.T) {
	l, r := stagedLab(t)
	before, disk := l.entries(), l.disk()
	head := l.git("rev-parse", "HEAD")
	l.applyWith(r.ID, ApplyOptions{Index: true})
	if got := l.git("show", ":f") + "\n"; got != numbered(map[int]string{5: "staged", 25: "agent"}) {
		t.Errorf("index has %s", got)
	}
	if got := l.read("f"); got != numbered(map[int]string{5: "staged", 15: "dirty", 25: "agent"}) {
		t.Errorf("work tree has %s", got)
	}
	want := "A\tadded/x\nM\tf\nD\tgone\nA\tnew"
	if got := l.git("diff", "--cached", "--name-status"); got != want {
		t.Errorf("staged:\n%s", got)
	}
	if got := l.git("diff", "--name-status"); got != "M\tf\nM\tother" {
		t.Errorf("unstaged:\n%s", got)
	}
	if got := l.git("rev-parse", "HEAD"); got != head {
		t.Error("HEAD moved")
	}
	// The index knows the files, so that a status need not read them.
	if out := l.git("ls-files", "--debug", "added/x"); !strings.Contains(out, "size: 6\t") {
		t.Errorf("not refreshed: %s", out)
	}
	l.undo()
	if d := cmp.Diff(before, l.entries()); d != "" {
		t.Errorf("index after undo:\n%s", d)
	}
	if d := cmp.Diff(disk, l.disk()); d != "" {
		t.Errorf("files after undo:\n%s", d)
	}
}

func TestPlainApplyLeavesTheIndexFile(t *testing.T) {
	l, r := stagedLab(t)
	before := readFile(t, filepath.Join(l.repo.GitDir, "index"))
	l.apply(r.ID)
	l.undo()
	if readFile(t, filepath.Join(l.repo.GitDir, "index")) != before {
		t.Error("the index was written")
	}
}

func TestIndexConflictsWriteNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(l *lab)
		o     ApplyOptions
		want  Conflict
	}{
		{"staged line, index", func(l *lab) {
			l.write("f", numbered(map[int]string{25: "staged"}))
			l.git("add", "f")
			l.write("f", numbered(nil))
		}, ApplyOptions{Index: true}, Conflict{Path: "f", Lines: "25", Why: "contents", Against: AgainstIndex}},
		{"untracked file, index", func(*lab) {}, ApplyOptions{Index: true, Paths: []string{"untracked"}},
			Conflict{Path: "untracked", Why: "is not there", Against: AgainstIndex}},
		{"staged file, HEAD", func(l *lab) { l.git("add", "untracked") }, ApplyOptions{Commit: &CommitOptions{Message: "m"}},
			Conflict{Path: "untracked", Why: "is not there", Against: AgainstHead}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.write("f", numbered(nil))
			l.committed()
			l.write("untracked", "u\n")
			r := l.store(l.snapshot(), file("f", numbered(map[int]string{25: "agent"})), file("untracked", "u\nagent\n"))
			c.setup(l)
			before, disk := l.entries(), l.disk()
			c.o.Now = l.now()
			_, err := l.q.Apply(t.Context(), r.ID, c.o)
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("got %v", err)
			}
			found := false
			for _, got := range conflict.Paths {
				found = found || got == c.want
			}
			if !found {
				t.Errorf("got %v, want %v", conflict.Paths, c.want)
			}
			if d := cmp.Diff(before, l.entries()) + cmp.Diff(disk, l.disk()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestIndexRefusesWhatIsUnderWay(t *testing.T) {
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"} {
		t.Run(name, func(t *testing.T) {
			l, r := stagedLab(t)
			l.must(os.WriteFile(filepath.Join(l.repo.GitDir, name), []byte(l.git("rev-parse", "HEAD")+"\n"), 0o644))
			before, disk := l.entries(), l.disk()
			for _, o := range []ApplyOptions{{Index: true, Now: l.now()}, {Commit: &CommitOptions{Message: "m"}, Now: l.now()}} {
				var busy *BusyError
				if _, err := l.q.Apply(t.Context(), r.ID, o); !errors.As(err, &busy) {
					t.Errorf("got %v", err)
				}
			}
			if d := cmp.Diff(before, l.entries()) + cmp.Diff(disk, l.disk()); d != "" {
				t.Error(d)
			}
			l.apply(r.ID)
		})
	}
}

// What the index knows beyond names and content stays.
func TestIndexKeepsItsExtras(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(l *lab)
		check func(l *lab) string // the same before the apply, after it, after the undo
	}{
		{"intent to add elsewhere", func(l *lab) { l.git("add", "-N", "untracked") },
			func(l *lab) string {
				return l.git("ls-files", "-s", "untracked") + l.git("diff", "--name-status", "untracked")
			}},
		{"skip-worktree", func(l *lab) { l.git("update-index", "--skip-worktree", "gone", "other") },
			func(l *lab) string { return l.git("ls-files", "-t", "other") }},
		{"skip-worktree of a changed file", func(l *lab) { l.git("update-index", "--skip-worktree", "f") },
			func(l *lab) string { return l.git("ls-files", "-t", "f") }},
		{"assume-unchanged of a changed file", func(l *lab) { l.git("update-index", "--assume-unchanged", "f") },
			func(l *lab) string { return l.git("ls-files", "-v", "f")[:1] }},
		{"split index", func(l *lab) { l.git("-c", "core.splitIndex=true", "update-index", "--split-index") },
			func(l *lab) string {
				return isSplit(l.git("-c", "core.splitIndex=true", "rev-parse", "--shared-index-path"))
			}},
		{"version 4", func(l *lab) { l.git("update-index", "--index-version", "4") },
			func(l *lab) string { return readFile(l.t, filepath.Join(l.repo.GitDir, "index"))[:8] }},
		{"sparse index", func(l *lab) {
			l.git("sparse-checkout", "set", "--cone", "--sparse-index", "added")
		}, func(l *lab) string { return l.git("ls-files", "--sparse", "-t", "cone") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.write("cone/deep/x", "x\n")
			l.write("f", numbered(nil))
			l.write("gone", "x\n")
			l.write("other", "x\n")
			l.committed()
			l.write("untracked", "u\n")
			c.setup(l)
			base := l.snapshot()
			r := l.store(base, file("f", numbered(map[int]string{25: "agent"})), file("added/x", "agent\n"))
			before, want := l.entries(), c.check(l)
			if want == "" || want == "not split" {
				t.Fatal("the setup did nothing")
			}
			l.applyWith(r.ID, ApplyOptions{Index: true})
			if got := c.check(l); got != want {
				t.Errorf("after the apply %q, want %q", got, want)
			}
			if got := l.git("show", ":f") + "\n"; got != numbered(map[int]string{25: "agent"}) {
				t.Error("f was not staged")
			}
			l.undo()
			if got := c.check(l); got != want {
				t.Errorf("after the undo %q, want %q", got, want)
			}
			if d := cmp.Diff(before, l.entries()); d != "" {
				t.Error(d)
			}
		})
	}
}

func isSplit(path string) string {
	if strings.HasSuffix(path, plumbing.ZeroHash.String()) {
		return "not split"
	}
	return "split"
}

// A file that the user intends to add and the agent adds as well is staged, and
// only intended to be added again after undo.
func TestUndoRestoresIntentToAdd(t *testing.T) {
	l := newLab(t)
	l.write("f", "x\n")
	l.committed()
	r := l.store(l.snapshot(), file("n", "same\n"), file("f", "y\n"))
	l.write("n", "same\n")
	l.git("add", "-N", "n")
	before := l.entries()
	l.applyWith(r.ID, ApplyOptions{Index: true})
	if got := l.git("diff", "--cached", "--name-status"); got != "M\tf\nA\tn" {
		t.Errorf("staged:\n%s", got)
	}
	l.undo()
	if d := cmp.Diff(before, l.entries()); d != "" {
		t.Error(d)
	}
}

func TestUndoRefusesWhatWasStagedSince(t *testing.T) {
	l, r := stagedLab(t)
	l.applyWith(r.ID, ApplyOptions{Index: true})
	l.write("elsewhere", "mine\n")
	l.git("update-index", "--cacheinfo", "100644,"+l.git("hash-object", "-w", "elsewhere")+",new")
	before, disk := l.entries(), l.disk()
	_, err := l.q.Undo(t.Context(), UndoOptions{})
	var edited *EditedError
	if !errors.As(err, &edited) || cmp.Diff(edited.Staged, []string{"new"}) != "" || len(edited.Paths) > 0 {
		t.Fatalf("got %v", err)
	}
	if d := cmp.Diff(before, l.entries()) + cmp.Diff(disk, l.disk()); d != "" {
		t.Error(d)
	}
}

// What was staged and is overwritten survives a collection of garbage.
func TestStagedBytesSurviveGC(t *testing.T) {
	l, r := stagedLab(t)
	before := l.entries()
	l.applyWith(r.ID, ApplyOptions{Index: true})
	l.git("gc", "-q", "--prune=now")
	l.git("reflog", "expire", "--expire=now", "--all")
	l.undo()
	if d := cmp.Diff(before, l.entries()); d != "" {
		t.Error(d)
	}
	l.git("fsck", "--connectivity-only")
}

// Another git that holds the index makes the apply fail whole.
func TestLockedIndexTakesEverythingBack(t *testing.T) {
	l, r := stagedLab(t)
	lock := filepath.Join(l.repo.GitDir, "index.lock")
	before, disk := l.entries(), l.disk()
	now := l.now()
	l.must(os.WriteFile(lock, nil, 0o644))
	_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Index: true, Now: now})
	if err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Fatalf("got %v", err)
	}
	l.must(os.Remove(lock))
	if d := cmp.Diff(before, l.entries()) + cmp.Diff(disk, l.disk()); d != "" {
		t.Error(d)
	}
}
