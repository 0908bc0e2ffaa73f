package lint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/lint/internal/danger"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/lint/internal/surface"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Bounds of what is held at once, and of what is told.
const (
	maxWhole    = 10 << 20 // bytes: larger files are read in windows, for credentials and real values alone
	maxMoved    = 64 << 20 // bytes of removed content that is searched for what has only moved
	maxFindings = 1000
)

// Blobs reads objects of a repository, as git.Objects does.
type Blobs interface {
	Stream(h plumbing.Hash, kind plumbing.ObjectType, f func(size int64, r io.Reader) error) error
}

// Check looks at what differs between two trees. It reads each changed blob once;
// its cost follows the change. Errors are those of reading.
func (l *Linter) Check(ctx context.Context, blobs Blobs, changes []git.Change, t Terms) (Report, error) {
	c := &check{Linter: l, Terms: t, blobs: blobs, changes: changes, seen: map[string]bool{}, links: map[string]string{}, report: Report{Findings: []Finding{}, Skipped: []string{}}}
	if err := c.readLinks(); err != nil {
		return c.report, err
	}
	docs := make(chan *doc.Document)
	var workers sync.WaitGroup
	workers.Go(c.rules.Prepare) // while the first blob is read
	for range min(runtime.GOMAXPROCS(0), 4, max(1, len(changes))) {
		workers.Go(func() {
			for d := range docs {
				c.take(d, c.hits(d))
			}
		})
	}
	err := c.read(ctx, docs)
	close(docs)
	workers.Wait()
	c.deletions()
	if err == nil {
		err = c.dropMoved()
	}
	c.report.sort()
	slices.Sort(c.report.Skipped)
	return c.report, err
}

// check is one check under way.
type check struct {
	*Linter
	Terms
	blobs   Blobs
	changes []git.Change
	links   map[string]string // targets of new symlinks, by path in lower case

	mu       sync.Mutex
	report   Report
	seen     map[string]bool // findings, by id and line
	blocking int             // of those in the report
	secret   []kept          // findings of secrets, until it is known that they did not just move
}

// read makes documents of the changes, one after the other.
func (c *check) read(ctx context.Context, docs chan<- *doc.Document) error {
	for _, change := range c.changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := c.document(change)
		if err != nil {
			return fmt.Errorf("lint %q: %w", change.Path, err)
		}
		if d != nil {
			docs <- d
		}
	}
	return nil
}

// document reads a change; nil where it was too large and has been dealt with.
func (c *check) document(change git.Change) (*doc.Document, error) {
	text, large, err := c.load(change.New)
	if err != nil {
		return nil, err
	}
	if large {
		return nil, c.stream(change)
	}
	was, large, err := c.load(change.Old)
	if err != nil {
		return nil, err
	}
	if large {
		c.skip(fmt.Sprintf("%s was over 10 MB, so that all of it counts as new", c.shown(change.Path)))
	}
	c.count(change.New, int64(len(text)))
	return doc.New(change.Path, change.Old, change.New, text, was), nil
}

// deletions tells that a change deletes many files, at the first of them. What only
// moves is none.
func (c *check) deletions() {
	stays := map[plumbing.Hash]bool{}
	for _, change := range c.changes {
		stays[change.New.Hash] = true
	}
	n, first := 0, ""
	for _, change := range c.changes {
		if change.New != (git.Entry{}) || stays[change.Old.Hash] {
			continue
		}
		if n++; n == 1 {
			first = change.Path
		}
	}
	if h, ok := surface.Deletes(n); ok {
		c.take(&doc.Document{Path: first}, []doc.Hit{h})
	}
}

func (c *check) count(e git.Entry, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e != (git.Entry{}) && e.Mode != filemode.Submodule {
		c.report.Files++
		c.report.Bytes += n
	}
}

// shown is a path without the secrets that it holds.
func (c *check) shown(path string) string {
	d := &doc.Document{Path: path}
	hits := c.rules.Hits(d)
	matches := make([][]byte, len(hits))
	for i, h := range hits {
		matches[i] = matched(d, h)
	}
	return c.values.Hide(shownPath(path, hits, matches), hidden)
}

func (c *check) skip(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Skipped = append(c.report.Skipped, what)
}

// load reads one side of a change; a submodule has no content.
func (c *check) load(e git.Entry) (text []byte, large bool, err error) {
	if e == (git.Entry{}) || e.Mode == filemode.Submodule {
		return nil, false, nil
	}
	err = c.blobs.Stream(e.Hash, plumbing.BlobObject, func(size int64, r io.Reader) error {
		if large = size > maxWhole; large {
			return nil
		}
		text = make([]byte, size)
		_, err := io.ReadFull(r, text)
		return err
	})
	return text, large, err
}

