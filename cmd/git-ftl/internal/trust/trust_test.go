package trust_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func write(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }

// sameFile does not look at a megabyte byte by byte, as cmp would.
func sameFile(a, b trust.File) bool { return a.Name == b.Name && string(a.Data) == string(b.Data) }

func TestRead(t *testing.T) {
	const bad = "it is not a regular file of at most 1 MiB"
	for _, tc := range []struct {
		name string
		make func(dir string) error
		want trust.Content
	}{
		{"nothing", func(string) error { return nil }, trust.Content{}},
		{"both", func(dir string) error {
			return errors.Join(write(filepath.Join(dir, ".ftlinclude"), "b"), write(filepath.Join(dir, ".ftlconfig"), "a\x00\r\n"), write(filepath.Join(dir, ".ftlignore"), "c"))
		}, trust.Content{Files: []trust.File{{Name: ".ftlconfig", Data: []byte("a\x00\r\n")}, {Name: ".ftlinclude", Data: []byte("b")}}}},
		{"an empty one", func(dir string) error { return write(filepath.Join(dir, ".ftlinclude"), "") },
			trust.Content{Files: []trust.File{{Name: ".ftlinclude", Data: []byte{}}}}},
		{"as large as may be", func(dir string) error {
			return errors.Join(write(filepath.Join(dir, ".ftlconfig"), ""), os.Truncate(filepath.Join(dir, ".ftlconfig"), 1<<20))
		}, trust.Content{Files: []trust.File{{Name: ".ftlconfig", Data: make([]byte, 1<<20)}}}},
		{"too large", func(dir string) error {
			return errors.Join(write(filepath.Join(dir, ".ftlconfig"), ""), os.Truncate(filepath.Join(dir, ".ftlconfig"), 1<<20+1))
		}, trust.Content{Refused: map[string]string{".ftlconfig": bad}}},
		{"a link beside a file", func(dir string) error {
			return errors.Join(write(filepath.Join(dir, "real"), "x"), os.Symlink("real", filepath.Join(dir, ".ftlconfig")), write(filepath.Join(dir, ".ftlinclude"), "b"))
		}, trust.Content{Files: []trust.File{{Name: ".ftlinclude", Data: []byte("b")}}, Refused: map[string]string{".ftlconfig": bad}}},
		{"a link to nothing", func(dir string) error { return os.Symlink("gone", filepath.Join(dir, ".ftlconfig")) },
			trust.Content{Refused: map[string]string{".ftlconfig": bad}}},
		{"a folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, ".ftlinclude"), 0o755) },
			trust.Content{Refused: map[string]string{".ftlinclude": bad}}},
		{"a pipe", func(dir string) error {
			if runtime.GOOS == "windows" {
				return os.Mkdir(filepath.Join(dir, ".ftlconfig"), 0o755)
			}
			return exec.Command("mkfifo", filepath.Join(dir, ".ftlconfig")).Run()
		}, trust.Content{Refused: map[string]string{".ftlconfig": bad}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tc.make(dir); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, trust.Read(dir), cmpopts.EquateEmpty(), cmp.Comparer(sameFile)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadFollowsNoLink: not even one that takes the file's place between a look
// at it and its opening.
func TestReadFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	secret, name, next := filepath.Join(t.TempDir(), "secret"), filepath.Join(dir, ".ftlconfig"), filepath.Join(dir, "next")
	if err := errors.Join(write(secret, "secret"), write(name, "{}")); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := errors.Join(os.Symlink(secret, next), os.Rename(next, name), write(next, "{}"), os.Rename(next, name)); err != nil {
				stopped <- err
				return
			}
		}
	}()
	whole, end := 0, time.Now().Add(20*time.Second)
	for i := 0; i < 5000 || whole == 0 && time.Now().Before(end); i++ {
		data, ok := trust.Read(dir).Data(".ftlconfig")
		if ok && string(data) == "secret" {
			t.Fatal("a link was followed")
		}
		if ok {
			whole++
		}
	}
	close(stop)
	if err := <-stopped; err != nil || whole == 0 {
		t.Errorf("read %d times, %v", whole, err)
	}
}

func content(pairs ...string) trust.Content {
	var c trust.Content
	for i := 0; i+1 < len(pairs); i += 2 {
		c.Files = append(c.Files, trust.File{Name: pairs[i], Data: []byte(pairs[i+1])})
	}
	return c
}

// TestDigest pins the format: pipelines have digests written down.
func TestDigest(t *testing.T) {
	for _, tc := range []struct {
		name    string
		content trust.Content
		want    string
	}{
		// printf 'git-ftl trust 1\n' | sha256sum
		{"nothing", content(), "429b8b47ba4179c548e6c717edc0f146be7be98ec97ff94b9177fb7e68583b73"},
		// printf 'git-ftl trust 1\n\0\0\0\0\0\0\0\012.ftlconfig\0\0\0\0\0\0\0\002{}' | sha256sum
		{"a file", content(".ftlconfig", "{}"), "dadcb047e72d98be7a73577f1fba0f8326ba5eda4072637df73786aa24b0d713"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.content.Digest(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// FuzzDigest: two contents have one digest only where they have the same files,
// wherever the borders of names and bytes lie.
func FuzzDigest(f *testing.F) {
	f.Add("a", "bc", "d", "e", uint8(2), uint8(2))
	f.Add(".ftlconfig", "\x00\x00\x00\x00\x00\x00\x00\x01x", "", "", uint8(1), uint8(9))
	f.Fuzz(func(t *testing.T, a, b, c, d string, cut, shift uint8) {
		one := content(a, b, c, d)
		all := a + b + c + d
		at := min(int(cut), len(all))
		to := at + min(int(shift), len(all)-at)
		for _, other := range []trust.Content{
			content(all[:at], all[at:]), content(all[:at], all[at:to], all[to:], ""), content("", all[:at], all[at:to], all[to:]),
			content(c, d, a, b), content(a, b), content(a, b, c, d, "", ""), {Files: one.Files, Refused: map[string]string{"x": "y"}},
		} {
			same := slices.EqualFunc(one.Files, other.Files, sameFile)
			if (one.Digest() == other.Digest()) != same {
				t.Errorf("%q and %q: same digest is %v", one.Files, other.Files, !same)
			}
		}
	})
}

func newRepo(t *testing.T) *git.Repo {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	r, err := git.Open(t.Context(), dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func take(t *testing.T, r *git.Repo, c trust.Content) {
	t.Helper()
	if err := trust.Take(t.Context(), r, "p", c); err != nil {
		t.Fatal(err)
	}
}

// TestBook: trust is in the newest content of each work tree, and of a project.
func TestBook(t *testing.T) {
	a, b, empty := content(".ftlconfig", "a"), content(".ftlconfig", "b"), content(".ftlconfig", "")
	for _, tc := range []struct {
		name   string
		do     func(t *testing.T, r *git.Repo)
		asks   string // project that looks
		covers []trust.Content
		not    []trust.Content
		before trust.Content
	}{
		{"nothing yet", func(*testing.T, *git.Repo) {}, "p", nil, []trust.Content{a, empty, {}}, trust.Content{}},
		{"a", func(t *testing.T, r *git.Repo) { take(t, r, a) }, "p", []trust.Content{a}, []trust.Content{b, empty, {}}, a},
		{"a, then b: a is the past", func(t *testing.T, r *git.Repo) { take(t, r, a); take(t, r, b) }, "p", []trust.Content{b}, []trust.Content{a}, b},
		{"what was refused does not count", func(t *testing.T, r *git.Repo) {
			take(t, r, trust.Content{Files: a.Files, Refused: map[string]string{".ftlinclude": "x"}})
		}, "p", []trust.Content{a}, []trust.Content{b}, a},
		{"another project", func(t *testing.T, r *git.Repo) { take(t, r, a) }, "q", nil, []trust.Content{a}, trust.Content{}},
		{"no project", func(t *testing.T, r *git.Repo) { take(t, r, a) }, "", nil, []trust.Content{a}, trust.Content{}},
		{"of a work tree that is gone", func(t *testing.T, r *git.Repo) {
			gone := *r
			gone.GitDir = filepath.Join(r.CommonDir, "worktrees", "gone")
			take(t, &gone, a)
			take(t, r, b)
		}, "p", []trust.Content{b}, []trust.Content{a}, b},
		{"damaged", func(t *testing.T, r *git.Repo) {
			take(t, r, a)
			if err := r.WriteState("trust.json", []byte(`{"project": "p", "trees": [{"key": "main", "content": {"files": [{"name": ".ftlconfig", "data": "YQ=="}]}}`)); err != nil {
				t.Fatal(err)
			}
		}, "p", nil, []trust.Content{a}, trust.Content{}},
		{"forgotten", func(t *testing.T, r *git.Repo) {
			take(t, r, a)
			for _, want := range []bool{true, false} {
				if had, err := trust.Forget(t.Context(), r); err != nil || had != want {
					t.Errorf("forget: %v, %v", had, err)
				}
			}
		}, "p", nil, []trust.Content{a}, trust.Content{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRepo(t)
			tc.do(t, r)
			book := trust.Open(r, tc.asks)
			for _, c := range tc.covers {
				if !book.Covers(c) {
					t.Errorf("%q is not trusted", c.Files)
				}
			}
			for _, c := range tc.not {
				if book.Covers(c) {
					t.Errorf("%q is trusted", c.Files)
				}
			}
			before, ok := book.Before("main")
			if diff := cmp.Diff(tc.before, before, cmpopts.EquateEmpty()); diff != "" || ok != (len(tc.before.Files) > 0) {
				t.Errorf("before: %v %s", ok, diff)
			}
		})
	}
}

// TestWith: files that others name, below folders that are no links.
func TestWith(t *testing.T) {
	outside := t.TempDir()
	for _, tc := range []struct {
		name string
		make func(dir string) error
		want trust.Content
	}{
		{"a file in a folder", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o755), write(filepath.Join(dir, "d", "f"), "x"))
		}, content("d/f", "x")},
		{"before another", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "d"), 0o755), write(filepath.Join(dir, "d", "f"), "x"), write(filepath.Join(dir, ".ftllint"), "l"))
		}, content(".ftllint", "l", "d/f", "x")},
		{"no folder", func(string) error { return nil }, trust.Content{}},
		{"a file in its place", func(dir string) error { return write(filepath.Join(dir, "d"), "x") }, trust.Content{}},
		{"a link inside in its place", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "e"), 0o755), write(filepath.Join(dir, "e", "f"), "x"), os.Symlink("e", filepath.Join(dir, "d")))
		}, trust.Content{Refused: map[string]string{"d/f": "a folder above it is a link"}}},
		{"a link outside in its place", func(dir string) error {
			return errors.Join(write(filepath.Join(outside, "f"), "x"), os.Symlink(outside, filepath.Join(dir, "d")))
		}, trust.Content{Refused: map[string]string{"d/f": "a folder above it is a link"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tc.make(dir); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, trust.Read(dir).With(dir, "d/f"), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
