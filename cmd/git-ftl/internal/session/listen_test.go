package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
)

// TestEventLines: a line of any length is one call, and one that is too long is
// dropped and counted, without those around it.
func TestEventLines(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   []string
		want []string
	}{
		{"over writes", []string{"on", "e\ntw", "o\n"}, []string{"one", "two"}},
		{"no last newline", []string{"end"}, []string{"end"}},
		{"bytes as they are", []string{"\x1b[2J\x00\r\n"}, []string{"\x1b[2J\x00\r"}},
		{"empty lines", []string{"\n\na\n"}, []string{"a"}},
		{"one at the bound", []string{strings.Repeat("x", maxEvent), "\n"}, []string{strings.Repeat("x", maxEvent)}},
		{"one over it", []string{"a\n", strings.Repeat("x", maxEvent), "x", "x\nb\n"}, []string{"a", fmt.Sprint("dropped ", maxEvent+2), "b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			w := &eventLines{
				line: func(line []byte) { got = append(got, string(line)) },
				drop: func(n int) { got = append(got, fmt.Sprint("dropped ", n)) },
			}
			for _, s := range tc.in {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatal(n, err)
				}
			}
			w.flush()
			if !cmp.Equal(tc.want, got) {
				t.Errorf("got %d lines, want %d: %.80q", len(got), len(tc.want), got)
			}
		})
	}
}

// TestCallsAreBounded: an agent that ends none of its calls fills no memory.
func TestCallsAreBounded(t *testing.T) {
	s := newSession(t, t.TempDir())
	r := s.newRun(Task{Agent: agent.Agent{Stream: "claude-code"}}, newOutcome("kkkk"))
	l := r.listen(func(error) {})
	for i := range 3 * maxRunning {
		fmt.Fprintf(l.stdout, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"%d","name":"Bash","input":{"command":"true"}}]}}`+"\n", i)
		if len(l.calls) > maxRunning+1 {
			t.Fatalf("%d calls are kept", len(l.calls))
		}
	}
	if len(l.calls) == 0 {
		t.Error("no call is kept")
	}
}