// hits asks every family.
func (c *check) hits(d *doc.Document) []doc.Hit {
	all := slices.Concat(c.rules.Hits(d), c.decoded(d), c.values.Hits(d), surface.Hits(d, surface.Context{Watched: c.o.Watched, Link: c.link}))
	if !d.Part {
		all = append(all, danger.Hits(d, c.Task)...)
	}
	return all
}

// decoded finds credentials in what is written in another encoding.
func (c *check) decoded(d *doc.Document) (all []doc.Hit) {
	for _, l := range d.Layers() {
		for _, h := range c.rules.HitsIn(l.Text, d.Part) {
			if h.Severity == Info {
				continue
			}
			if h.Match == nil {
				h.Match = l.Text[h.Start:h.End]
			}
			h.Start, h.End = l.Span(h.Start, h.End)
			h.Message += ", " + l.How
			all = append(all, h)
		}
	}
	return all
}

// maxTarget is as long as a symlink's target can be, in bytes.
const maxTarget = 4095

// readLinks reads the symlinks that the change brings: one may lead through
// another.
func (c *check) readLinks() error {
	for _, change := range c.changes {
		if change.New.Mode != filemode.Symlink {
			continue
		}
		err := c.blobs.Stream(change.New.Hash, plumbing.BlobObject, func(_ int64, r io.Reader) error {
			target, err := io.ReadAll(io.LimitReader(r, maxTarget))
			c.links[strings.ToLower(change.Path)] = string(target)
			return err
		})
		if err != nil {
			return fmt.Errorf("lint %q: %w", change.Path, err)
		}
	}
	return nil
}

func (c *check) link(path string) (target string, ok bool) {
	target, ok = c.links[strings.ToLower(path)]
	return target, ok
}

// take turns hits into findings.
func (c *check) take(d *doc.Document, hits []doc.Hit) {
	if len(hits) == 0 {
		return
	}
	hits = fold(hits)
	masks := masksOf(hits)
	matches := make([][]byte, len(hits))
	for i, h := range hits {
		matches[i] = matched(d, h)
	}
	inBase := held(d.Was, matches)
	shown := shownPath(d.Path, hits, matches)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, h := range hits {
		if !h.Anywhere && isOld(d, h, inBase[i]) {
			continue
		}
		f := finding(d, h, matches[i], masks)
		f.Path, f.Excerpt = c.values.Hide(shown, hidden), c.values.Hide(f.Excerpt, hidden)
		if h.Secret {
			c.secret = append(c.secret, kept{f, bytes.Clone(matches[i])})
			continue
		}
		c.add(f)
	}
}

// isOld reports whether the base has what was found: in the very lines, or, of a
// secret, anywhere in the file.
func isOld(d *doc.Document, h doc.Hit, inBase bool) bool {
	return d.Old != (git.Entry{}) && onText(h) && (!d.Added(h.Start, h.End) || h.Secret && inBase)
}

// onText reports whether a hit is about content, and not about the path.
func onText(h doc.Hit) bool { return h.End > h.Start }

// matched is what the id of a finding covers.
func matched(d *doc.Document, h doc.Hit) []byte {
	switch {
	case h.Match != nil:
		return h.Match
	case onText(h):
		return d.Text[h.Start:h.End]
	}
	return []byte(d.Path)
}

// fold drops what says less of the same secret: a credential where a real value
// is known, and one of no provider where there is one of some.
func fold(hits []doc.Hit) []doc.Hit {
	isValue := func(h doc.Hit) bool { return strings.HasPrefix(h.Rule, "value/") }
	blocks := func(h doc.Hit) bool { return h.Secret && onText(h) && h.Severity == Block }
	values := spansOf(hits, func(h doc.Hit) bool { return blocks(h) && isValue(h) })
	all := spansOf(hits, blocks)
	return slices.DeleteFunc(slices.Clone(hits), func(h doc.Hit) bool {
		better := all
		if blocks(h) {
			better = values
		}
		_, ok := covering(better, h.Start, h.End)
		return ok && h.Secret && onText(h) && !isValue(h)
	})
}

func (c *check) add(f Finding) {
	f, keep := c.Accepted.judge(f)
	key := fmt.Sprint(f.ID, f.Line)
	if !keep || c.seen[key] {
		return
	}
	if len(c.report.Findings) >= maxFindings && (!f.Blocks() || c.blocking >= maxFindings) {
		c.report.More++
		return
	}
	c.seen[key] = true
	if f.Blocks() {
		c.blocking++
	}
	c.report.Findings = append(c.report.Findings, f)
}
