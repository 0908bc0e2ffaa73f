package lint

import (
	"bytes"
	"context"
	"errors"
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

// kept is a finding and what matched.
type kept struct {
	finding Finding
	match   []byte
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
		c.skip(fmt.Sprintf("%s was over 10 MB, so that all of it counts as new", change.Path))
	}
	c.count(change.New, int64(len(text)))
	return doc.New(change.Path, change.Old, change.New, text, was), nil
}

func (c *check) count(e git.Entry, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e != (git.Entry{}) && e.Mode != filemode.Submodule {
		c.report.Files++
		c.report.Bytes += n
	}
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
			if h.Severity != Block {
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

// Windows of a large file. What lies across a border is in the overlap.
const (
	window  = 1 << 20
	overlap = 64 << 10
)

// stream checks a file that is too large to hold.
func (c *check) stream(change git.Change) error {
	c.skip(fmt.Sprintf("%s is over 10 MB: only credentials and real values were looked for", change.Path))
	return c.blobs.Stream(change.New.Hash, plumbing.BlobObject, func(size int64, r io.Reader) error {
		c.count(change.New, size)
		at := int64(0)
		return windows(r, func(text []byte, line int) {
			d := doc.New(change.Path, git.Entry{}, change.New, text, nil)
			d.Part, d.FirstLine = true, line
			c.take(d, inside(c.hits(d), at > 0, at+int64(len(text)) < size, len(text)))
			at += int64(len(text) - overlap)
		})
	})
}

// inside drops hits that begin on the far side of the middle of an overlap: the
// window before or behind has them, with more of what surrounds them.
func inside(hits []doc.Hit, before, behind bool, length int) []doc.Hit {
	return slices.DeleteFunc(hits, func(h doc.Hit) bool {
		return onText(h) && (before && h.Start < overlap/2 || behind && h.Start >= length-overlap/2)
	})
}

// windows hands out overlapping parts of a stream and the number of their first
// line.
func windows(r io.Reader, f func(text []byte, line int)) error {
	buf := make([]byte, 0, window+overlap)
	for line := 1; ; {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return err
		}
		f(buf, line)
		if end {
			return nil
		}
		cut := len(buf) - overlap
		line += bytes.Count(buf[:cut], []byte("\n"))
		buf = append(buf[:0], buf[cut:]...)
	}
}

// take turns hits into findings.
func (c *check) take(d *doc.Document, hits []doc.Hit) {
	if len(hits) == 0 {
		return
	}
	hits = fold(hits)
	masks := masksOf(hits)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range hits {
		match := matched(d, h)
		if !h.Anywhere && isOld(d, h, match) {
			continue
		}
		f := finding(d, h, match, masks)
		if h.Secret {
			c.secret = append(c.secret, kept{f, bytes.Clone(match)})
			continue
		}
		c.add(f)
	}
}

// isOld reports whether the base has what was found: in the very lines, or, of a
// secret, anywhere in the file.
func isOld(d *doc.Document, h doc.Hit, match []byte) bool {
	return d.Old != (git.Entry{}) && onText(h) && (!d.Added(h.Start, h.End) || h.Secret && bytes.Contains(d.Was, match))
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
	rank := func(h doc.Hit) int {
		switch {
		case strings.HasPrefix(h.Rule, "value/"):
			return 2
		case h.Severity == Block:
			return 1
		}
		return 0
	}
	return slices.DeleteFunc(slices.Clone(hits), func(h doc.Hit) bool {
		return h.Secret && onText(h) && slices.ContainsFunc(hits, func(o doc.Hit) bool {
			return o.Secret && onText(o) && rank(o) > rank(h) && o.Severity == Block && o.Start < h.End && h.Start < o.End
		})
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

// dropMoved adds the findings of secrets that no removed content has held.
func (c *check) dropMoved() error {
	if len(c.secret) == 0 {
		return nil
	}
	left := int64(maxMoved)
	for _, change := range c.changes {
		if change.Old == (git.Entry{}) || change.Old.Mode == filemode.Submodule || left <= 0 {
			continue
		}
		err := c.blobs.Stream(change.Old.Hash, plumbing.BlobObject, func(size int64, r io.Reader) error {
			if left -= size; left < 0 {
				return nil
			}
			return windows(r, func(text []byte, _ int) {
				c.secret = slices.DeleteFunc(c.secret, func(k kept) bool { return bytes.Contains(text, k.match) })
			})
		})
		if err != nil {
			return fmt.Errorf("lint %q: %w", change.Path, err)
		}
	}
	for _, k := range c.secret {
		c.add(k.finding)
	}
	return nil
}
