package transcript

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrGap says that lines were dropped between the last one and the next: the
// task said too much.
var ErrGap = errors.New("part of the transcript was not kept")

// maxLine bounds one line, in bytes: it has to fit into memory.
const maxLine = 64 << 20

// Reader reads a transcript from its beginning, also while it is written. It is
// not safe for concurrent use.
type Reader struct {
	dir     string
	name    string // of the segment at hand, less than any before the first
	file    *os.File
	lines   *bufio.Reader
	partial []byte // of a line whose end is not written yet
	whole   bool   // the segment does not grow any more
}

// Open reads the transcript in a folder, which need not be there yet, from a
// turn on.
func Open(dir string, turn int) *Reader {
	return &Reader{dir: dir, name: fmt.Sprintf("%04d", turn)} // which sorts before the turn's own segments
}

// Close lets go of the file at hand.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Next returns the next line without its end. Errors: io.EOF where there is none
// at present, and a later call may find one; ErrGap once where lines were
// dropped.
func (r *Reader) Next() ([]byte, error) {
	for {
		if r.file != nil {
			line, err := r.read()
			if err != io.EOF {
				return line, err
			}
		}
		before := r.name
		moved, err := r.advance()
		switch {
		case err != nil:
			return nil, err
		case !moved:
			return nil, io.EOF
		case gap(before, r.name):
			return nil, ErrGap
		}
	}
}

// gap reports whether segments are missing between two names.
func gap(before, name string) bool {
	wasTurn, was, some := strings.Cut(before, "-")
	turn, n, _ := strings.Cut(name, "-")
	last := -1
	if some && turn == wasTurn {
		last, _ = strconv.Atoi(was)
	}
	now, _ := strconv.Atoi(n)
	return before != name && now > last+1
}

// read returns a line of the segment at hand, io.EOF at its present end.
func (r *Reader) read() ([]byte, error) {
	part, err := r.lines.ReadBytes('\n')
	r.partial = append(r.partial, part...)
	switch {
	case len(r.partial) > maxLine:
		return nil, errors.New("a line of the transcript is too long")
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return nil, io.EOF
	case err != nil:
		return nil, err
	}
	line := r.partial[:len(r.partial)-1]
	r.partial = nil
	return line, nil
}

// advance opens the next segment once there is one, and reads on to the end of
// the present one before.
func (r *Reader) advance() (bool, error) {
	names, err := segments(r.dir)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if name <= r.name {
			continue
		}
		if r.file != nil && !r.whole {
			r.whole = true // no line is added to a segment once its successor is there
			return true, nil
		}
		switch err := r.open(name); {
		case errors.Is(err, fs.ErrNotExist): // dropped since it was listed
		default:
			return err == nil, err
		}
	}
	return false, nil
}

func (r *Reader) open(name string) error {
	path := filepath.Join(r.dir, name)
	f, err := os.Open(path + plain)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(path + zipped)
	}
	if err != nil {
		return err
	}
	_ = r.Close()
	r.partial, r.whole = nil, false
	var from io.Reader = f
	if strings.HasSuffix(f.Name(), zipped) {
		if from, err = gzip.NewReader(f); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	r.file, r.lines = f, bufio.NewReaderSize(from, 1<<16)
	r.name = name
	return nil
}

// Last returns the newest whole line that is there, nil where there is none.
// It reads no more than the end of a segment that still grows.
func Last(dir string) ([]byte, error) {
	names, err := segments(dir)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, names[len(names)-1]) + plain)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const tail = 32 << 10
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	buf := make([]byte, min(info.Size(), tail))
	if _, err := f.ReadAt(buf, info.Size()-int64(len(buf))); err != nil && err != io.EOF {
		return nil, err
	}
	buf = buf[:bytes.LastIndexByte(buf, '\n')+1]
	buf = bytes.TrimSuffix(buf, []byte("\n"))
	return buf[bytes.LastIndexByte(buf, '\n')+1:], nil
}
