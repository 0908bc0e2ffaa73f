package patch

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// besides is what comes along, from a path and a content each.
func besides(pairs ...string) []NewFile {
	var files []NewFile
	for i := 0; i < len(pairs); i += 2 {
		files = append(files, NewFile{pairs[i], []byte(pairs[i+1])})
	}
	return files
}

// come applies a result with files that come along.
func (l *lab) come(r Result, o ApplyOptions, pairs ...string) (Applied, error) {
	l.t.Helper()
	o.Now, o.Beside = l.now(), besides(pairs...)
	return l.q.Apply(l.t.Context(), r.ID, o)
}

// TestBesideComesAndGoes: what comes along is written with the result, counts for
// nothing of it, and goes with it, byte for byte.
func TestBesideComesAndGoes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "a\n")
	r := l.store(l.snapshot(), file("a", "b\n"), file("dir/new", "new\n"))
	before := l.disk()
	contents := map[string]string{
		"dir/new_test": "of the result's folder\n", "tests/\"ü\ndiff --git a/x b/x": "quoted\n", "tests/bare": "no end", "tests/empty": "",
		"tests/crlf": "a\r\n\r\nb\r", "tests/minus": "-- a\n++ b\n@@ -1 +1 @@\n\\ No newline at end of file\n", "tests/bytes": "a\x00b\n\n",
	}
	var pairs []string
	for p, text := range contents {
		pairs = append(pairs, p, text)
	}
	done, err := l.come(r, ApplyOptions{}, pairs...)
	l.must(err)
	var along int
	for _, f := range done.Files {
		text, is := contents[f.Path]
		if f.Beside != is || is && (f.Change != Added || f.Merged || l.read(f.Path) != text) {
			t.Errorf("%+v has %q", f, l.read(f.Path))
		}
		if is {
			along++
		}
	}
	if along != len(contents) || len(done.Files) != along+2 || done.Result.State != Whole || len(done.Left) != 0 {
		t.Errorf("%d came along: %+v", along, done)
	}
	if fi, err := os.Stat(l.path("tests/bare")); err != nil || fi.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	l.gc()
	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Errorf("after undo (-before):\n%s", d)
	}
}

// TestBesideTargets: parts, index, commit and a dry run take what comes along as
// they take the result.
func TestBesideTargets(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "a\n")
	l.write("b", "b\n")
	l.git("add", "-A")
	l.git("commit", "-qm", "first")
	base := l.snapshot()
	r := l.store(base, file("a", "a2\n"), file("b", "b2\n"))

	before := l.disk()
	done, err := l.come(r, ApplyOptions{DryRun: true}, "t", "1")
	l.must(err)
	if d := cmp.Diff(before, l.disk()); d != "" || len(done.Files) != 3 || !done.Files[2].Beside {
		t.Errorf("a dry run: %+v %s", done, d)
	}

	done, err = l.come(r, ApplyOptions{Paths: []string{"a"}, Index: true}, "t", "1")
	l.must(err)
	if done.Result.State != Partial || !cmp.Equal(done.Left, []string{"b"}) || l.git("diff", "--cached", "--name-only") != "a\nt" {
		t.Errorf("a part, staged: %+v, staged %s", done, l.git("diff", "--cached", "--name-only"))
	}
	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" || l.git("status", "--porcelain") != "" {
		t.Errorf("after undo: %s %s", d, l.git("status", "--porcelain"))
	}

	done, err = l.come(r, ApplyOptions{Commit: &CommitOptions{Message: "with tests\n"}}, "t", "1")
	l.must(err)
	if got := l.git("diff", "--name-only", "HEAD^", done.Head.String()); got != "a\nb\nt" || l.git("status", "--porcelain") != "" {
		t.Errorf("committed %q, left %q", got, l.git("status", "--porcelain"))
	}
	if done.Result.State != Whole {
		t.Errorf("state %s", done.Result.State)
	}
}

