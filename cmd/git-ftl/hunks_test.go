package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/patch"
)

// What a patch holds cannot steer the terminal, nor bring colours of its own.
func TestPiecesAreShownClean(t *testing.T) {
	var out bytes.Buffer
	q := &asker{in: bufio.NewReader(strings.NewReader("y")), out: &out, ui: &ui{colour: true}}
	p := patch.Piece{Path: "a", Change: patch.Modified, Hunk: true, Header: "diff --git a/\x1b[2J b/\x1b[2J\n", Text: "@@ -1 +1 @@\n-\x1b[32mx\n+y\u202e\r\n z\n"}
	if err := q.run(t.Context(), []patch.Piece{p}); err != nil || len(q.chosen) != 1 {
		t.Errorf("chose %d, %v", len(q.chosen), err)
	}
	want := "\x1b[1mdiff --git a/\\x1b[2J b/\\x1b[2J\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-\\x1b[32mx\x1b[0m\n\x1b[32m+y\\u202e\\x0d\x1b[0m\n z\n" +
		"\x1b[1m(1/1) Apply this hunk [y,n,q,a,d,?]?\x1b[0m "
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// A signal ends the questions, and nothing is taken.
func TestSignalEndsTheQuestions(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	q := &asker{in: bufio.NewReader(in), out: io.Discard, ui: &ui{}}
	cancel()
	if err := q.run(ctx, []patch.Piece{{Path: "a", Change: patch.Added}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestQuestions(t *testing.T) {
	for _, tc := range []struct {
		name, answers string
		want          string // paths of what is chosen
	}{
		{"all", "y\ny\ny\n", "a a b"},
		{"none", "n\nn\nn\n", ""},
		{"the file's rest", "a\nn\n", "a a"},
		{"nothing of the file", "d\ny\n", "b"},
		{"quit takes what was chosen", "y\nq\n", "a"},
		{"the input ends", "n\ny", "a"},
		{"no such key", "yes\ns\n?\ny\nn\nn\n", "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := &asker{in: bufio.NewReader(strings.NewReader(tc.answers)), out: io.Discard, ui: &ui{}}
			err := q.run(t.Context(), []patch.Piece{{Path: "a", Change: patch.Mode}, {Path: "a", Hunk: true}, {Path: "b", Change: patch.Deleted}})
			var got []string
			for _, p := range q.chosen {
				got = append(got, p.Path)
			}
			if err != nil || strings.Join(got, " ") != tc.want {
				t.Errorf("chose %v, %v; want %s", got, err, tc.want)
			}
		})
	}
}
