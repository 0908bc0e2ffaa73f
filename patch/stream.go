package patch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// endLine is the last line of a patch.
type endLine struct {
	files int
	bytes int64 // before the line
}

var endPattern = lazyregexp.New(`^ftl-end files=(\d{1,9}) bytes=(\d{1,18}) sha256=([0-9a-f]{64})\n$`)

const maxEnd = 128 // bytes; the longest end line is 120

// readEnd finds the end line and checks that it fits what is before it.
func readEnd(src io.ReaderAt, size int64) (endLine, error) {
	off := max(0, size-maxEnd)
	tail := make([]byte, size-off)
	if _, err := src.ReadAt(tail, off); err != nil && !errors.Is(err, io.EOF) {
		return endLine{}, fmt.Errorf("read patch: %w", err)
	}
	start := 0
	if len(tail) > 0 {
		start = bytes.LastIndexByte(tail[:len(tail)-1], '\n') + 1
	}
	m := endPattern.FindSubmatch(tail[start:])
	if m == nil {
		return endLine{}, fmt.Errorf("%w: it has no end line", ErrTruncated)
	}
	files, err1 := strconv.Atoi(string(m[1]))
	length, err2 := strconv.ParseInt(string(m[2]), 10, 64)
	if err1 != nil || err2 != nil || length != off+int64(start) {
		return endLine{}, fmt.Errorf("%w: its length does not fit", ErrTruncated)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(src, 0, length)); err != nil {
		return endLine{}, fmt.Errorf("read patch: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != string(m[3]) {
		return endLine{}, fmt.Errorf("%w: its checksum does not fit", ErrTruncated)
	}
	return endLine{files: files, bytes: length}, nil
}

// sectionStart begins each section and can begin no other line: hunk lines
// begin with their operator, and base85 has no space.
const sectionStart = "diff --git "

// split finds the sections of the first size bytes.
func split(src io.ReaderAt, size int64, most int) ([]span, error) {
	if size == 0 {
		return nil, nil
	}
	head := make([]byte, min(size, int64(len(sectionStart))))
	if _, err := src.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	if string(head) != sectionStart {
		return nil, &UnsafeError{Why: "it does not begin with a file"}
	}
	starts, err := findStarts(src, size, most)
	if err != nil {
		return nil, err
	}
	spans := make([]span, len(starts))
	for i, s := range starts {
		end := size
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		spans[i] = span{s, end - s}
	}
	return spans, nil
}

// findStarts scans for the lines that begin a section.
func findStarts(src io.ReaderAt, size int64, most int) ([]int64, error) {
	starts := []int64{0}
	mark := []byte("\n" + sectionStart)
	buf := make([]byte, 1<<20)
	for off := int64(0); off < size; off += int64(len(buf) - len(mark) + 1) {
		part := buf[:min(int64(len(buf)), size-off)]
		if _, err := src.ReadAt(part, off); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read patch: %w", err)
		}
		for at := 0; ; {
			i := bytes.Index(part[at:], mark)
			if i < 0 {
				break
			}
			starts = append(starts, off+int64(at+i)+1)
			at += i + len(mark)
		}
		if len(starts) > most {
			return nil, &UnsafeError{Why: fmt.Sprintf("it changes more than %d files", most)}
		}
	}
	return starts, nil
}
