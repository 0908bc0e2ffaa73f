package agent

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/shadow"
)

func TestBuiltin(t *testing.T) {
	for _, tc := range []struct {
		name string
		turn Turn
		want []string // words of the command line, in this order
	}{
		{"claude-code", Turn{Task: "x"}, []string{"-p", "--setting-sources", "user"}},
		{"claude-code", Turn{Task: "x", Model: "opus", Session: "s-1", MaxCost: 0.5}, []string{"--model", "opus", "--max-budget-usd", "0.5", "--resume", "s-1"}},
		{"codex", Turn{Task: "x", Model: "gpt"}, []string{"exec", "--json", "-m", "gpt", "-"}},
		{"codex", Turn{Task: "x", Session: "t-1"}, []string{"exec", "resume", "t-1", "-"}},
		{"gemini", Turn{Task: "x", Session: "g-1"}, []string{"-o", "stream-json", "--resume", "g-1"}},
		{"opencode", Turn{Task: "x", Session: "ses_1", MaxCost: 1}, []string{"run", "--format", "json", "-s", "ses_1"}},
		{"aider", Turn{Task: "x", Model: "m"}, []string{"/opt/git-ftl/aider/aider", "--no-auto-commits", "--model", "m"}},
		{"kiro", Turn{Task: "x"}, []string{"kiro-cli", "chat", "--no-interactive"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, err := Builtin(tc.name, tc.turn)
			if err != nil {
				t.Fatal(err)
			}
			rest := a.Argv
			for _, word := range tc.want {
				i := index(rest, word)
				if i < 0 {
					t.Fatalf("no %q in its place of %q", word, a.Argv)
				}
				rest = rest[i+1:]
			}
		})
	}
}

