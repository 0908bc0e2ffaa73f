package lint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

// Windows of a large file. What lies across a border is in the overlap.
const (
	window  = 1 << 20
	overlap = 64 << 10
)

// stream checks a file that is too large to hold.
func (c *check) stream(change git.Change) error {
	c.skip(fmt.Sprintf("%s is over 10 MB: only credentials and real values were looked for", c.shown(change.Path)))
	return c.blobs.Stream(change.New.Hash, plumbing.BlobObject, func(size int64, r io.Reader) error {
		c.count(change.New, size)
		at := int64(0)
		return windows(size, r, func(text []byte, line int) {
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

// windows hands out overlapping parts of a stream of some size and the number of
// their first line.
func windows(size int64, r io.Reader, f func(text []byte, line int)) error {
	buf := make([]byte, 0, min(size+1, window+overlap)) // one more, so that a small stream ends in it
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
