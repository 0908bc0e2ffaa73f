package hooks_test

import (
	"cmp"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-ftl/git-ftl/hooks"
)

// TestShim runs the installed script as git does, with scripts in place of git-ftl
// and of the hook from before.
func TestShim(t *testing.T) {
	const (
		before = "#!/bin/sh\necho \"before:$#:$*:$(cat)\"\n"
		ftl    = "#!/bin/sh\necho \"ftl:$#:$*:$(cat)\"\n"
	)
	for _, row := range []struct {
		name  string
		hook  string
		args  []string
		stdin string
		orig  string
		mode  fs.FileMode // of orig, 0755 where it is 0
		at    string      // where git-ftl is: "path", "known" or ""
		want  string
		code  int
	}{
		{name: "alone", hook: "pre-commit", at: "path", want: "ftl:2:hook pre-commit:"},
		{name: "by the recorded path", hook: "pre-commit", at: "known", want: "ftl:2:hook pre-commit:"},
		{name: "missing", hook: "pre-commit", want: "neither in PATH nor at", code: 1},
		{name: "missing, the hook from before waits", hook: "pre-commit", orig: before, want: "ftl-orig'", code: 1},
		{name: "after another", hook: "pre-commit", orig: before, at: "path", want: "before:0::\nftl:2:hook pre-commit:"},
		{name: "the other fails", hook: "pre-commit", orig: "#!/bin/sh\nexit 42\n", at: "path", want: "", code: 42},
		{name: "the other is no program", hook: "pre-commit", orig: "#!/bin/sh\nexit 42\n", mode: 0o644, at: "path", want: "ftl:2:hook pre-commit:"},
		{name: "arguments", hook: "pre-push", args: []string{"o r", "http://x/*"}, stdin: "a b\nc\n", orig: before, at: "path",
			want: "before:2:o r http://x/*:a b\nc\nftl:4:hook pre-push o r http://x/*:a b\nc"},
		{name: "the other reads nothing", hook: "pre-push", stdin: strings.Repeat("ref\n", 1<<18), orig: "#!/bin/sh\nexit 0\n", at: "path",
			want: "ftl:2:hook pre-push:" + strings.TrimSuffix(strings.Repeat("ref\n", 1<<18), "\n")},
		{name: "the other fails on what it reads", hook: "pre-push", stdin: "x\n", orig: "#!/bin/sh\ncat\nexit 3\n", at: "path", want: "x", code: 3},
		{name: "a transaction", hook: hooks.RefTransaction, args: []string{"prepared"}, stdin: "0 1 refs/heads/x\n", at: "path",
			want: "ftl:3:hook reference-transaction prepared:0 1 refs/heads/x"},
		{name: "a transaction that is over", hook: hooks.RefTransaction, args: []string{"committed"}, stdin: "0 1 refs/heads/x\n", orig: before,
			want: "before:1:committed:0 1 refs/heads/x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			dir := `it's a "repository"`
			w.repo(dir)
			if row.orig != "" {
				w.write(dir+"/.git/hooks/"+row.hook, row.orig, cmp.Or(row.mode, 0o755))
			}
			known := w.path("it's git-ftl")
			_, err := hooks.Install{Names: []string{row.hook}, Program: known}.Do(t.Context(), w.open(dir))
			w.do(err)
			path := "/usr/bin:/bin"
			switch row.at {
			case "known":
				w.write("it's git-ftl", ftl, 0o755)
			case "path":
				w.write("bin/git-ftl", ftl, 0o755)
				path = w.path("bin") + ":" + path
			}
			cmd := exec.Command(filepath.Join(".git", "hooks", row.hook), row.args...)
			cmd.Dir, cmd.Env, cmd.Stdin = w.path(dir), []string{"PATH=" + path}, strings.NewReader(row.stdin)
			out, err := cmd.CombinedOutput()
			code := 0
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			got := strings.TrimSpace(string(out))
			if code != row.code || got != row.want && (row.at != "" || !strings.Contains(got, row.want)) {
				t.Errorf("exit code %d, %.300q; want %d, %.300q", code, got, row.code, row.want)
			}
		})
	}
}