func index(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

// TestPromptSize: no task is a word of a command line, whose length is bounded.
func TestPromptSize(t *testing.T) {
	task := strings.Repeat("long ", 60000)
	for _, name := range Names() {
		a, err := Builtin(name, Turn{Task: task})
		if err != nil {
			t.Fatal(err)
		}
		carried := a.Stdin == task
		for _, f := range a.Files {
			carried = carried || f.Content == task
		}
		if total := len(strings.Join(a.Argv, " ")); total > 4096 || !carried {
			t.Errorf("%s: %d bytes of arguments, carried: %v", name, total, carried)
		}
	}
}

// TestModelHosts: each host of a model is one that a key of the agent is bound to,
// and the paths are among those of its binding.
func TestModelHosts(t *testing.T) {
	for _, name := range Names() {
		a, err := Builtin(name, Turn{Task: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range a.Hosts {
			if !bound(a.Secrets, h) {
				t.Errorf("%s: no key of %q is bound to %+v", name, a.Secrets, h)
			}
		}
	}
}

func bound(secrets []string, h Host) bool {
	for _, name := range secrets {
		b, active, ok := shadow.Known(name)
		if !ok || !active || len(b.Hosts) != 1 || b.Hosts[0] != h.Name {
			continue
		}
		within := true
		for _, p := range h.Paths {
			within = within && index(b.Paths, p) >= 0
		}
		if within {
			return true
		}
	}
	return false
}

// TestPackages: each is pinned by a SHA-512 and lands in the agent's own folder.
func TestPackages(t *testing.T) {
	for _, name := range Names() {
		a, _ := Builtin(name, Turn{Task: "x"})
		for _, arch := range []string{"amd64", "arm64"} {
			for _, p := range Packages(name, arch) {
				sum, err := base64.StdEncoding.DecodeString(p.SHA512)
				if err != nil || len(sum) != 64 || p.Version == "" || len(p.Take) == 0 {
					t.Errorf("%s: %+v", p.Name, err)
				}
				if !strings.HasPrefix(p.Into+"/", folder+name+"/") || !strings.HasPrefix(a.Argv[0], folder+name+"/") {
					t.Errorf("%s goes into %s, and %s is started", p.Name, p.Into, a.Argv[0])
				}
			}
		}
	}
}

// TestWheel: it is pinned by a SHA-256, and what starts it is in the agent's own
// folder, by an interpreter that takes modules from nowhere else.
func TestWheel(t *testing.T) {
	seen := 0
	for _, name := range Names() {
		w, ok := WheelOf(name)
		if !ok {
			continue
		}
		seen++
		a, _ := Builtin(name, Turn{Task: "x"})
		sum, err := hex.DecodeString(w.SHA256)
		if err != nil || len(sum) != 32 || w.Version != Version(name) || w.Python == "" {
			t.Errorf("%s: %+v", name, w)
		}
		if w.Into != folder+name || a.Argv[0] != w.Into+"/"+w.Command || w.Flags != "-IS" || Install(name) != "" {
			t.Errorf("%s goes into %s, and %s is started with %s", name, w.Into, a.Argv[0], w.Flags)
		}
	}
	if seen != 1 {
		t.Errorf("%d agents are programs of Python", seen)
	}
}

// TestAiderTokens: what was used is added up, in one line or two.
func TestAiderTokens(t *testing.T) {
	for _, tc := range []struct {
		name  string
		lines []string
		want  Usage
	}{
		{"no price", []string{"Tokens: 512 sent, 3 received."}, Usage{Input: 512, Output: 3}},
		{"a price", []string{"Tokens: 2.4k sent, 180 received. Cost: $0.0099 message, $0.0099 session."}, Usage{Input: 2400, Output: 180, Cost: 0.0099}},
		{"two answers", []string{"Tokens: 2.4k sent, 180 received. Cost: $0.01 message, $0.01 session.", "Tokens: 12k sent, 1k received. Cost: $0.04 message, $0.05 session."},
			Usage{Input: 14400, Output: 1180, Cost: 0.05}},
		{"a cache that is read", []string{"Tokens: 2.4k sent, 2.0k cache hit, 3 received. Cost: $0.01 message, $0.01 session."}, Usage{Input: 2400, Cached: 2000, Output: 3, Cost: 0.01}},
		{"a cache that is written too", []string{"Tokens: 2.4k sent, 1.1k cache write, 2.0k cache hit, 3 received.", "Cost: $0.04 message, $0.05 session."}, Usage{Input: 2400, Cached: 2000, Output: 3, Cost: 0.05}},
		{"no count", []string{"Tokens: 1" + strings.Repeat("0", 400) + "k sent, 3 received."}, Usage{Output: 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := Agent{Stream: "aider"}.Parser()
			var got Usage
			for _, line := range tc.lines {
				for _, e := range p.Line([]byte(line)) {
					got = e.Usage
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAiderTask: a task is never one of aider's own commands.
func TestAiderTask(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"a task", "fix it", "fix it"},
		{"a path", "/api answers 500", "\n/api answers 500"},
		{"a command of a shell", "!rm -rf .", "\n!rm -rf ."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := aiderTask(tc.in); got != tc.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	if _, err := Builtin("nobody", Turn{}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if _, err := Builtin("codex", Turn{MaxCost: 1}); err == nil || errors.Is(err, ErrUnknown) {
		t.Error("a bound that cannot be kept is taken")
	}
}

func TestOneLine(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"a path of the workspace", "/workspace/api/client.go", "api/client.go"},
		{"another path", "/etc/passwd", "/etc/passwd"},
		{"a command", "cat /workspace/x", "cat /workspace/x"},
		{"several lines", "one\ntwo", "one …"},
		{"a long line", strings.Repeat("é", 150), strings.Repeat("é", 100) + "…"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, oneLine(tc.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnwrap(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"single quotes", `/usr/bin/bash -lc 'cat b.txt'`, "cat b.txt"},
		{"a quote inside", `/bin/bash -lc 'echo '\''hi'\'''`, "echo 'hi'"},
		{"double quotes", `/bin/sh -c "echo hi"`, "echo hi"},
		{"a word", "bash -lc ls", "ls"},
		{"lines", "bash -lc 'one\ntwo'", "one\ntwo"},
		{"no shell", "ls -l", "ls -l"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, unwrap(tc.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
