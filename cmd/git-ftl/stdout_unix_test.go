//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

func TestWentAway(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		want bool
	}{
		{"our results", &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE}, true},
		{"our results, full", &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.ENOSPC}, false},
		{"a git of ours", &fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, false},
		{"a connection", fmt.Errorf("ask: %w", syscall.EPIPE), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := wentAway(row.err); got != row.want {
				t.Errorf("wentAway(%v) = %v", row.err, got)
			}
		})
	}
}
