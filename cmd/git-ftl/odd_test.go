package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdAgent runs a task in the current repository and wants the repository to be
// as before, byte for byte and time for time: agent [FLAG…] SHELL-TEXT. A leading
// "!" wants the task to fail.
func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: agent [FLAG…] SHELL-TEXT")
	}
	before := everything(ts)
	last := len(args) - 1
	argv := append([]string{"ftl", "exec"}, args[:last]...)
	err := ts.Exec("git", append(argv, "--", "sh", "-c", args[last])...)
	if neg != (err != nil) {
		ts.Fatalf("git ftl exec: %v", err)
	}
	if d := cmp.Diff(before, everything(ts)); d != "" {
		ts.Fatalf("the task touched the repository (-before +after):\n%s", d)
	}
}

// cmdRoundtrip applies what is pending, wants each of its paths on disk to be what
// the result has, and undoes it, which wants everything as before.
func cmdRoundtrip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: roundtrip")
	}
	pending := gitSays(ts, "rev-parse", "ftl/pending")
	names := strings.Split(strings.TrimSuffix(gitSays(ts, "diff", "-z", "--name-only", "--no-renames", "ftl/base", "ftl/pending"), "\x00"), "\x00")
	before := everything(ts)
	ts.Check(ts.Exec("git", "ftl", "apply", "--waive"))
	for _, name := range names {
		want, _, _ := strings.Cut(gitSays(ts, "ls-tree", pending, "--", name), "\t")
		if got := onDisk(ts, name); got != want {
			ts.Fatalf("after the apply %q is %q, the result has %q", name, got, want)
		}
	}
	ts.Check(ts.Exec("git", "ftl", "undo"))
	if d := cmp.Diff(before, everything(ts)); d != "" {
		ts.Fatalf("the undo did not restore the repository (-before +after):\n%s", d)
	}
}

// onDisk is the entry that git add would make of a file, "" where there is none.
// The user's index counts: it decides about line ends.
func onDisk(ts *testscript.TestScript, name string) string {
	if _, err := os.Lstat(ts.MkAbs(name)); err != nil {
		return ""
	}
	scratch := filepath.Join(ts.Getenv("WORK"), ".index")
	defer os.Remove(scratch)
	if index, err := os.ReadFile(ts.MkAbs(gitSays(ts, "rev-parse", "--git-path", "index"))); err == nil {
		ts.Check(os.WriteFile(scratch, index, 0o600))
	}
	for _, args := range [][]string{{"add", "--sparse", "--", name}, {"ls-files", "-s", "--", name}} {
		cmd := gitCommand(ts, args...)
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+scratch)
		out, err := cmd.Output()
		ts.Check(err)
		if mode, rest, ok := strings.Cut(string(out), " "); ok {
			hash, _, _ := strings.Cut(rest, " ")
			return mode + " blob " + hash
		}
	}
	return ""
}

// everything is what a task must leave alone: files with their times, status,
// index, branches, tags and stash.
func everything(ts *testscript.TestScript) []string {
	list := filepath.Join(ts.Getenv("WORK"), ".tree")
	cmdTree(ts, false, []string{".", list})
	index, _ := os.ReadFile(ts.MkAbs(gitSays(ts, "rev-parse", "--git-path", "index")))
	all := strings.Split(ts.ReadFile(list), "\n")
	return append(all, gitSays(ts, "status", "--porcelain=v2", "--branch", "--show-stash"),
		gitSays(ts, "for-each-ref", "refs/heads", "refs/tags", "refs/stash", "refs/remotes"), fmt.Sprintf("index %x", sha256.Sum256(index)))
}

func gitSays(ts *testscript.TestScript, args ...string) string {
	cmd := gitCommand(ts, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		ts.Fatalf("git %q: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// gitCommand is git beside the script: it leaves the script's last output alone,
// and runs no program of the repository's configuration.
func gitCommand(ts *testscript.TestScript, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false", "--literal-pathspecs"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"GIT_OPTIONAL_LOCKS=0"}
	for _, name := range []string{"PATH", "HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// unmount frees the file system that a script may have put at disk/, however it
// ended.
func unmount(env *testscript.Env) {
	disk := filepath.Join(env.WorkDir, "disk")
	if _, err := os.Lstat(disk); err == nil {
		_ = exec.Command("umount", "-l", disk).Run() // mostly it is no longer mounted
	}
}