// TestBesideHasItsPlace: a place that is taken is a conflict, and nothing is
// written; what is there already as it is to be is none.
func TestBesideHasItsPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, path string
		there      func(l *lab)
		why        string // "" for none
	}{
		{"the result has it", "new", nil, "the result has something else there"},
		{"the result has it as it is", "same", nil, ""},
		{"the result has changed it", "a", nil, "the result has something else there"},
		{"the result has deleted it", "gone", nil, "the result has something else there"},
		{"the result has a file above", "new/t", nil, `the result has "new", which is no folder`},
		{"the result has a folder there", "dir", nil, "the result has something else there"},
		{"untracked", "t", func(l *lab) { l.write("t", "mine\n") }, "contents"},
		{"untracked, the same", "t", func(l *lab) { l.write("t", "test\n") }, ""},
		{"ignored", "t.log", func(l *lab) { l.write(".git/info/exclude", "*.log\n"); l.write("t.log", "mine\n") }, "a file that is not in the snapshot is there"},
		{"another case", "t", func(l *lab) { l.write(".git/info/exclude", "T\n"); l.write("T", "mine\n") }, "differs only in case"},
		{"a file above", "f/t", func(l *lab) { l.write("f", "mine\n") }, "file/directory"},
		{"a folder", "f", func(l *lab) { l.write("f/t", "mine\n") }, "file/directory"},
		{"a link above", "l/t", func(l *lab) { l.must(os.Symlink("/tmp", l.path("l"))) }, "file/directory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.write("a", "a\n")
			l.write("gone", "gone\n")
			r := l.store(l.snapshot(), file("a", "b\n"), file("new", "x\n"), file("same", "test\n"), file("dir/x", "x\n"), gone("gone"))
			if tc.there != nil {
				tc.there(l)
			}
			before := l.disk()
			_, err := l.come(r, ApplyOptions{}, tc.path, "test\n", "other", "test\n")
			if tc.why == "" {
				l.must(err)
				if l.read("other") != "test\n" || l.read(tc.path) != "test\n" {
					t.Error("it did not come")
				}
				return
			}
			var conflict *ConflictError
			if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || !strings.Contains(conflict.Paths[0].Why, tc.why) || !strings.HasPrefix(tc.path, conflict.Paths[0].Path) {
				t.Errorf("got %v: %+v", err, conflict)
			}
			if d := cmp.Diff(before, l.disk()); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestBesideMerges: a conflict of what comes along can be written as any other.
func TestBesideMerges(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "a\n")
	r := l.store(l.snapshot(), file("a", "b\n"))
	l.write("t", "mine\n")
	before := l.disk()
	done, err := l.come(r, ApplyOptions{Merge: true}, "t", "test\n")
	if err != nil || len(done.Conflicts) != 1 || !strings.Contains(l.read("t"), "<<<<<<< working tree\nmine\n") {
		t.Fatalf("%+v, %v: %s", done, err, l.read("t"))
	}
	l.undo()
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
}

// TestBesideIsGated: what no patch may bring does not come along either.
func TestBesideIsGated(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("a", "a\n")
	l.must(os.Symlink("/tmp", l.path("link")))
	l.write("Tests/x", "x\n")
	r := l.store(l.snapshot(), file("a", "b\n"))
	before := l.disk()
	for _, tc := range []struct {
		name  string
		files []NewFile
	}{
		{"empty", besides("", "x")},
		{"absolute", besides("/tmp/ftl-evil", "x")},
		{"up", besides("tests/../../evil", "x")},
		{"dot", besides("./t", "x")},
		{"two slashes", besides("a//b", "x")},
		{"a folder", besides("t/", "x")},
		{"git", besides(".git/hooks/pre-commit", "x")},
		{"git in another spelling", besides("sub/.GIT/hooks/pre-commit", "x")},
		{"git for HFS", besides(".g\u200cit/config", "x")},
		{"git for NTFS", besides("git~1/config", "x")},
		{"a stream", besides("t.py:x", "x")},
		{"a backslash", besides(`..\t`, "x")},
		{"a device", besides("aux.py", "x")},
		{"a NUL", besides("t\x00x", "x")},
		{"long", besides(strings.Repeat("a", 5000), "x")},
		{"below a link", besides("link/t", "x")},
		{"twice", besides("t", "x", "t", "y")},
		{"twice the same", besides("t", "x", "t", "x")},
		{"one below the other", besides("t", "x", "t/x", "y")},
		{"alike", besides("t", "x", "T", "y")},
		{"alike one that is there", besides("tests/y", "x")},
		{"modules", besides("sub/.gitmodules", "[submodule \"x\"]\n\tpath = -x\n\turl = -evil\n")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := l.q.Apply(t.Context(), r.ID, ApplyOptions{Now: l.now(), Beside: append(besides("fine", "x"), tc.files...)})
			var unsafe *UnsafeError
			var conflict *ConflictError
			if !errors.As(err, &unsafe) && !errors.As(err, &conflict) {
				t.Errorf("got %v", err)
			}
		})
	}
	if d := cmp.Diff(before, l.disk()); d != "" {
		t.Error(d)
	}
	if _, err := os.Lstat("/tmp/ftl-evil"); err == nil {
		t.Error("a file outside of the work tree was written")
	}
}
