package lint_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// world is a repository with two trees in it.
type world struct {
	t    *testing.T
	objs *git.Objects
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	r, err := git.Open(t.Context(), dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	objs := r.Objects(t.Context())
	t.Cleanup(func() { _ = objs.Close() })
	return &world{t, objs}
}

// tree writes files; a name that begins with "@" is a symlink.
func (w *world) tree(files map[string]string) plumbing.Hash {
	w.t.Helper()
	var changes []git.Change
	for name, content := range files {
		h, err := w.objs.WriteBlob([]byte(content))
		if err != nil {
			w.t.Fatal(err)
		}
		mode := filemode.Regular
		if name[0] == '@' {
			name, mode = name[1:], filemode.Symlink
		}
		changes = append(changes, git.Change{Path: name, New: git.Entry{Mode: mode, Hash: h}})
	}
	h, err := w.objs.Rewrite(plumbing.ZeroHash, changes)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func (w *world) check(o lint.Options, old, new map[string]string) lint.Report {
	w.t.Helper()
	return w.checkOn(o, lint.Terms{}, old, new)
}

func (w *world) checkOn(o lint.Options, terms lint.Terms, old, new map[string]string) lint.Report {
	w.t.Helper()
	changes, err := w.objs.Diff(w.tree(old), w.tree(new))
	if err != nil {
		w.t.Fatal(err)
	}
	if o.Now.IsZero() {
		o.Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	report, err := lint.New(o).Check(w.t.Context(), w.objs, changes, terms)
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// shadowed is a shadow, which is found wherever it is added. It is put together
// here so that this file is none of what is looked for.
const shadowed = "ftl_" + "shadow_api_key_0123456789abcdef0123456789abcdef"

// brief is what of a finding a test compares.
func brief(r lint.Report) []string {
	all := []string{}
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Rule, "value/") {
			all = append(all, fmt.Sprintf("%s %s:%d", f.Rule, f.Path, f.Line))
		}
	}
	return all
}

func TestOnlyAddedLinesCount(t *testing.T) {
	line := "key := \"" + shadowed + "\"\n"
	for _, tc := range []struct {
		name     string
		old, new map[string]string
		want     []string
	}{
		{"a new file", nil, map[string]string{"a.go": "package a\n" + line}, []string{"value/shadow a.go:2"}},
		{"a new line", map[string]string{"a.go": "package a\n"}, map[string]string{"a.go": "package a\n\n" + line}, []string{"value/shadow a.go:3"}},
		{"a line of the base", map[string]string{"a.go": line}, map[string]string{"a.go": "package a\n" + line}, nil},
		{"a line of the base, indented", map[string]string{"a.go": line}, map[string]string{"a.go": "\t" + line}, nil},
		{"a file that moved", map[string]string{"a.go": line}, map[string]string{"b/c.go": line}, nil},
		{"a file that moved and changed", map[string]string{"a.go": line}, map[string]string{"b/c.go": "package b\n\t" + line}, nil},
		{"deleted", map[string]string{"a.go": line}, map[string]string{"b.go": ""}, nil},
		{"another one beside that of the base", map[string]string{"a.go": line}, map[string]string{"a.go": line + strings.Replace(line, "_api_", "_other_", 1)}, []string{"value/shadow a.go:2"}},
		{"the target of a symlink", nil, map[string]string{"@link": shadowed}, []string{"value/shadow link:1"}},
		{"in UTF-16", nil, map[string]string{"a.txt": "\xff\xfe" + strings.Join(strings.Split(shadowed, ""), "\x00") + "\x00"}, []string{"value/shadow a.txt:1"}},
		{"behind a NUL", nil, map[string]string{"a.bin": "\x00\n" + line}, []string{"value/shadow a.bin:2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			report := w.check(lint.Options{}, tc.old, tc.new)
			if diff := cmp.Diff(append([]string{}, tc.want...), brief(report)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if blocked := len(tc.want) > 0; blocked && !report.Blocked() {
				t.Error("it does not block")
			}
		})
	}
}

// A real value shows neither in a finding of its own, nor in one beside it, nor in
// its path.
func TestNoFindingShowsASecret(t *testing.T) {
	const secret = "q7Rk2mZx9LwT4vBn8Yc3"
	w := newWorld(t)
	values := []lint.Value{{Name: "API_KEY", Needles: shadow.Needles(secret, true)}}
	report := w.check(lint.Options{Values: values}, nil, map[string]string{
		"a.py":                     "import os; os.system('rm -rf / ' + x); key = '" + secret + "'; token = \"" + shadowed + "\"\n",
		"dir/" + secret + "/b.txt": "nothing\n",
		"long.txt":                 strings.Repeat("x ", 5000) + secret + strings.Repeat(" y", 5000) + "\n",
	})
	if len(brief(report)) < 3 {
		t.Fatalf("found only %v", brief(report))
	}
	var sarif bytes.Buffer
	if err := lint.WriteSARIF(&sarif, "git-ftl test", report.Findings); err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%+v %s", report, sarif.String())
	for _, part := range []string{secret, secret[:10], secret[10:], shadowed[11:30]} {
		if strings.Contains(all, part) {
			t.Errorf("%q shows in:\n%s", part, all)
		}
	}
	for _, f := range report.Findings {
		if len(f.Excerpt) > 400 {
			t.Errorf("an excerpt of %d bytes", len(f.Excerpt))
		}
	}
}

// A token in a path shows in no finding of the same file, and in no word about it.
func TestNoFindingShowsATokenOfItsPath(t *testing.T) {
	all := corpus.Bypasses(11)
	named := all[slices.IndexFunc(all, func(b corpus.Bypass) bool { return b.Name == "the name of a file" })].Files[0].Path
	token := strings.TrimSuffix(strings.TrimPrefix(named, "notes/"), ".txt")
	report := newWorld(t).check(lint.Options{}, nil, map[string]string{
		named:                   "key = " + shadowed + "\n" + token + "\n\u202e\n",
		"large/" + token + ".x": strings.Repeat("some words\n", 1<<20),
	})
	if len(report.Findings) < 4 || len(report.Skipped) != 1 {
		t.Fatalf("found only %v, skipped %q", brief(report), report.Skipped)
	}
	if shown := fmt.Sprintf("%+v", report); strings.Contains(shown, token) {
		t.Errorf("the token shows in:\n%s", shown)
	}
}

func TestLargeFiles(t *testing.T) {
	filler := strings.Repeat("the quick brown fox jumps over the lazy dog; 123\n", 1+(12<<20)/49)
	line := "key = " + shadowed + "\n"
	for _, tc := range []struct {
		name string
		at   int
	}{{"at the start", 0}, {"across the first border", 1<<20 + 64<<10 - 20}, {"in the overlap", 1<<20 + 100}, {"at the end", len(filler)}} {
		t.Run(tc.name, func(t *testing.T) {
			at := strings.LastIndexByte(filler[:tc.at], '\n') + 1
			text := filler[:at] + line + filler[at:]
			report := newWorld(t).check(lint.Options{}, nil, map[string]string{"big.txt": text})
			want := []string{fmt.Sprintf("value/shadow big.txt:%d", 1+strings.Count(filler[:at], "\n"))}
			if diff := cmp.Diff(want, brief(report)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0], "big.txt is over 10 MB") {
				t.Errorf("skipped: %q", report.Skipped)
			}
			if report.Bytes != int64(len(text)) {
				t.Errorf("%d bytes, want %d", report.Bytes, len(text))
			}
		})
	}
	t.Run("that the base has", func(t *testing.T) {
		report := newWorld(t).check(lint.Options{}, map[string]string{"big.txt": line + filler}, map[string]string{"big.txt": filler + line})
		if diff := cmp.Diff([]string{}, brief(report)); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})
}

// An id covers rule, path and the bytes that matched: what is accepted is that and
// nothing that comes later.
func TestIDs(t *testing.T) {
	id := func(path, text string) string {
		r := newWorld(t).check(lint.Options{}, nil, map[string]string{path: text})
		for _, f := range r.Findings {
			if f.Rule == "value/shadow" {
				return f.ID
			}
		}
		t.Fatalf("nothing found in %q", text)
		return ""
	}
	first := id("a.go", "x = "+shadowed+"\n")
	if again := id("a.go", "// moved down\n\nx = "+shadowed+"\n"); again != first {
		t.Error("the id changes with the line")
	}
	for name, other := range map[string]string{
		"another path":  id("b.go", "x = "+shadowed+"\n"),
		"another value": id("a.go", "x = "+strings.Replace(shadowed, "0", "9", 1)+"\n"),
	} {
		if other == first {
			t.Errorf("%s has the same id", name)
		}
	}
}

func TestAcceptance(t *testing.T) {
	change := map[string]string{"a.go": "x = " + shadowed + "\n", "dir/b.go": "x = " + shadowed + "\n"}
	plain := newWorld(t).check(lint.Options{}, nil, change)
	var first lint.Finding
	for _, f := range plain.Findings {
		if f.Path == "a.go" && f.Rule == "value/shadow" {
			first = f
		}
	}
	set := func(rule, severity, path string) lint.Acceptance {
		s, err := lint.NewSetting(rule, severity, "config")
		if err != nil {
			t.Fatal(err)
		}
		s.Path = path
		return lint.Acceptance{Settings: []lint.Setting{s}}
	}
	for _, tc := range []struct {
		name    string
		a       lint.Acceptance
		blocked bool
		count   int
	}{
		{"nothing", lint.Acceptance{}, true, 2},
		{"one id", lint.Acceptance{IDs: map[string]string{first.ID: "user"}}, true, 2},
		{"a rule", set("value/shadow", "warn", ""), false, 2},
		{"a family", set("value", "off", ""), false, 0},
		{"a folder", set("value", "off", "dir/"), true, 1},
		{"a pattern", set("value", "off", "dir/*.go"), true, 1},
		{"a family that only begins alike", set("val", "off", ""), true, 2},
		{"a family that only advises", lint.Acceptance{Advice: []string{"value"}}, false, 2},
		{"a family that advises, and a setting", lint.Acceptance{Advice: []string{"value"}}.And(set("value", "block", "")), true, 2},
		{"the last of two", set("value", "off", "").And(set("value", "block", "")), true, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			report := newWorld(t).checkOn(lint.Options{}, lint.Terms{Accepted: tc.a}, nil, change)
			if report.Blocked() != tc.blocked || len(brief(report)) != tc.count {
				t.Errorf("blocked %v, findings %v", report.Blocked(), brief(report))
			}
		})
	}
}

func TestParseIgnore(t *testing.T) {
	id := "f" + strings.Repeat("0a", 16)
	a, wrong := lint.ParseIgnore([]byte("\xef\xbb\xbf# accepted\n" + id + " # a test key\r\n\ndanger/sql-drop off migrations/\ncredential warn\n" +
		"value/real off\nvalue off\nf0a0a\ndanger/x maybe\nDanger off [\nnonsense\n"))
	want := lint.Acceptance{
		IDs: map[string]string{id: ".ftllint"},
		Settings: []lint.Setting{
			{Rule: "danger/sql-drop", Path: "migrations/", Severity: lint.Off, By: ".ftllint"},
			{Rule: "credential", Severity: lint.Warn, By: ".ftllint"},
		},
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(wrong) != 6 {
		t.Errorf("%d bad lines: %v", len(wrong), wrong)
	}
}

func FuzzParseIgnore(f *testing.F) {
	f.Add([]byte("danger off\nf0 # x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, _ := lint.ParseIgnore(data)
		for _, s := range a.Settings {
			if strings.HasPrefix(s.Rule, "value") {
				t.Fatalf("a repository excuses %q", s.Rule)
			}
		}
	})
}

func TestFind(t *testing.T) {
	all := []lint.Finding{{ID: "f123456789abcdef0123456789abcdef0"}, {ID: "f123459999abcdef0123456789abcdef0"}, {ID: "fffff0000abcdef00123456789abcdef0"}}
	for _, tc := range []struct {
		word string
		want int // -1 for none
	}{
		{"f1", 0}, {"f3", 2}, {"f4", -1}, {"f0", -1}, {"f01", -1}, {"F2", 1}, {"f12345", -1}, {"f123456", 0}, {"fffff0", 2}, {"ffff", -1},
		{all[1].ID, 1}, {"", -1}, {"f", -1}, {"1", -1}, {"f99999999999999999999", -1},
	} {
		f, ok := lint.Find(all, tc.word)
		if ok != (tc.want >= 0) || ok && f.ID != all[tc.want].ID {
			t.Errorf("Find(%q) = %v, %v", tc.word, f.ID, ok)
		}
	}
}

// A patch with a million findings costs no more than reading it.
func TestManyFindings(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "x%d = ftl_"+"shadow_k%d_0123456789abcdef0123456789abcdef\n", i, i)
	}
	report := newWorld(t).check(lint.Options{}, nil, map[string]string{filepath.ToSlash("a.go"): text.String()})
	if len(report.Findings) > 1000 || !report.Blocked() {
		t.Errorf("%d findings, blocked %v", len(report.Findings), report.Blocked())
	}
}
