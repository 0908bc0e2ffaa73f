package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   []string
		want string
	}{
		{"lines over writes", []string{"on", "e\ntw", "o\n"}, "one\ntwo\n"},
		{"no last newline", []string{"end"}, "end\n"},
		{"carriage return", []string{"a\r\n10%\r99%\n"}, "a\n99%\n"},
		{"control characters", []string{"\x1b[2Jx\n"}, "\\x1b[2Jx\n"},
		{"empty line", []string{"\n"}, "\n"},
		{"endless line", []string{strings.Repeat("x", maxLine+1)}, strings.Repeat("x", maxLine) + "\nx\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			w := NewLines(func(text string) { out.WriteString(text + "\n") })
			for _, s := range tc.in {
				if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatal(n, err)
				}
			}
			w.Flush()
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReadable: the note of a result is JSON, a line for each key that says
// something, and git log can show it as it is.
func TestReadable(t *testing.T) {
	o := newOutcome("kkkk")
	o.Error = "\x1b[1m \u009b1m \u202e \xff"
	o.Task, o.Files, o.Warm = "say \"hi\"", []File{{Path: "a b", Change: "added", Insertions: 1}}, true
	data, err := readable(o)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	for _, line := range []string{
		"{\n \"id\": \"kkkk\",\n", "\n \"task\": \"say \\\"hi\\\"\",\n", "\n \"warm\": true,\n",
		"\n \"files\": [{\"path\":\"a b\",\"change\":\"added\",\"insertions\":1,\"deletions\":0}],\n",
	} {
		if !strings.Contains(string(data), line) {
			t.Errorf("no %q in %s", line, data)
		}
	}
	if got, want := back["error"], "\x1b[1m \u009b1m \u202e \ufffd"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	if strings.ContainsAny(string(data), "\x1b\u009b\u202e") {
		t.Errorf("it steers a terminal: %q", data)
	}
	if strings.Contains(string(data), "findings") {
		t.Errorf("it names what is empty: %s", data)
	}
}
