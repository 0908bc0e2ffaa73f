package patch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

func blob(s string) plumbing.Hash { return plumbing.ComputeHash(plumbing.BlobObject, []byte(s)) }

// sectionOf words a change as the guest does, modes and all; "" is no file.
func sectionOf(p string, oldMode, newMode filemode.FileMode, was, is string) string {
	c := git.Change{Path: p}
	if oldMode != 0 {
		c.Old = git.Entry{Mode: oldMode, Hash: blob(was)}
	}
	if newMode != 0 {
		c.New = git.Entry{Mode: newMode, Hash: blob(is)}
	}
	return emit(c, []byte(was), []byte(is))
}

func added(p, content string) string { return sectionOf(p, 0, filemode.Regular, "", content) }

const (
	reg = filemode.Regular
	exe = filemode.Executable
	sym = filemode.Symlink
)

func TestParseAccepts(t *testing.T) {
	bin := "\x00\x01\xff" + strings.Repeat("x", 300)
	tests := []struct {
		name     string
		sections []string
		want     []File
	}{
		{"nothing", nil, nil},
		{"added", []string{added("a", "x\n")},
			[]File{{Path: "a", Change: Added, NewMode: reg, New: blob("x\n"), Insertions: 1}}},
		{"added empty", []string{added("a", "")},
			[]File{{Path: "a", Change: Added, NewMode: reg, New: blob("")}}},
		{"deleted", []string{sectionOf("a", reg, 0, "x\ny", "")},
			[]File{{Path: "a", Change: Deleted, OldMode: reg, Old: blob("x\ny"), Deletions: 2}}},
		{"modified", []string{sectionOf("a", reg, reg, "x\n", "y\nz")},
			[]File{{Path: "a", Change: Modified, OldMode: reg, NewMode: reg, Old: blob("x\n"), New: blob("y\nz"), Insertions: 2, Deletions: 1}}},
		{"mode only", []string{sectionOf("a", reg, exe, "x\n", "x\n")},
			[]File{{Path: "a", Change: Modified, OldMode: reg, NewMode: exe}}},
		{"mode and content", []string{sectionOf("a", exe, reg, "x\n", "y\n")},
			[]File{{Path: "a", Change: Modified, OldMode: exe, NewMode: reg, Old: blob("x\n"), New: blob("y\n"), Insertions: 1, Deletions: 1}}},
		{"binary", []string{sectionOf("a", reg, reg, "x", bin)},
			[]File{{Path: "a", Change: Modified, OldMode: reg, NewMode: reg, Old: blob("x"), New: blob(bin), Binary: true}}},
		{"binary with an empty reverse", []string{sectionOf("a", 0, reg, "", bin) + literalOf(nil)},
			[]File{{Path: "a", Change: Added, NewMode: reg, New: blob(bin), Binary: true}}},
		{"type", []string{sectionOf("a", reg, 0, "x\n", ""), sectionOf("a", 0, sym, "", "b")},
			[]File{{Path: "a", Change: Type, OldMode: reg, NewMode: sym, Old: blob("x\n"), New: blob("b"), Insertions: 1, Deletions: 1}}},
		{"odd names", []string{added("a\tb\nc", "x\n"), added("b \"q\"", "x\n"), added("c d", "x\n"), added("é", "x\n"), added("\xff", "x\n")},
			[]File{
				{Path: "a\tb\nc", Change: Added, NewMode: reg, New: blob("x\n"), Insertions: 1},
				{Path: "b \"q\"", Change: Added, NewMode: reg, New: blob("x\n"), Insertions: 1},
				{Path: "c d", Change: Added, NewMode: reg, New: blob("x\n"), Insertions: 1},
				{Path: "é", Change: Added, NewMode: reg, New: blob("x\n"), Insertions: 1},
				{Path: "\xff", Change: Added, NewMode: reg, New: blob("x\n"), Insertions: 1},
			}},
		{"content that looks like a patch", []string{sectionOf("a", reg, reg, "-- a/x\n", "++ b/y\n@@ -1 +1 @@\ndiff --git a/x b/x\n")},
			[]File{{Path: "a", Change: Modified, OldMode: reg, NewMode: reg, Old: blob("-- a/x\n"),
				New: blob("++ b/y\n@@ -1 +1 @@\ndiff --git a/x b/x\n"), Insertions: 3, Deletions: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parse(seal(tt.sections...))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, p.Files, cmpopts.IgnoreUnexported(File{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	x := added("a", "x\n")
	nfc, nfd := "caf\u00e9", "cafe\u0301"
	tests := []struct {
		name     string
		sections []string
		path     string // named by the error
		why      string // part of it
	}{
		{"absolute", []string{added("/etc/passwd", "x\n")}, "/etc/passwd", "absolute"},
		{"dot dot", []string{added("a/../b", "x\n")}, "a/../b", `".."`},
		{"dot", []string{added("a/./b", "x\n")}, "a/./b", `"."`},
		{"empty component", []string{added("a//b", "x\n")}, "a//b", "empty component"},
		{"trailing slash", []string{added("a/", "x\n")}, "a/", "empty component"},
		{"backslash", []string{added(`a\b`, "x\n")}, `a\b`, "backslash"},
		{"NUL", []string{added("a\x00b", "x\n")}, "a\x00b", "NUL"},
		{"dot git", []string{added(".git/config", "x\n")}, ".git/config", ".git"},
		{"dot git below", []string{added("a/.git/hooks/x", "x\n")}, "a/.git/hooks/x", ".git"},
		{"dot git in capitals", []string{added(".GiT/config", "x\n")}, ".GiT/config", ".git"},
		{"dot git of HFS", []string{added(".g\u200cit/config", "x\n")}, ".g\u200cit/config", ".git"},
		{"dot git in 8.3", []string{added("GIT~1/config", "x\n")}, "GIT~1/config", ".git"},
		{"dot git with a space", []string{added(".git /config", "x\n")}, ".git /config", ".git"},
		{"dot git with dots", []string{added(".git. ./config", "x\n")}, ".git. ./config", ".git"},
		{"dot git as a stream", []string{added(".git::$INDEX_ALLOCATION/config", "x\n")}, ".git::$INDEX_ALLOCATION/config", ".git"},
		{"stream", []string{added("foo:bar", "x\n")}, "foo:bar", "colon"},
		{"device", []string{added("CON", "x\n")}, "CON", "device"},
		{"device with an extension", []string{added("d/nul.txt", "x\n")}, "d/nul.txt", "device"},
		{"device with a number", []string{added("com1 .a", "x\n")}, "com1 .a", "device"},
		{"device of the console", []string{added("conin$", "x\n")}, "conin$", "device"},
		{"long name", []string{added(strings.Repeat("n", 256), "x\n")}, strings.Repeat("n", 256), "too long"},
		{"submodule", []string{strings.Replace(x, "100644", "160000", 1)}, "a", "submodule"},
		{"mode 100600", []string{strings.Replace(x, "100644", "100600", 1)}, "a", "mode"},
		{"mode 120755", []string{strings.Replace(x, "100644", "120755", 1)}, "a", "mode"},
		{"mode change to a link", []string{"diff --git a/a b/a\nold mode 100644\nnew mode 120000\n"}, "a", "cannot become"},
		{"mode change to none", []string{"diff --git a/a b/a\nold mode 100644\nnew mode 100644\n"}, "a", "cannot become"},
		{"link to root", []string{sectionOf("a", 0, sym, "", "/etc")}, "a", "absolute"},
		{"link to a drive", []string{sectionOf("a", 0, sym, "", "C:x")}, "a", "absolute"},
		{"link to dot git", []string{sectionOf("a", 0, sym, "", ".GIT/config")}, "a", ".git"},
		{"link with a NUL", []string{strings.Replace(sectionOf("a", 0, reg, "", "x\x00"), "100644", "120000", 1)}, "a", "binary"},
		{"link with a backslash", []string{sectionOf("a", 0, sym, "", `..\x`)}, "a", "backslash"},
		{"link to nothing", []string{sectionOf("a", 0, sym, "", "")}, "a", "nothing"},
		{"long link", []string{sectionOf("a", 0, sym, "", strings.Repeat("x", 4096))}, "a", "too long"},
		{"twice", []string{x, x}, "a", "twice"},
		{"out of order", []string{added("b", "x\n"), x}, "a", "order"},
		{"deleted and added as the same type", []string{sectionOf("a", reg, 0, "x\n", ""), added("a", "y\n")}, "a", "without a change of type"},
		{"case", []string{added("README", "x\n"), added("readme", "x\n")}, "readme", "collides"},
		{"case of a folder", []string{added("Src/a", "x\n"), added("src/b", "x\n")}, "src/b", "collides"},
		{"normal form", []string{added(nfd, "x\n"), added(nfc, "x\n")}, nfc, "collides"},
		{"below a file", []string{added("a", "x\n"), added("a/b", "x\n")}, "a/b", "below"},
		{"below a link", []string{sectionOf("a", 0, sym, "", "d"), added("a/b", "x\n")}, "a/b", "below"},
		{"preamble", []string{"hello\n" + x}, "", "does not begin"},
		{"junk between files", []string{x + "junk\n", added("b", "x\n")}, "a", "unknown line"},
		{"junk in the header", []string{strings.Replace(x, "index", "junk\nindex", 1)}, "a", "no index line"},
		{"rename", []string{"diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n"}, "a/a b/b", "one path twice"},
		{"rename in the header", []string{"diff --git a/a b/a\nrename from ../x\nrename to a\n"}, "a", "no index line"},
		{"copy", []string{strings.Replace(x, "index", "copy from b\ncopy to a\nindex", 1)}, "a", "no index line"},
		{"other name in the body", []string{strings.Replace(x, "+++ b/a", "+++ b/../y", 1)}, "a", "different files"},
		{"no null in the body", []string{strings.Replace(x, "/dev/null", "a/a", 1)}, "a", "different files"},
		{"body of a mode change", []string{"diff --git a/a b/a\nold mode 100644\nnew mode 100755\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"}, "a", "no index line"},
		{"short hash", []string{strings.Replace(x, blob("x\n").String(), blob("x\n").String()[:7], 1)}, "a", "index line"},
		{"new file with an old hash", []string{strings.Replace(x, strings.Repeat("0", 40), blob("q").String(), 1)}, "a", "index line"},
		{"wrong hash", []string{strings.Replace(x, blob("x\n").String(), blob("q").String(), 1)}, "a", "not what its index line says"},
		{"wrong hash of a literal", []string{strings.Replace(sectionOf("a", 0, reg, "", "\x00q"), blob("\x00q").String(), blob("q").String(), 1)}, "a", "not what its index line says"},
		{"wrong hash of a deletion", []string{strings.Replace(sectionOf("a", reg, 0, "x\n", ""), blob("x\n").String(), blob("q").String(), 1)}, "a", "not what its index line says"},
		{"lines that no hunk counts", []string{x + "+evil\n"}, "a", "do not count"},
		{"too few lines", []string{strings.Replace(x, "+1,1", "+1,2", 1)}, "a", ""},
		{"hunk with text instead of a number", []string{strings.Replace(x, "+1,1", "+1,-1", 1)}, "a", "unknown line"},
		{"added file with context", []string{strings.Replace(strings.Replace(x, "-0,0", "-1,1", 1), "+x", " x", 1)}, "a", ""},
		{"delta", []string{strings.Replace(sectionOf("a", 0, reg, "", "\x00q"), "literal", "delta", 1)}, "a", "unknown line"},
		{"junk behind a literal", []string{sectionOf("a", 0, reg, "", "\x00q") + "junk\n\n"}, "a", "unknown line"},
		{"third literal", []string{sectionOf("a", 0, reg, "", "\x00q") + literalOf(nil) + literalOf(nil)}, "a", "unknown line"},
		{"reverse with content", []string{sectionOf("a", 0, reg, "", "\x00q") + literalOf([]byte("r"))}, "a", "unknown line"},
		{"literal of another size", []string{strings.Replace(sectionOf("a", 0, reg, "", "\x00q"), "literal 2", "literal 1", 1)}, "a", ""},
		{"binary without data", []string{"diff --git a/a b/a\nindex " + blob("a").String() + ".." + blob("b").String() + " 100644\nBinary files a/a and b/a differ\n"}, "a", "unknown line"},
		{"no content", []string{"diff --git a/a b/a\nindex " + blob("a").String() + ".." + blob("b").String() + " 100644\n"}, "a", "no content"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(seal(tt.sections...))
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) {
				t.Fatalf("got %v, want *UnsafeError", err)
			}
			if unsafe.Path != tt.path || !strings.Contains(unsafe.Why, tt.why) {
				t.Errorf("got %q: %q, want %q: …%s…", unsafe.Path, unsafe.Why, tt.path, tt.why)
			}
		})
	}
}

// A dying guest must not look like a smaller success.
func TestTruncatedPatchIsRefused(t *testing.T) {
	whole := seal(added("a", "x\n"), added("b", "y\n"))
	if _, err := parse(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := parse(whole[:n]); !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at %d: got %v, want ErrTruncated", n, err)
		}
	}
	cutAtBorder := append([]byte(added("a", "x\n")), whole[bytes.LastIndex(whole, []byte("ftl-end")):]...)
	flipped := bytes.Replace(whole, []byte("+x"), []byte("+z"), 1)
	miscounted := seal(added("a", "x\n") + added("b", "y\n"))
	for name, data := range map[string][]byte{"cut at a file": cutAtBorder, "flipped": flipped, "miscounted": miscounted, "junk behind": append(whole, "x\n"...)} {
		if _, err := parse(data); !errors.Is(err, ErrTruncated) {
			t.Errorf("%s: got %v, want ErrTruncated", name, err)
		}
	}
}

func TestParseBounds(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	tests := []struct {
		name string
		l    Limits
		data []byte
		path string
	}{
		{"patch", Limits{Patch: 10}, seal(added("a", "x\n")), ""},
		{"files", Limits{Files: 1}, seal(added("a", "x\n"), added("b", "x\n")), ""},
		{"a literal", Limits{File: 1 << 10}, seal(added("a", zeros)), "a"},
		{"a text", Limits{File: 1 << 10}, seal(added("a", strings.Repeat("line\n", 1<<10))), "a"},
		{"total", Limits{Total: 3 << 19}, seal(added("a", zeros), added("b", zeros)), "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(bytes.NewReader(tt.data), int64(len(tt.data)), tt.l)
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) || unsafe.Path != tt.path || !strings.Contains(unsafe.Why, "over the bound") && tt.name != "files" {
				t.Errorf("got %v", err)
			}
			if _, err := parse(tt.data); err != nil {
				t.Errorf("with the defaults: %v", err)
			}
		})
	}
}

// A literal that inflates to more than it says must not be inflated.
func TestInflatedSizeIsBounded(t *testing.T) {
	s := sectionOf("a", 0, reg, "", strings.Repeat("\x00", 8<<20))
	lie := strings.Replace(s, "literal 8388608", "literal 100", 1)
	_, err := parse(seal(lie))
	var unsafe *UnsafeError
	if !errors.As(err, &unsafe) || unsafe.Path != "a" {
		t.Errorf("got %v, want *UnsafeError for a", err)
	}
}

// What git itself words as text is understood.
func TestParseReadsGit(t *testing.T) {
	l := newLab(t)
	l.write("edited", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n")
	l.write("gone", "x\n")
	l.write("with space", "x\n")
	l.write("kind", "x\n")
	base := l.snapshot()
	l.write("edited", "1\n2\n3\nfour\n5\n6\n7\n8\n9\n10\n11\n12\n13")
	l.must(os.Remove(l.path("gone")))
	l.write("with space", "y\n")
	l.must(os.Remove(l.path("kind")))
	l.must(os.Symlink("edited", l.path("kind")))
	l.write("new/é\t", "x\r\ny")
	after := l.stage()
	text := l.git("diff-tree", "-p", "--full-index", "--no-renames", "-r", base.Tree.String(), after.String()) + "\n"
	parts := strings.SplitAfter(text, "\ndiff --git ")
	for i := range parts {
		if i > 0 {
			parts[i] = "diff --git " + parts[i]
		}
		parts[i] = strings.TrimSuffix(parts[i], "diff --git ")
	}
	r, err := l.storeBytes(base, seal(parts...))
	if err != nil {
		t.Fatal(err)
	}
	if r.Tree != after {
		t.Errorf("tree is %s, want %s", r.Tree, after)
	}
}

func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.patch")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range seeds {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		n := strings.Count(string(data), "diff --git ")
		if _, err := parse(bytes.Replace(seal(string(data)), []byte("files=1 "), fmt.Appendf(nil, "files=%d ", n), 1)); err != nil {
			f.Fatalf("%s: %v", name, err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sections := strings.SplitAfter(string(data), "\ndiff --git ")
		n := len(sections)
		whole := seal(string(data))
		whole = bytes.Replace(whole, []byte("ftl-end files=1 "), fmt.Appendf(nil, "ftl-end files=%d ", n), 1)
		p, err := parse(whole)
		if err != nil {
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) && !errors.Is(err, ErrTruncated) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		last := ""
		for i, file := range p.Files {
			if err := checkPath(file.Path); err != nil {
				t.Fatalf("passed the gate: %v", err)
			}
			if i > 0 && file.Path <= last {
				t.Fatalf("%q is not behind %q", file.Path, last)
			}
			last = file.Path
			for _, m := range []filemode.FileMode{file.OldMode, file.NewMode} {
				if m != 0 && m != reg && m != exe && m != sym {
					t.Fatalf("mode %o passed the gate", m)
				}
			}
		}
	})
}
