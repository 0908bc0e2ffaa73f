// Package transcript keeps what happened in a task as lines of JSON: bounded,
// readable while it grows, compressed once it is whole.
//
// A transcript is a folder. Each turn of the task writes segments of a few
// megabytes, TURN-NUMBER.ndjson while it grows and .ndjson.gz after. Of a turn
// that says too much the first and the last segments stay.
package transcript

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of one turn: so many bytes a segment, so many segments at each end.
const (
	segmentSize = 4 << 20
	keepFirst   = 3
	keepLast    = 3
)

// flushAfter is how long a line may wait for others before readers see it.
const flushAfter = 50 * time.Millisecond

// Writer appends to the transcript of one turn. It is safe for concurrent use.
type Writer struct {
	dir  string
	turn int

	mu     sync.Mutex
	file   *os.File
	buf    *bufio.Writer
	n      int // of the segment
	size   int // of the segment, bytes
	waits  bool
	failed error
}

// Create begins the transcript of a turn, counted from 1, in a folder that is
// made. What an earlier turn or a dead process left there is compressed.
func Create(dir string, turn int) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := Seal(dir); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, turn: turn, n: -1}
	return w, w.next()
}

// Append adds one line, which holds no line break. A fault is kept for Close: a
// full disk must not end the task.
func (w *Writer) Append(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil || w.file == nil {
		return
	}
	if w.size > 0 && w.size+len(line) > segmentSize {
		if w.failed = w.rotate(); w.failed != nil {
			return
		}
	}
	w.size += len(line) + 1
	_, _ = w.buf.Write(line)
	w.failed = w.buf.WriteByte('\n') // keeps the fault of the write before
	if !w.waits {
		w.waits = true
		time.AfterFunc(flushAfter, w.flush)
	}
}

func (w *Writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits = false
	if w.file != nil && w.failed == nil {
		w.failed = w.buf.Flush()
	}
}

// Close compresses the last segment.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return w.failed
	}
	err := errors.Join(w.failed, w.seal())
	if err != nil {
		return fmt.Errorf("keep transcript: %w", err)
	}
	return nil
}

// rotate ends a segment, begins the next and drops one from the middle.
func (w *Writer) rotate() error {
	if err := w.seal(); err != nil {
		return err
	}
	if old := w.n - keepLast + 1; old >= keepFirst {
		if err := os.Remove(w.path(old) + ".gz"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.next()
}

func (w *Writer) next() error {
	w.n++
	f, err := os.OpenFile(w.path(w.n), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w.file, w.buf, w.size = f, bufio.NewWriterSize(f, 1<<16), 0
	return nil
}

func (w *Writer) seal() error {
	err := errors.Join(w.buf.Flush(), w.file.Close())
	w.file = nil
	if err != nil {
		return err
	}
	return compress(w.path(w.n))
}

func (w *Writer) path(n int) string {
	return filepath.Join(w.dir, fmt.Sprintf("%04d-%06d%s", w.turn, n, plain))
}

const (
	plain  = ".ndjson"
	zipped = ".ndjson.gz"
)

// Seal compresses what a dead process left of a transcript. A folder that is not
// there is none.
func Seal(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), plain) {
			if err := compress(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// compress replaces a segment by its compressed form. Both may be there after a
// crash, or where a reader keeps the first from going: they say the same.
func compress(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err == nil {
		_, err = io.Copy(z, in)
	}
	if err = errors.Join(err, z.Close(), out.Close()); err == nil {
		err = os.Rename(out.Name(), path+".gz")
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	_ = os.Remove(path)
	return nil
}

// segments lists the names of a transcript's segments without their endings, in
// order.
func segments(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name, _, ok := strings.Cut(e.Name(), plain)
		if ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
