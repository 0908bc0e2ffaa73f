//go:build unix

package git_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/git-ftl/git-ftl/snapshot/git"
)

// begin starts git, and gives what to write to and read from it.
func begin(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, bufio.NewReader(out)
}

// TestApart: a signal to the process group of git-ftl reaches git as it does any
// child, but for the calls that lock what others use.
func TestApart(t *testing.T) {
	d := newDir(t)
	repo, err := git.Open(t.Context(), d.path, d.env)
	if err != nil {
		t.Fatal(err)
	}
	for name, apart := range map[string]bool{"with us": false, "apart": true} {
		t.Run(name, func(t *testing.T) {
			cmd := repo.Command(t.Context(), git.Call{Args: []string{"update-ref", "--stdin"}, Apart: apart})
			in, _ := begin(t, cmd)
			group, err := syscall.Getpgid(cmd.Process.Pid)
			if err != nil || (group != syscall.Getpgrp()) != apart {
				t.Errorf("group %d, ours is %d, %v", group, syscall.Getpgrp(), err)
			}
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCancelLeavesNoLock: a git that is stopped in the middle takes its locks away.
func TestCancelLeavesNoLock(t *testing.T) {
	d := newDir(t)
	d.git("commit", "-q", "--allow-empty", "-m", "first")
	repo, err := git.Open(t.Context(), d.path, d.env)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := repo.Command(ctx, git.Call{Args: []string{"update-ref", "--stdin"}})
	in, out := begin(t, cmd)
	if _, err := io.WriteString(in, "start\nupdate refs/ftl/x "+d.git("rev-parse", "HEAD")+"\nprepare\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"start: ok", "prepare: ok"} {
		if line, err := out.ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
			t.Fatalf("%q, not %q: %v", line, want, err)
		}
	}
	lock := repo.CommonDir + "/refs/ftl/x.lock"
	if _, err := os.Lstat(lock); err != nil {
		t.Fatalf("it holds no lock: %v", err)
	}
	cancel()
	_ = cmd.Wait()
	if _, err := os.Lstat(lock); err == nil {
		t.Error("the lock is left")
	}
}
