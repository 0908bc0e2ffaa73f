package gitpatch

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

func side(mode uint32, data string) *Side {
	return &Side{Mode: mode, Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(data)), nil
	}}
}

// one is a count that git leaves out and the diff library does not.
var one = regexp.MustCompile(`(?m)^(@@ .*?\d+),1( .*@@)$`)

// TestSectionAsGitDiff compares whole patches with git's own, where git can say
// the same.
func TestSectionAsGitDiff(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		old, new   *Side
	}{
		{"edit", "f", side(0o100644, "a\nb\nc\n"), side(0o100644, "a\nx\nc\n")},
		{"edit and mode", "f", side(0o100644, "a\n"), side(0o100755, "b\n")},
		{"mode only", "f", side(0o100644, "a\n"), side(0o100755, "a\n")},
		{"no last newline", "f", side(0o100644, "a\nb"), side(0o100644, "a\nb\n")},
		{"both without last newline", "f", side(0o100644, "a"), side(0o100644, "b")},
		{"CRLF to LF", "f", side(0o100644, "a\r\nb\r\n"), side(0o100644, "a\nb\r\n")},
		{"new", "d/f", nil, side(0o100755, "a\n")},
		{"new and empty", "f", nil, side(0o100644, "")},
		{"deleted", "f", side(0o100644, "a\nb\n"), nil},
		{"deleted and empty", "f", side(0o100644, ""), nil},
		{"becomes empty", "f", side(0o100644, "a\n"), side(0o100644, "")},
		{"symlink", "l", nil, side(0o120000, "to/where")},
		{"symlink moves", "l", side(0o120000, "x"), side(0o120000, "y")},
		{"file becomes symlink", "l", side(0o100644, "x\n"), side(0o120000, "y")},
		{"odd name", "a\tb\"c\\d\x01\xff\né", nil, side(0o100644, "a\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one.ReplaceAllString(one.ReplaceAllString(patch(t, tt.path, tt.old, tt.new), "$1$2"), "$1$2")
			if want := gitDiff(t, tt.path, tt.old, tt.new); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestBinaryApplies has git apply what git diff would deflate otherwise.
func TestBinaryApplies(t *testing.T) {
	var big strings.Builder
	for i := range 3 << 20 {
		big.WriteString(string(rune('a'+i%26)) + "bcdef")
	}
	for _, tt := range []struct {
		name     string
		old, new *Side
	}{
		{"new", nil, side(0o100644, "\x00\x01\x02 some bytes that fill more than one line of base85, some 60")},
		{"changed", side(0o100644, "\x00a"), side(0o100644, "\x00b")},
		{"text becomes binary", side(0o100644, "a\n"), side(0o100755, "a\x00\n")},
		{"deleted", side(0o100644, "\x00a"), nil},
		{"emptied", side(0o100644, "\x00a"), side(0o100644, "")},
		{"text over the bound", side(0o100644, "a\n"), side(0o100644, big.String())},
		{"too many lines", nil, side(0o100644, strings.Repeat("\n", maxLines+1))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := patch(t, "f", tt.old, tt.new)
			if !strings.Contains(text, "\nGIT binary patch\nliteral ") {
				t.Fatalf("no binary patch: %.200s", text)
			}
			dir := repository(t, "f", tt.old)
			run(t, dir, text, "apply")
			got, err := os.ReadFile(filepath.Join(dir, "f"))
			if tt.new == nil {
				if !errors.Is(err, os.ErrNotExist) {
					t.Errorf("file is still there: %v", err)
				}
				return
			}
			if want := read(t, tt.new); string(got) != want {
				t.Errorf("got %d bytes, want %d", len(got), len(want))
			}
		})
	}
}

func TestEqualSidesWriteNothing(t *testing.T) {
	if got := patch(t, "f", side(0o100644, "a"), side(0o100644, "a")); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestEndLine(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, 1<<20)
	for _, path := range []string{"a", "b"} {
		if err := w.Section(path, side(0o100644, "x"), side(0o120000, "x")); err != nil {
			t.Fatal(err)
		}
	}
	n := out.Len()
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes()[:n])
	if got, want := out.String()[n:], wire.EndLine(4, int64(n), sum[:]); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBoundEndsThePatch(t *testing.T) {
	w := NewWriter(io.Discard, 150)
	if err := w.Section("f", nil, side(0o100644, strings.Repeat("x", 200))); !errors.Is(err, ErrTooBig) {
		t.Errorf("Section: %v", err)
	}
	if err := w.End(); !errors.Is(err, ErrTooBig) {
		t.Errorf("End: %v", err)
	}
}

func TestFileThatGrowsIsAnError(t *testing.T) {
	s := side(0o100644, "abc")
	s.Size = 2
	if err := NewWriter(io.Discard, 1<<20).Section("f", nil, s); err == nil {
		t.Error("no error")
	}
}

func patch(t *testing.T, path string, old, new *Side) string {
	t.Helper()
	var out bytes.Buffer
	if err := NewWriter(&out, 1<<30).Section(path, old, new); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func gitDiff(t *testing.T, path string, old, new *Side) string {
	t.Helper()
	dir := repository(t, path, old)
	put(t, dir, path, new)
	run(t, dir, "", "add", "-A", "-f")
	return run(t, dir, "", "diff", "--cached", "--full-index", "--no-renames", "--patience")
}

func repository(t *testing.T, path string, s *Side) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "", "init", "-q")
	put(t, dir, path, s)
	run(t, dir, "", "add", "-A", "-f")
	return dir
}

// put commits nothing: the index is the old side.
func put(t *testing.T, dir, path string, s *Side) {
	t.Helper()
	run(t, dir, "", "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x", "--allow-empty")
	name := filepath.Join(dir, path)
	err := os.RemoveAll(name)
	if err == nil && s != nil {
		err = os.MkdirAll(filepath.Dir(name), 0o755)
	}
	switch {
	case err != nil || s == nil:
	case s.link():
		err = os.Symlink(read(t, s), name)
	default:
		err = os.WriteFile(name, []byte(read(t, s)), os.FileMode(s.Mode&0o777))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s *Side) string {
	t.Helper()
	r, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func run(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, &stderr)
	}
	return string(out)
}
