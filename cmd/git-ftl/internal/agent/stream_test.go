package agent

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// streams are the agents whose streams were recorded, by the first word of the
// file's name.
func streams() map[string]string {
	return map[string]string{"claude": "claude-code", "codex": "codex", "gemini": "gemini", "opencode": "opencode", "aider": "aider"}
}

// recorded are files with what agents printed. Those of aider were printed by its
// source of the tag v0.86.2, started by aider.py, with Debian's packages and stand-ins
// for the others: one for litellm answered, or raised the errors, whose messages are
// those of litellm's issues. No provider was asked.
func recorded(t testing.TB) []string {
	t.Helper()
	lines, err := filepath.Glob("testdata/*.ndjson")
	if err != nil || len(lines) < 30 {
		t.Fatal(len(lines), err)
	}
	plain, err := filepath.Glob("testdata/aider-*.txt")
	if err != nil || len(plain) < 6 {
		t.Fatal(len(plain), err)
	}
	return append(lines, plain...)
}

// TestRecorded reads what the real agents printed against the scripted model.
func TestRecorded(t *testing.T) {
	for _, file := range recorded(t) {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		t.Run(name, func(t *testing.T) {
			agent, _, _ := strings.Cut(name, "-")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			p := Agent{Stream: streams()[agent]}.Parser()
			for line := range bytes.Lines(data) {
				for _, e := range p.Line(bytes.TrimSuffix(line, []byte("\n"))) {
					text, err := json.Marshal(e)
					if err != nil {
						t.Fatal(err)
					}
					got.Write(append(text, '\n'))
				}
			}
			golden := strings.TrimSuffix(file, filepath.Ext(file)) + ".golden"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzLine: no line makes a parser panic, or keep more than its bounds.
func FuzzLine(f *testing.F) {
	for _, file := range recorded(f) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, stream := range streams() {
			p := Agent{Stream: stream}.Parser()
			for range 2 {
				for _, e := range p.Line(line) {
					if len(e.Text) > maxText+3 || len(e.Arg) > maxArg+8 || len(e.ID) > maxID+3 || len(e.Tool) > maxArg+8 {
						t.Fatalf("%s kept too much: %d %d %d %d", stream, len(e.Text), len(e.Arg), len(e.ID), len(e.Tool))
					}
					if strings.ContainsAny(e.Arg+e.Tool, "\n") || e.Session != session(e.Session) {
						t.Fatalf("%s: %+v", stream, e)
					}
				}
			}
		}
	})
}
