package patch

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// lab is a repository with a queue and a staging index of its own.
type lab struct {
	t    *testing.T
	repo *git.Repo
	q    *Queue
	objs *git.Objects
}

func newLab(t *testing.T) *lab {
	t.Helper()
	dir := t.TempDir()
	return labAt(t, dir, true)
}

func gitEnv(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.com", "GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.com")
}

func labAt(t *testing.T, dir string, init bool) *lab {
	t.Helper()
	if init {
		cmd := exec.Command("git", "init", "-q", "-b", "main", dir)
		cmd.Env = gitEnv(dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git init: %v %s", err, out)
		}
	}
	repo, err := git.Open(t.Context(), dir, gitEnv(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, repo: repo, q: NewQueue(repo, 0o022), objs: repo.Objects(context.Background())}
	t.Cleanup(func() { _ = l.objs.Close() })
	return l
}

func (l *lab) git(args ...string) string {
	l.t.Helper()
	out, err := l.repo.Line(l.t.Context(), args...)
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

func (l *lab) path(p string) string { return filepath.Join(l.repo.Dir, filepath.FromSlash(p)) }

func (l *lab) write(p, content string) {
	l.t.Helper()
	l.must(os.MkdirAll(filepath.Dir(l.path(p)), 0o755))
	l.must(os.WriteFile(l.path(p), []byte(content), 0o644))
}

func (l *lab) read(p string) string {
	l.t.Helper()
	b, err := os.ReadFile(l.path(p))
	l.must(err)
	return string(b)
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// stage is the tree of the work tree as git add -A sees it.
func (l *lab) stage() plumbing.Hash {
	l.t.Helper()
	index := filepath.Join(l.repo.State, "test-index")
	_, err := l.repo.Output(l.t.Context(), git.Call{Args: []string{"add", "-A", "."}, Index: index, Config: []string{"core.safecrlf=false"}})
	l.must(err)
	out, err := l.repo.Output(l.t.Context(), git.Call{Args: []string{"write-tree"}, Index: index})
	l.must(err)
	return plumbing.NewHash(strings.TrimSpace(string(out)))
}

// snapshot is the work tree as a base.
func (l *lab) snapshot() Base {
	l.t.Helper()
	tree := l.stage()
	return Base{Commit: plumbing.NewHash(l.git("commit-tree", "-m", "snapshot", tree.String())), Tree: tree}
}

func (l *lab) now() Current {
	l.t.Helper()
	head, err := l.repo.Ref(l.t.Context(), "HEAD")
	l.must(err)
	return Current{Tree: l.stage(), Head: head}
}

// change is what a test's agent does to a path.
type change struct {
	path    string
	content string
	mode    filemode.FileMode // 0 deletes
}

func file(p, content string) change       { return change{p, content, filemode.Regular} }
func executable(p, content string) change { return change{p, content, filemode.Executable} }
func link(p, target string) change        { return change{p, target, filemode.Symlink} }
func gone(p string) change                { return change{path: p} }

// patch words changes to a base as the guest does.
func (l *lab) patch(base Base, changes ...change) []byte {
	l.t.Helper()
	var list []git.Change
	for _, c := range changes {
		g := git.Change{Path: c.path}
		if c.mode != 0 {
			h, err := l.objs.WriteBlob([]byte(c.content))
			l.must(err)
			g.New = git.Entry{Mode: c.mode, Hash: h}
		}
		list = append(list, g)
	}
	tree, err := l.objs.Rewrite(base.Tree, list)
	l.must(err)
	diff, err := l.objs.Diff(base.Tree, tree)
	l.must(err)
	return seal(l.sections(diff)...)
}

func (l *lab) sections(diff []git.Change) []string {
	l.t.Helper()
	var out []string
	for _, c := range diff {
		var was, is []byte
		var err error
		if !c.Old.Hash.IsZero() {
			was, err = l.objs.Blob(c.Old.Hash)
			l.must(err)
		}
		if !c.New.Hash.IsZero() {
			is, err = l.objs.Blob(c.New.Hash)
			l.must(err)
		}
		if c.Old.Mode != 0 && c.New.Mode != 0 && (c.Old.Mode == filemode.Symlink) != (c.New.Mode == filemode.Symlink) {
			out = append(out, emit(git.Change{Path: c.Path, Old: c.Old}, was, nil), emit(git.Change{Path: c.Path, New: c.New}, nil, is))
			continue
		}
		out = append(out, emit(c, was, is))
	}
	return out
}

// emit words one section.
func emit(c git.Change, was, is []byte) string {
	var b strings.Builder
	a, z := cQuote("a/"+c.Path), cQuote("b/"+c.Path)
	fmt.Fprintf(&b, "diff --git %s %s\n", a, z)
	mode := ""
	switch {
	case c.Old.Mode == 0:
		fmt.Fprintf(&b, "new file mode %06o\n", uint32(c.New.Mode))
		a = "/dev/null"
	case c.New.Mode == 0:
		fmt.Fprintf(&b, "deleted file mode %06o\n", uint32(c.Old.Mode))
		z = "/dev/null"
	case c.Old.Mode != c.New.Mode:
		fmt.Fprintf(&b, "old mode %06o\nnew mode %06o\n", uint32(c.Old.Mode), uint32(c.New.Mode))
	default:
		mode = fmt.Sprintf(" %06o", uint32(c.Old.Mode))
	}
	if c.Old.Hash == c.New.Hash {
		return b.String()
	}
	fmt.Fprintf(&b, "index %s..%s%s\n", c.Old.Hash, c.New.Hash, mode)
	switch {
	case bytes.IndexByte(was, 0) >= 0 || bytes.IndexByte(is, 0) >= 0 || len(was)+len(is) > 1<<20:
		b.WriteString("GIT binary patch\n" + literalOf(is))
	case len(was)+len(is) > 0:
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", a, z)
		old, new := strings.SplitAfter(string(was), "\n"), strings.SplitAfter(string(is), "\n")
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", hunkRange(was), hunkRange(is))
		hunkLines(&b, "-", old)
		hunkLines(&b, "+", new)
	}
	return b.String()
}

func hunkRange(content []byte) string {
	n := bytes.Count(content, []byte("\n"))
	if len(content) > 0 && content[len(content)-1] != '\n' {
		n++
	}
	return fmt.Sprintf("%d,%d", min(n, 1), n)
}

func hunkLines(b *strings.Builder, op string, lines []string) {
	for _, line := range lines {
		if line == "" {
			continue
		}
		b.WriteString(op + line)
		if !strings.HasSuffix(line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// literalOf words content as a forward binary literal.
func literalOf(content []byte) string {
	var z bytes.Buffer
	w, _ := zlib.NewWriterLevel(&z, zlib.BestSpeed)
	_, _ = w.Write(content)
	_ = w.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "literal %d\n", len(content))
	for data := z.Bytes(); len(data) > 0; {
		n := min(52, len(data))
		if n <= 26 {
			b.WriteByte(byte('A' + n - 1))
		} else {
			b.WriteByte(byte('a' + n - 27))
		}
		for i := 0; i < n; i += 4 {
			var v uint32
			for k := range 4 {
				v <<= 8
				if i+k < n {
					v |= uint32(data[i+k])
				}
			}
			var five [5]byte
			for k := 4; k >= 0; k-- {
				five[k] = base85Digits[v%85]
				v /= 85
			}
			b.Write(five[:])
		}
		b.WriteByte('\n')
		data = data[n:]
	}
	b.WriteByte('\n')
	return b.String()
}

// seal joins sections and adds the end line.
func seal(sections ...string) []byte {
	all := []byte(strings.Join(sections, ""))
	return fmt.Appendf(all, "ftl-end files=%d bytes=%d sha256=%x\n", len(sections), len(all), sha256.Sum256(all))
}

func parse(data []byte) (*Patch, error) {
	return Parse(bytes.NewReader(data), int64(len(data)), Limits{})
}

var idCount atomic.Int64

// newID returns an ID that no other test has used.
func newID() string {
	id := ""
	for n := idCount.Add(1) + 16*16*16; n > 0; n /= 16 {
		id += string(rune('k' + n%16))
	}
	return id
}

// store parses and stores changes to a base.
func (l *lab) store(base Base, changes ...change) Result {
	l.t.Helper()
	r, err := l.tryStore(base, changes...)
	l.must(err)
	return r
}

func (l *lab) tryStore(base Base, changes ...change) (Result, error) {
	l.t.Helper()
	return l.storeBytes(base, l.patch(base, changes...))
}

func (l *lab) storeBytes(base Base, data []byte) (Result, error) {
	l.t.Helper()
	p, err := parse(data)
	if err != nil {
		return Result{}, err
	}
	return l.q.Store(l.t.Context(), base, p, Meta{ID: newID(), Task: "do\nit", Agent: "claude-code", Subject: "Do it", When: time.Now()})
}

func (l *lab) apply(id string) Applied {
	l.t.Helper()
	done, err := l.q.Apply(l.t.Context(), id, ApplyOptions{Now: l.now()})
	l.must(err)
	return done
}

func (l *lab) undo() Applied {
	l.t.Helper()
	done, err := l.q.Undo(l.t.Context(), UndoOptions{})
	l.must(err)
	return done
}

// disk describes every file and folder of the work tree but .git.
func (l *lab) disk() map[string]string {
	l.t.Helper()
	all := map[string]string{}
	l.must(filepath.WalkDir(l.repo.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(l.repo.Dir, p)
		if rel == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch fi.Mode().Type() {
		case fs.ModeSymlink:
			content, err = os.Readlink(p)
		case 0:
			var b []byte
			b, err = os.ReadFile(p)
			content = string(b)
		}
		all[filepath.ToSlash(rel)] = fmt.Sprintf("%s %d %q", fi.Mode(), fi.ModTime().UnixNano(), content)
		return err
	}))
	return all
}
