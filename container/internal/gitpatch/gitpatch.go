// Package gitpatch writes the one patch format of git-ftl: sections as `git diff
// --full-index --binary --no-renames` has them, sorted by the caller, without
// deltas, reverse literals, renames and submodules, and an end line with count
// and checksum. git apply takes it.
package gitpatch

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/git-ftl/git-ftl/container/internal/wire"
)

// ErrTooBig says that the patch grew over its bound.
var ErrTooBig = errors.New("the patch is too big")

const (
	maxText  = 16 << 20 // bytes; bigger content travels as binary
	maxLines = 400_000  // of both sides; the text diff costs some 100 bytes a line
	noObject = "0000000000000000000000000000000000000000"
)

// Side is a file before or after the change.
type Side struct {
	Mode   uint32 // git's: 0100644, 0100755 or 0120000
	Object string // git object name in hex; "" to have it computed
	Size   int64  // bytes
	Open   func() (io.ReadCloser, error)
}

func (s *Side) link() bool { return s.Mode == 0o120000 }

// Writer writes one patch. It is for one goroutine.
type Writer struct {
	w     io.Writer
	max   int64
	n     int64
	files int
	sum   hash.Hash
	err   error
}

// NewWriter returns a writer that ends with ErrTooBig after max bytes.
func NewWriter(w io.Writer, max int64) *Writer {
	return &Writer{w: w, max: max, sum: sha256.New()}
}

// Write adds raw bytes of a section.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.n += int64(len(p))
	if w.n > w.max {
		w.err = ErrTooBig
		return 0, w.err
	}
	w.sum.Write(p)
	var n int
	n, w.err = w.w.Write(p)
	return n, w.err
}

// End writes the end line.
func (w *Writer) End() error {
	if w.err != nil {
		return w.err
	}
	_, err := io.WriteString(w.w, wire.EndLine(w.files, w.n, w.sum.Sum(nil)))
	return err
}

// Section writes the change of one path; a nil side is no file. Equal sides
// write nothing. A file that becomes a symlink, and the reverse, is a deletion
// and a creation. Errors: ErrTooBig, a read error, or a file whose size is not
// Side.Size.
func (w *Writer) Section(path string, old, new *Side) error {
	if old != nil && new != nil && old.link() != new.link() {
		if err := w.section(path, old, nil); err != nil {
			return err
		}
		return w.section(path, nil, new)
	}
	return w.section(path, old, new)
}

func (w *Writer) section(path string, old, new *Side) error {
	both := old != nil && new != nil
	if both && old.Object != "" && old.Object == new.Object {
		return w.modes(path, old, new)
	}
	a, err := load(old)
	if err != nil {
		return fmt.Errorf("read base of %q: %w", path, err)
	}
	b, err := load(new)
	if err != nil {
		return fmt.Errorf("read %q: %w", path, err)
	}
	if both && a.object == b.object {
		return w.modes(path, old, new)
	}
	return w.changed(path, a, b)
}

func (w *Writer) changed(path string, a, b content) error {
	w.files++
	mode := ""
	if a.side != nil && b.side != nil && a.side.Mode == b.side.Mode {
		mode = fmt.Sprintf(" %o", b.side.Mode)
	}
	_, err := fmt.Fprintf(w, "%sindex %s..%s%s\n", header(path, a.side, b.side), a.object, b.object, mode)
	if err != nil {
		return err
	}
	if a.binary || b.binary || a.lines+b.lines > maxLines {
		return w.literal(b)
	}
	return w.hunks(path, a, b)
}

// modes writes a change of the mode alone, or nothing.
func (w *Writer) modes(path string, old, new *Side) error {
	if old.Mode == new.Mode {
		return nil
	}
	w.files++
	_, err := io.WriteString(w, header(path, old, new))
	return err
}

func header(path string, old, new *Side) string {
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", Quote("a/"+path), Quote("b/"+path))
	switch {
	case old == nil:
		fmt.Fprintf(&b, "new file mode %o\n", new.Mode)
	case new == nil:
		fmt.Fprintf(&b, "deleted file mode %o\n", old.Mode)
	case old.Mode != new.Mode:
		fmt.Fprintf(&b, "old mode %o\nnew mode %o\n", old.Mode, new.Mode)
	}
	return b.String()
}

func (w *Writer) hunks(path string, a, b content) error {
	if len(a.data) == 0 && len(b.data) == 0 {
		return w.err
	}
	from, to := Quote("a/"+path), Quote("b/"+path)
	if a.side == nil {
		from = "/dev/null"
	}
	if b.side == nil {
		to = "/dev/null"
	}
	fmt.Fprintf(w, "--- %s\n+++ %s\n", from, to)
	text := diff.Diff("a", a.data, "b", b.data)
	for range 3 { // the library's own header
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	_, err := w.Write(text)
	return err
}

// content is a side that was looked at: data holds it unless it is big.
type content struct {
	side   *Side
	object string
	data   []byte
	lines  int
	big    bool
	binary bool
}

func load(s *Side) (content, error) {
	c := content{side: s, object: noObject}
	if s == nil {
		return c, nil
	}
	c.object, c.big = s.Object, s.Size > maxText
	c.binary = c.big
	if c.big && c.object != "" {
		return c, nil
	}
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", s.Size)
	var data bytes.Buffer
	dst := io.Writer(sum)
	if !c.big {
		data.Grow(int(s.Size) + bytes.MinRead)
		dst = io.MultiWriter(sum, &data)
	}
	if err := s.copyTo(dst); err != nil {
		return c, err
	}
	c.data = data.Bytes()
	if c.object == "" {
		c.object = hex.EncodeToString(sum.Sum(nil))
	}
	// git's own test for binary looks as far.
	c.binary = c.big || bytes.IndexByte(c.data[:min(len(c.data), 8000)], 0) >= 0
	c.lines = bytes.Count(c.data, []byte("\n"))
	return c, nil
}

func (s *Side) copyTo(w io.Writer) error {
	r, err := s.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	n, err := io.Copy(w, io.LimitReader(r, s.Size+1))
	if err == nil && n != s.Size {
		err = fmt.Errorf("size is not %d bytes any more", s.Size)
	}
	return err
}
