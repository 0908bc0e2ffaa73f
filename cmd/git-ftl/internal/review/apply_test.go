package review

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// repository is a git repository for a test.
type repository struct {
	t     *testing.T
	dir   string
	queue *patch.Queue
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, dir: t.TempDir()}
	r.git("", "init", "-q")
	repo, err := git.Open(t.Context(), r.dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	r.queue = patch.NewQueue(repo, 0o022)
	return r
}

func (r *repository) git(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "core.autocrlf=false"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s\n%s", args, err, out, stdin)
	}
	return strings.TrimSpace(string(out))
}

// tree makes a tree of the files and no others.
func (r *repository) tree(files map[string]string) plumbing.Hash {
	r.t.Helper()
	r.git("", "rm", "-rqf", "--ignore-unmatch", ".")
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("", "add", "-A")
	return plumbing.NewHash(r.git("", "write-tree"))
}

// TestAcceptedIsGitApply: what is applied after random keys on the screen is what
// git apply makes of exactly the hunks that they accepted.
func TestAcceptedIsGitApply(t *testing.T) {
	t.Parallel()
	cases := 200
	if testing.Short() {
		cases = 20
	}
	r, rnd := newRepository(t), rand.New(rand.NewSource(7))
	for n := range cases {
		base, edited := randomFiles(rnd)
		res := patch.Result{ID: "kkkk", State: patch.Undecided, BaseTree: r.tree(base), Tree: r.tree(edited)}
		res.Have = res.BaseTree
		if res.Tree == res.Have {
			continue
		}
		pieces, err := r.queue.Pieces(t.Context(), res, nil)
		if err != nil {
			t.Fatal(err)
		}
		chosen := r.decide(pieces, rnd)
		part, err := r.queue.Take(t.Context(), res, chosen.Pieces)
		if err != nil {
			t.Fatal(err)
		}
		if want := r.gitApply(res.Have, chosen.Pieces, chosen.texts); part.Tree != want {
			t.Fatalf("case %d: %s", n, r.git("", "diff", want.String(), part.Tree.String()))
		}
	}
}

// decided is what came of random keys: the outcome of the screen, and the texts of
// the hunks that were on it as they were accepted.
type decided struct {
	Outcome
	texts []string
}

// decide accepts, rejects and splits hunks at random.
func (r *repository) decide(pieces []patch.Piece, rnd *rand.Rand) decided {
	r.t.Helper()
	c := Change{ID: "kkkk"}
	for _, p := range pieces {
		if n := len(c.Files); n == 0 || c.Files[n-1].Path != p.Path {
			c.Files = append(c.Files, File{Path: p.Path, Change: p.Change})
		}
		last := &c.Files[len(c.Files)-1]
		last.Pieces = append(last.Pieces, p)
	}
	s := newScreen(r.t, Review{Change: c}, 80+rnd.Intn(100), 24)
	if rnd.Intn(2) == 0 {
		s.types("v")
	}
	var d decided
	for i := 0; i < len(s.hunks); i++ {
		s.types("]")
		if rnd.Intn(3) == 0 {
			s.types("S") // the first of its parts is where the hunk was
		}
		if got := s.doc.rows[s.cur].hunk; got != i {
			r.t.Fatalf("the cursor is on hunk %d, not %d", got, i)
		}
		switch rnd.Intn(4) {
		case 0, 1:
			s.types("y")
			d.texts = append(d.texts, s.hunks[i].piece.Path+"\n"+s.hunks[i].piece.Header+s.hunks[i].piece.Text)
		case 2:
			s.types("y", "x")
		}
	}
	if len(d.texts) == 0 {
		return d
	}
	s.types("A", "y")
	d.Outcome = s.outcome
	if d.Action != Apply || len(d.Pieces) != len(d.texts) {
		r.t.Fatalf("%d pieces of %d", len(d.Pieces), len(d.texts))
	}
	return d
}

// gitApply applies hunks one by one, from the last to the first, so that the
// numbers of those above stay right.
func (r *repository) gitApply(base plumbing.Hash, pieces []patch.Piece, texts []string) plumbing.Hash {
	r.t.Helper()
	r.git("", "read-tree", base.String())
	for i, text := range slices.Backward(texts) {
		path, diff, _ := strings.Cut(text, "\n")
		if pieces[i].Hunk && !strings.Contains(pieces[i].Header, "+++") {
			diff = fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n", path, path, path, path) + pieces[i].Text
		}
		r.git(onOld(diff), "apply", "--cached", "--whitespace=nowarn", "-")
	}
	return plumbing.NewHash(r.git("", "write-tree"))
}

// onOld gives a hunk the place in the new file that it has in the old one, since
// nothing above it is changed.
func onOld(diff string) string {
	head, rest, ok := strings.Cut(diff, "\n@@ -")
	var old, oldCount, new, newCount int
	line, body, _ := strings.Cut(rest, "\n")
	switch {
	case !ok:
		return diff
	case scan(line, "%d,%d +%d,%d @@", &old, &oldCount, &new, &newCount), scan(line, "%d +%d,%d @@", &old, &new, &newCount):
		return fmt.Sprintf("%s\n@@ -%s +%d,%d @@\n%s", head, strings.Fields(line)[0], max(old, 1), newCount, body)
	case scan(line, "%d,%d +%d @@", &old, &oldCount, &new), scan(line, "%d +%d @@", &old, &new):
		return fmt.Sprintf("%s\n@@ -%s +%d @@\n%s", head, strings.Fields(line)[0], max(old, 1), body)
	}
	return diff
}

func scan(line, format string, to ...any) bool {
	n, err := fmt.Sscanf(line, format, to...)
	return err == nil && n == len(to)
}

// randomFiles are some files before and after an edit.
func randomFiles(rnd *rand.Rand) (base, edited map[string]string) {
	base, edited = map[string]string{}, map[string]string{}
	for _, name := range []string{"a.go", "b.txt", "c"} {
		var before, after strings.Builder
		for i := range 8 + rnd.Intn(40) {
			line := fmt.Sprintf("line %d\n", i%7)
			before.WriteString(line)
			switch rnd.Intn(9) {
			case 0:
			case 1:
				fmt.Fprintf(&after, "new %d\n%s", rnd.Intn(3), line)
			case 2:
				fmt.Fprintf(&after, "other %d\n", rnd.Intn(3))
			default:
				after.WriteString(line)
			}
		}
		switch rnd.Intn(8) {
		case 0:
			edited[name] = after.String()
		case 1:
			base[name] = before.String()
		case 2:
			base[name], edited[name] = before.String(), after.String()+"no end"
		default:
			base[name], edited[name] = before.String(), after.String()
		}
	}
	return base, edited
}
