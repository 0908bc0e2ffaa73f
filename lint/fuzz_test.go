package lint_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/trial"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// kept is a secret that a user keeps.
const kept = "q7Rk2mZx9LwT4vBn8Yc3"

// FuzzCheck: whatever a change is made of, a check ends, finds a secret that is
// planted in it, and shows it nowhere.
func FuzzCheck(f *testing.F) {
	for _, files := range [][]corpus.Planted{corpus.Surface(1), corpus.Operations(1)} {
		for i, p := range files {
			f.Add(p.Path, []byte(files[(i+7)%len(files)].Text), []byte(p.Text), uint8(i))
		}
	}
	for _, b := range corpus.Bypasses(1) {
		f.Add(b.Files[0].Path, []byte{}, []byte(b.Files[0].Text), uint8(0))
	}
	for i, m := range corpus.ValueMutations() {
		f.Add("a.txt", []byte(m.Write(kept)), []byte(m.Write(kept+"x")), uint8(i))
	}
	f.Add("dir/"+kept+"/a", []byte{}, []byte(strings.Repeat(kept+" ", 200)+"; rm -rf /"), uint8(1))
	l := lint.New(lint.Options{Values: []lint.Value{{Name: "API_KEY", Needles: shadow.Needles(kept, true)}}, Now: time.Unix(1e9, 0)})
	modes := []filemode.FileMode{filemode.Regular, filemode.Executable, filemode.Symlink}
	f.Fuzz(func(t *testing.T, path string, old, new []byte, mode uint8) {
		if path == "" {
			return
		}
		blobs := trial.Store{}
		planted := bytes.Join([][]byte{new, []byte(kept), old}, []byte("\n"))
		change := git.Change{Path: path, New: git.Entry{Mode: modes[int(mode)%len(modes)], Hash: blobs.Put(planted)}}
		if len(old) > 0 {
			change.Old = git.Entry{Mode: modes[int(mode/3)%len(modes)], Hash: blobs.Put(old)}
		}
		gone := git.Change{Path: path + ".old", Old: git.Entry{Mode: filemode.Regular, Hash: blobs.Put(new)}}
		report, err := l.Check(t.Context(), blobs, []git.Change{change, gone}, lint.Terms{Task: string(old)})
		if err != nil {
			t.Fatal(err)
		}
		var sarif bytes.Buffer
		if err := lint.WriteSARIF(&sarif, "test", report.Findings); err != nil {
			t.Fatal(err)
		}
		if said := fmt.Sprintf("%+v", report) + sarif.String(); strings.Contains(said, kept) {
			t.Fatalf("a secret shows: %s", said)
		}
		isNew := len(old) == 0 && !bytes.Contains(new, []byte(kept)) // the base may have it in some form
		if isNew && bytes.Contains(doc.Decode(planted), []byte(kept)) && !report.Blocked() {
			t.Fatalf("the secret does not block: %+v", report)
		}
	})
}
