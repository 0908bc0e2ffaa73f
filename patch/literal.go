package patch

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

const binaryStart = "GIT binary patch\n"

var literalPattern = lazyregexp.New(`^literal \d{1,12}$`)

// literal is the whole content of one side of a binary file.
type literal struct {
	size  int64  // bytes inflated
	lines []byte // base85 of the deflated content, each line with its length first
}

// literals reads the body: the new content, and an empty one that may stand for
// its reverse. Deltas are refused.
func (s *section) literals() (forward literal, reverse *literal, err error) {
	rest := s.body[len(binaryStart):]
	for blocks := 0; len(rest) > 0 || blocks == 0; blocks++ {
		head, body, _ := bytes.Cut(rest, []byte("\n"))
		if !literalPattern.Match(head) || blocks > 1 || blocks == 1 && string(head) != "literal 0" {
			return forward, nil, s.refuse("has an unknown line in its body")
		}
		end := bytes.Index(body, []byte("\n\n"))
		if end < 0 {
			return forward, nil, s.refuse("its literal has no end")
		}
		size, err := strconv.ParseInt(string(head[len("literal "):]), 10, 64)
		if err != nil {
			return forward, nil, s.refuse("%v", err)
		}
		lit := literal{size, body[:end+1]}
		if blocks == 0 {
			forward = lit
		} else {
			reverse = &lit
		}
		rest = body[end+2:]
	}
	return forward, reverse, nil
}

// writeTo inflates into w, never more than size bytes.
func (l literal) writeTo(w io.Writer) error {
	z, err := zlib.NewReader(&base85Reader{lines: l.lines})
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(z, l.size))
	if err != nil {
		return err
	}
	if more, err := z.Read(make([]byte, 1)); n != l.size || more > 0 || !errors.Is(err, io.EOF) {
		return errors.New("its literal has another size than it says")
	}
	return nil
}

// inflate writes the new content; l bounds it.
func (s *section) inflate(w io.Writer, l Limits) error {
	forward, _, err := s.literals()
	if err != nil {
		return err
	}
	if forward.size > l.File {
		return s.refuse("is over the bound of %d bytes", l.File)
	}
	if buf, ok := w.(*bytes.Buffer); ok {
		buf.Grow(int(forward.size))
	}
	if err := forward.writeTo(w); err != nil {
		return s.refuse("%v", err)
	}
	return nil
}

// verifyBinary inflates the literals and compares the new content with its
// hash; it returns its size.
func (s *section) verifyBinary(l Limits) (int64, error) {
	if s.OldMode == filemode.Symlink && s.Change != Deleted || s.NewMode == filemode.Symlink {
		return 0, s.refuse("is a symlink with a binary target")
	}
	forward, reverse, err := s.literals()
	if err != nil {
		return 0, err
	}
	if reverse != nil {
		if err := reverse.writeTo(io.Discard); err != nil {
			return 0, s.refuse("%v", err)
		}
	}
	if s.Change == Deleted && forward.size != 0 {
		return 0, s.refuse("is deleted and has content")
	}
	sum := plumbing.NewHasher(plumbing.BlobObject, forward.size)
	if err := s.inflate(sum, l); err != nil {
		return 0, err
	}
	if s.Change != Deleted && sum.Sum() != s.New {
		return 0, s.refuse("its content is not what its index line says")
	}
	return forward.size, nil
}

// base85Reader decodes git's base85: lines of up to 52 bytes, each after a
// letter that counts them, four bytes in five digits.
type base85Reader struct {
	lines []byte
	buf   [52]byte
	have  []byte // decoded and not read yet, in buf
}

const base85Digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

var errBase85 = errors.New("its literal is malformed")

// Read implements io.Reader.
func (r *base85Reader) Read(p []byte) (int, error) {
	if len(r.have) == 0 {
		if len(r.lines) == 0 {
			return 0, io.EOF
		}
		if err := r.line(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.have)
	r.have = r.have[n:]
	return n, nil
}

func (r *base85Reader) line() error {
	end := bytes.IndexByte(r.lines, '\n')
	if end < 1 {
		return errBase85
	}
	line := r.lines[:end]
	r.lines = r.lines[end+1:]
	n := 0
	switch c := line[0]; {
	case c >= 'A' && c <= 'Z':
		n = int(c-'A') + 1
	case c >= 'a' && c <= 'z':
		n = int(c-'a') + 27
	}
	if n == 0 || len(line) != 1+(n+3)/4*5 {
		return errBase85
	}
	for i := 0; i < n; i += 4 {
		var v uint64
		for _, c := range line[1+i/4*5:][:5] {
			digit := digitOf(c)
			if digit < 0 {
				return errBase85
			}
			v = v*85 + uint64(digit)
		}
		if v > 1<<32-1 {
			return errBase85
		}
		for k := range 4 {
			r.buf[i+k] = byte(v >> (24 - 8*k))
		}
	}
	r.have = r.buf[:n]
	return nil
}

// digitOf returns the value of a base85 digit, -1 for any other byte.
func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 36
	}
	for i := 62; i < len(base85Digits); i++ {
		if base85Digits[i] == c {
			return i
		}
	}
	return -1
}
