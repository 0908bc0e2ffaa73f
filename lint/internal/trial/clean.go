package trial

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/lint"
	"github.com/git-ftl/git-ftl/lint/internal/corpus"
)

// Clean is what was told of code that nobody meant harm with.
type Clean struct {
	Files, Lines int
	Bytes        int64
	Rules        map[string]int // findings, by severity and rule
	Blocking     []string       // rule, path and line of each that blocks
}

// Told is the findings that block or warn in 1,000 lines.
func (c *Clean) Told() float64 {
	n := 0
	for rule, of := range c.Rules {
		if !strings.HasPrefix(rule, string(lint.Info)) {
			n += of
		}
	}
	return 1000 * float64(n) / float64(max(1, c.Lines))
}

// A part of a tree is checked as one change.
const (
	partFiles = 50
	partBytes = 4 << 20
	largest   = 10 << 20 // what is larger is read in parts, and no source
)

// Add checks all files of a tree as if they were new. name is the tree's.
func (c *Clean) Add(l *lint.Linter, name string, tree fs.FS) error {
	var part []corpus.Planted
	size := 0
	err := fs.WalkDir(tree, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil || info.Size() > largest {
			return err
		}
		text, err := fs.ReadFile(tree, p)
		if err != nil {
			return err
		}
		part = append(part, corpus.Planted{Path: p, Text: string(text)})
		if size += len(text); len(part) < partFiles && size < partBytes {
			return nil
		}
		defer func() { part, size = nil, 0 }()
		return c.look(l, name, part)
	})
	if err != nil {
		return err
	}
	return c.look(l, name, part)
}

func (c *Clean) look(l *lint.Linter, name string, files []corpus.Planted) error {
	report, err := Look(l, files)
	if err != nil {
		return err
	}
	if report.More > 0 {
		return fmt.Errorf("%s: %d findings too many", name, report.More)
	}
	c.Files += len(files)
	for _, f := range files {
		c.Bytes += int64(len(f.Text))
		if !strings.Contains(f.Text, "\x00") {
			c.Lines += bytes.Count([]byte(f.Text), []byte("\n"))
		}
	}
	if c.Rules == nil {
		c.Rules = map[string]int{}
	}
	for _, f := range report.Findings {
		c.Rules[string(f.Severity)+" "+f.Rule]++
		if f.Blocks() {
			c.Blocking = append(c.Blocking, fmt.Sprintf("%s %s/%s:%d", f.Rule, name, f.Path, f.Line))
		}
	}
	slices.Sort(c.Blocking)
	return nil
}
