package patch

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clashing is a repository in which the user and the agent change the same
// things.
func clashing(t *testing.T) (*lab, Result) {
	l := newLab(t)
	l.write("f", "a\nb\nc\n")
	l.write("clean", "x\n")
	l.write("theydel", "x\n")
	l.write("wedel", "x\n")
	l.write("bin", "x\x00")
	l.committed()
	r := l.store(l.snapshot(), file("f", "a\nits\nc\n"), file("clean", "y\n"), gone("theydel"), file("wedel", "its\n"),
		file("bin", "its\x00"), file("both", "its\n"))
	l.write("f", "a\nmine\nc\n")
	l.write("theydel", "mine\n")
	l.must(os.Remove(l.path("wedel")))
	l.write("bin", "mine\x00")
	l.write("both", "mine\n")
	l.git("add", "f")
	l.write("f", "a\nmine too\nc\n")
	return l, r
}

func TestMergeWritesMarkersAndStages(t *testing.T) {
	l, r := clashing(t)
	before, disk := l.entries(), l.disk()
	done := l.applyWith(r.ID, ApplyOptions{Merge: true})
	var got []Conflict
	for _, c := range done.Conflicts {
		c.Lines = ""
		got = append(got, c)
	}
	want := []Conflict{
		{Path: "bin", Why: "binary"}, {Path: "both", Why: "contents"}, {Path: "f", Why: "contents"},
		{Path: "theydel", Why: "modify/delete"}, {Path: "wedel", Why: "modify/delete"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	files := map[string]string{
		"f":    "a\n<<<<<<< working tree\nmine too\n=======\nits\n>>>>>>> " + r.ID + "\nc\n",
		"both": "<<<<<<< working tree\nmine\n=======\nits\n>>>>>>> " + r.ID + "\n",
		"bin":  "mine\x00", "theydel": "mine\n", "wedel": "its\n", "clean": "y\n",
	}
	for p, content := range files {
		if l.read(p) != content {
			t.Errorf("%s has %q", p, l.read(p))
		}
	}
	if d := cmp.Diff("UU bin\nAA both\n M clean\nUU f\nUD theydel\nDU wedel", l.git("status", "--porcelain")); d != "" {
		t.Error(d)
	}
	if done.Result.State != Whole {
		t.Errorf("state %s", done.Result.State)
	}
	l.git("checkout", "--theirs", "f")
	if l.read("f") != "a\nits\nc\n" {
		t.Errorf("theirs is %q", l.read("f"))
	}
	l.git("checkout", "--ours", "f")
	if l.read("f") != "a\nmine too\nc\n" {
		t.Errorf("ours is %q", l.read("f"))
	}
	l.write("f", files["f"])
	l.undo()
	if d := cmp.Diff(before, l.entries()); d != "" {
		t.Errorf("index:\n%s", d)
	}
	if d := cmp.Diff(stripped(disk), stripped(l.disk())); d != "" {
		t.Errorf("files:\n%s", d)
	}
}

func TestMergeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(l *lab)
	}{
		{"file in place of a folder", func(l *lab) { l.write("d/x", "mine\n") }},
		{"ignored file in the way", func(l *lab) {
			l.write(".gitignore", "d\n")
			l.git("add", "-A")
			l.write("d", "mine\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.write("f", "x\n")
			l.committed()
			r := l.store(l.snapshot(), file("f", "y\n"), file("d", "its\n"))
			c.setup(l)
			l.write("f", "z\n")
			before, disk := l.entries(), l.disk()
			_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Merge: true, Now: l.now()})
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("got %v", err)
			}
			if d := cmp.Diff(before, l.entries()) + cmp.Diff(disk, l.disk()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMergeRefusesUnmergedIndex(t *testing.T) {
	l, r := clashing(t)
	l.applyWith(r.ID, ApplyOptions{Merge: true})
	again := l.store(l.snapshot(), file("clean", "z\n"))
	disk := l.disk()
	for _, o := range []ApplyOptions{{Merge: true}, {Index: true}, {Commit: &CommitOptions{Message: "m"}}} {
		o.Now = l.now()
		if _, err := l.q.Apply(t.Context(), again.ID, o); !errors.Is(err, ErrUnmerged) {
			t.Errorf("got %v", err)
		}
	}
	if d := cmp.Diff(disk, l.disk()); d != "" {
		t.Error(d)
	}
	stages := l.git("ls-files", "-u")
	l.apply(again.ID)
	if l.git("ls-files", "-u") != stages || l.read("clean") != "z\n" {
		t.Error("a plain apply goes on and leaves the stages")
	}
}

// Without a conflict, it is a plain apply.
func TestMergeWithoutConflict(t *testing.T) {
	l, r := stagedLab(t)
	index := readFile(t, l.repo.GitDir+"/index")
	done := l.applyWith(r.ID, ApplyOptions{Merge: true})
	if len(done.Conflicts) > 0 || readFile(t, l.repo.GitDir+"/index") != index {
		t.Errorf("got %v", done.Conflicts)
	}
}
