package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestLostResults: what could not be written makes a command fail, and only a
// reader of ours that went away does so without a word.
func TestLostResults(t *testing.T) {
	closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	r := &results{file: closed}
	for _, w := range []io.Writer{r, handed(r)} {
		if _, err := io.WriteString(w, "result\n"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("write to %T: %v", w, err)
		}
	}
	if err := lost(r); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("lost: %v", err)
	}
	if err := lost(os.Stdout); err != nil {
		t.Errorf("lost of a file: %v", err)
	}
}
