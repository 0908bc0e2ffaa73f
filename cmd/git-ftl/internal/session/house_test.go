package session

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
)

// houseSession is a session with no engine, whose clock is ahead by a given time.
func houseSession(t *testing.T, ahead *time.Duration) *Session {
	t.Helper()
	return houseSessionAt(t, filepath.Join(t.TempDir(), "repo"), ahead)
}

func houseSessionAt(t *testing.T, dir string, ahead *time.Duration) *Session {
	t.Helper()
	s := newSession(t, dir)
	s.Env = append(s.Env, "DOCKER_HOST=unix:///nonexistent")
	s.Queue, s.Store = patch.NewQueue(s.Repo, 0o022), snapshot.New(s.Repo)
	s.Now = func() time.Time { return time.Now().Add(*ahead) }
	write(t, s, "a.txt", "a\n")
	runGit(t, s, "add", ".")
	runGit(t, s, "-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "-qm", "first")
	return s
}

func write(t *testing.T, s *Session, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Repo.Dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runGit runs git in the work tree as the user does.
func runGit(t *testing.T, s *Session, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.Repo.Dir, s.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// task makes a task as a run leaves it: snapshot, record, transcript, and a
// result that adds one file where text is not empty.
func task(t *testing.T, s *Session, id, text string) {
	t.Helper()
	snap, err := s.Store.Take(t.Context(), s.snapshotOptions(id))
	if err != nil {
		t.Fatal(err)
	}
	o := newOutcome(id)
	o.Status, o.Snapshot, o.Created, o.Ended, o.WorkTree = Empty, snap.Commit.String(), time.Now(), time.Now(), s.Repo.Key()
	if text != "" {
		o.Status = Pending
		commit := store(t, s, snap, text).Commit.String()
		o.Result = &commit
	}
	if err := errors.Join(s.save(t.Context(), o), s.MarkShown(id, "x"), s.Repo.WriteState("transcripts/"+id+".jsonl", []byte("{}\n"))); err != nil {
		t.Fatal(err)
	}
}

// store makes a result that adds a file of the snapshot's name.
func store(t *testing.T, s *Session, snap snapshot.Snapshot, text string) patch.Result {
	t.Helper()
	blob := plumbing.ComputeHash(plumbing.BlobObject, []byte(text+"\n"))
	body := fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nnew file mode 100644\nindex %[3]s..%[4]s\n--- /dev/null\n+++ b/%[1]s\n@@ -0,0 +1,1 @@\n+%[2]s\n",
		snap.ID, text, plumbing.ZeroHash, blob)
	data := fmt.Appendf(nil, "%sftl-end files=1 bytes=%d sha256=%x\n", body, len(body), sha256.Sum256([]byte(body)))
	p, err := patch.Parse(bytes.NewReader(data), int64(len(data)), patch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Queue.Store(t.Context(), patch.Base{Commit: snap.Commit, Tree: snap.Tree}, p,
		patch.Meta{ID: snap.ID, Task: "a task", Agent: "x", Subject: "a task", When: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Queue.Note(t.Context(), result.Commit, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	return result
}

func apply(t *testing.T, s *Session, id string) {
	t.Helper()
	r, err := s.Queue.Find(t.Context(), id)
	if err == nil {
		_, err = s.Apply(t.Context(), r, patch.ApplyOptions{}, false)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lines are what a collection removed or names, as words.
func lines(all []Collected) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.What+" "+c.Name+": "+c.Why)
	}
	slices.Sort(out)
	return out
}

// state lists the files of the state folder but for locks.
func state(t *testing.T, s *Session) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(s.Repo.State, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(p)) != "locks" {
			all = append(all, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
