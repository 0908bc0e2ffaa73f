package transcript

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// all reads what is there, with "…" for a gap.
func all(t *testing.T, r *Reader) []string {
	t.Helper()
	var lines []string
	for {
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return lines
		case errors.Is(err, ErrGap):
			lines = append(lines, "…")
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, string(line))
		}
	}
}

func write(t *testing.T, dir string, turn int, lines ...string) {
	t.Helper()
	w, err := Create(dir, turn)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		w.Append([]byte(l))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kkkk")
	if lines := all(t, Open(dir, 1)); lines != nil {
		t.Errorf("a transcript that is not there says %q", lines)
	}
	write(t, dir, 1, "one", "two")
	write(t, dir, 2, "three")
	if diff := cmp.Diff([]string{"one", "two", "three"}, all(t, Open(dir, 1))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"three"}, all(t, Open(dir, 2))); diff != "" {
		t.Error(diff)
	}
	plains, _ := filepath.Glob(filepath.Join(dir, "*"+plain))
	if len(plains) != 0 {
		t.Errorf("not compressed: %v", plains)
	}
}

// TestFollow reads beside the writer, over the end of segments and of the turn.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := Open(dir, 1)
	defer r.Close()
	var want, got []string
	until := func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); len(got) < len(want) && time.Now().Before(end); time.Sleep(time.Millisecond) {
			got = append(got, all(t, r)...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	for i := range 5 {
		line := fmt.Sprint(i, strings.Repeat("x", segmentSize/2))
		want = append(want, line)
		w.Append([]byte(line))
		until()
	}
	want = append(want, "last")
	w.Append([]byte("last"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	until()
	write(t, dir, 2, "more")
	want = append(want, "more")
	until()
}

// TestTooMuch keeps the beginning and the end, and says so.
func TestTooMuch(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprint(i, strings.Repeat("x", segmentSize-10)))
	}
	write(t, dir, 1, lines...)
	var got []string
	for _, l := range all(t, Open(dir, 1)) {
		got = append(got, strings.TrimRight(l, "x"))
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "…", "9", "10", "11"}, got); diff != "" {
		t.Error(diff)
	}
	size := int64(0)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, _ := e.Info()
		size += info.Size()
	}
	if size > segmentSize {
		t.Errorf("%d bytes on disk", size)
	}
}

// TestKilled: a dead writer leaves a plain segment, maybe with half a line; the
// next turn compresses it.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "0001-000000.ndjson"), []byte("whole\nhal"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"whole"}, all(t, Open(dir, 1))); diff != "" {
		t.Error(diff)
	}
	write(t, dir, 2, "next")
	if diff := cmp.Diff([]string{"whole", "next"}, all(t, Open(dir, 1))); diff != "" {
		t.Error(diff)
	}
}

// TestFullDisk: a line that cannot be written is an error at the end, not a panic
// in the middle.
func TestFullDisk(t *testing.T) {
	w, err := Create(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.file.Close()
	for range 100 {
		w.Append([]byte(strings.Repeat("x", 1000)))
	}
	if err := w.Close(); err == nil {
		t.Error("no error")
	}
}

func TestLast(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"half a line", "hal", ""},
		{"one", "one\n", "one"},
		{"and a half", "one\ntwo\nthr", "two"},
		{"far in", strings.Repeat("x\n", 1<<16) + "end\n", "end"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "0001-000000.ndjson"), []byte(tc.in), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Last(dir)
			if string(got) != tc.want || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
