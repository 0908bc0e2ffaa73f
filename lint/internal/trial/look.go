// Package trial measures the whole linter on a corpus: what of it is found and
// what is told that is nothing. Everything goes through lint.Linter.Check, as a
// change does.
package trial

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Store is blobs in memory.
type Store map[plumbing.Hash][]byte

// Put stores a blob.
func (s Store) Put(text []byte) plumbing.Hash {
	h := plumbing.ComputeHash(plumbing.BlobObject, text)
	s[h] = text
	return h
}

// Stream implements lint.Blobs. Errors: git.ErrMissing.
func (s Store) Stream(h plumbing.Hash, _ plumbing.ObjectType, f func(size int64, r io.Reader) error) error {
	text, ok := s[h]
	if !ok {
		return fmt.Errorf("blob %s: %w", h, git.ErrMissing)
	}
	return f(int64(len(text)), bytes.NewReader(text))
}

var _ lint.Blobs = Store{}

// now is when tokens of a corpus are judged.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Look checks files as one change to an empty tree.
func Look(l *lint.Linter, files []corpus.Planted) (lint.Report, error) {
	blobs := Store{}
	var changes []git.Change
	for _, f := range files {
		mode := f.Mode
		if mode == 0 {
			mode = filemode.Regular
		}
		changes = append(changes, git.Change{Path: f.Path, New: git.Entry{Mode: mode, Hash: blobs.Put([]byte(f.Text))}})
	}
	return l.Check(context.Background(), blobs, changes, lint.Terms{})
}

// batch is so small that no bound on findings is reached.
const batch = 100

// each checks files, every one below a folder of its own, and returns the findings
// of each.
func each(l *lint.Linter, files []corpus.Planted) ([][]lint.Finding, error) {
	all := make([][]lint.Finding, 0, len(files))
	for part := range slices.Chunk(files, batch) {
		moved := slices.Clone(part)
		for i := range moved {
			moved[i].Path = fmt.Sprintf("n%d/%s", i, moved[i].Path)
		}
		report, err := Look(l, moved)
		if err != nil {
			return nil, err
		}
		if report.More > 0 {
			return nil, fmt.Errorf("%d findings too many", report.More)
		}
		found := make([][]lint.Finding, len(part))
		for _, f := range report.Findings {
			var i int
			if _, err := fmt.Sscanf(f.Path, "n%d/", &i); err != nil {
				return nil, fmt.Errorf("path %q: %w", f.Path, err)
			}
			found[i] = append(found[i], f)
		}
		all = append(all, found...)
	}
	return all, nil
}

// has reports whether findings have one of a rule.
func has(findings []lint.Finding, rule string) bool {
	return slices.ContainsFunc(findings, func(f lint.Finding) bool { return f.Rule == rule })
}

// families reports whether a finding is of one of some families and at least warns.
func families(f lint.Finding, names ...string) bool {
	family, _, _ := strings.Cut(f.Rule, "/")
	return f.Severity != lint.Info && slices.Contains(names, family)
}
