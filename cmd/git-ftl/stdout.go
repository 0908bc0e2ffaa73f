package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// results is standard output. It remembers that something could not be written: few
// verbs ask after each line, and none has done its work whose result is lost.
type results struct {
	file *os.File

	mu  sync.Mutex
	err error // of the first write that failed
}

// Write implements io.Writer.
func (r *results) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = err
		}
	}
	return n, err
}

// Fd makes it known as a terminal, where it is one.
func (r *results) Fd() uintptr { return r.file.Fd() }

// lost is why something of w could not be written.
func lost(w io.Writer) error {
	r, ok := w.(*results)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// handed is the stream itself, for a program or a screen that wants a file.
func handed(w io.Writer) io.Writer {
	if r, ok := w.(*results); ok {
		return r.file
	}
	return w
}

// wentAway reports whether the reader of our results did, as head does. A git of
// ours that died breaks a pipe too, and is another matter.
func wentAway(err error) bool {
	var write *fs.PathError
	return errors.As(err, &write) && write.Path == os.Stdout.Name() && brokenPipe(write.Err)
}
