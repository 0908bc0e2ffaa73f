package ignore

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		name, rules, path string
		dir, want         bool
	}{
		{"inverted class", "[!a].c", "b.c", false, true},
		{"inverted class excludes", "[!a].c", "a.c", false, false},
		{"question mark", "?.t", "x.t", false, true},
		{"everything below", "x/**", "x/y/z", false, true},
		{"everything below leaves the folder", "x/**", "x", true, false},
		{"anchored by a slash inside", "foo/*", "a/foo/b", false, false},
		{"parentheses are no expression", "(x)", "x", false, false},
		{"parentheses are bytes", "(x)", "(x)", false, true},
		{"folder pattern on a file", "out/", "out", false, false},
		{"folder pattern on a folder", "out/", "out", true, true},
		{"below an ignored folder", "out/\n!out/keep", "out/keep", false, true},
		{"negation", "*.log\n!keep.log", "a/keep.log", false, false},
		{"quoted trailing space", "a\\ ", "a ", false, true},
		{"trailing space", "a  ", "a", false, true},
		{"carriage return", "a\r\nb\r", "a", false, true},
		{"byte of no encoding", "\xff?", "\xff\xfe", false, true},
		{"newline in a name", "*.o", "x\ny.o", false, true},
		{"double star inside", "a/**/b", "a/b", false, true},
		{"star does not cross", "/a/*/b", "a/x/y/b", false, false},
		{"open bracket", "a[b", "a[b", false, false},
		{"posix class", "[[:digit:]]", "7", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := New(nil)
			r.Add("", []byte(tt.rules))
			if got := r.Match(tt.path, tt.dir); got != tt.want {
				t.Errorf("Match(%q) with %q = %v", tt.path, tt.rules, got)
			}
		})
	}
}

// TestMatchAgreesWithGit compares random rules on random trees with
// git check-ignore, whose verdicts go-gitignore alone does not share.
func TestMatchAgreesWithGit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	checks := 0
	for range 150 {
		dir := t.TempDir()
		git(t, dir, nil, "init", "-q")
		paths := randomTree(t, rnd, dir)
		exclude := randomRules(rnd)
		write(t, dir, ".git/info/exclude", exclude)
		r := New(strings.Split(exclude, "\n"))
		for _, at := range []string{"", "a", "b/a"} {
			if at != "" && !slices.Contains(paths, at+"/") {
				continue
			}
			rules := randomRules(rnd)
			write(t, dir, filepath.Join(at, ".gitignore"), rules)
			r.Add(at, []byte(rules))
		}
		var got []string
		for _, p := range paths {
			if name, isDir := strings.CutSuffix(p, "/"); r.Match(name, isDir) {
				got = append(got, name)
			}
			checks++
		}
		if diff := cmp.Diff(gitIgnored(t, dir, paths), got); diff != "" {
			t.Fatalf("rules %q\n%s", ignoreFiles(dir), diff)
		}
	}
	t.Logf("%d paths compared", checks)
}

func randomRules(rnd *rand.Rand) string {
	pieces := []string{"a", "b", "c.t", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[^b-z]", "[a", "[[:alpha:]]", "[]a]", "[a-]", "[\\]a]",
		"\\a", "\\", " ", "(x)", "x", ".", "+", "{", "é", "#", "!", "$"}
	var b strings.Builder
	for range rnd.IntN(5) {
		if rnd.IntN(4) == 0 {
			b.WriteByte('!')
		}
		for range 1 + rnd.IntN(5) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// randomTree returns files and, with a slash at the end, folders.
func randomTree(t *testing.T, rnd *rand.Rand, root string) []string {
	names := []string{"a", "b", "c.t", "x", "(x)", "ab", "é", " ", "a ", "]", "a[b", "b.c", "#", "!", "$", "\xff"}
	var all []string
	var fill func(dir string, depth int)
	fill = func(dir string, depth int) {
		for _, i := range rnd.Perm(len(names))[:3+rnd.IntN(5)] {
			p := filepath.Join(dir, names[i])
			if depth < 3 && rnd.IntN(2) == 0 {
				all = append(all, p+"/")
				if err := os.Mkdir(filepath.Join(root, p), 0o755); err != nil {
					t.Fatal(err)
				}
				fill(p, depth+1)
				continue
			}
			all = append(all, p)
			write(t, root, p, "")
		}
	}
	fill("", 0)
	return all
}

func gitIgnored(t *testing.T, dir string, paths []string) []string {
	var in bytes.Buffer
	for _, p := range paths {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	out := git(t, dir, &in, "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin")
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

func ignoreFiles(dir string) map[string]string {
	all := map[string]string{}
	for _, p := range []string{".git/info/exclude", ".gitignore", "a/.gitignore", "b/a/.gitignore"} {
		data, err := os.ReadFile(filepath.Join(dir, p))
		if err == nil {
			all[p] = string(data)
		}
	}
	return all
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// git takes exit code 1, check-ignore's word for "none".
func git(t *testing.T, dir string, stdin *bytes.Buffer, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if stdin != nil {
		cmd.Stdin = stdin
	}
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}
