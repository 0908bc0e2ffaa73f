package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a shell with job control at a terminal of its own.
type terminal struct {
	t    *testing.T
	host *os.File

	mu    sync.Mutex
	shown strings.Builder
}

// openPTY opens a terminal: the end of whoever looks at it, and that of programs.
func openPTY(t *testing.T) (host, guest *os.File) {
	t.Helper()
	host, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("NOT RUN: no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { _ = host.Close() })
	if err := unix.IoctlSetPointerInt(int(host.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(host.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	guest, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = guest.Close() })
	return host, guest
}

// openTerminal starts bash in a repository with this git-ftl on its PATH.
func openTerminal(t *testing.T, repo string) *terminal {
	t.Helper()
	host, guest := openPTY(t)
	bin := installed(t)
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Dir = repo
	shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TERM=xterm", "GIT_PAGER=cat", "PS1=prompt> ", "HOME="+folder(t))
	shell.Stdin, shell.Stdout, shell.Stderr = guest, guest, guest
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	_ = guest.Close()
	term := &terminal{t: t, host: host}
	go func() { _, _ = io.Copy(term, host) }()
	t.Cleanup(func() {
		_ = shell.Process.Kill()
		_ = shell.Wait()
	})
	return term
}

// installed is a folder that has this git-ftl.
func installed(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	data, err := os.ReadFile(self) // a link would not do: the task's own process starts what it was started from
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "git-ftl"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

// Write implements io.Writer for what the terminal shows.
func (term *terminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.Write(p)
}

func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.String()
}

// forget drops what was shown so far.
func (term *terminal) forget() {
	term.mu.Lock()
	defer term.mu.Unlock()
	term.shown.Reset()
}

// types sends keys.
func (term *terminal) types(keys string) {
	term.t.Helper()
	if _, err := term.host.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// until waits until the terminal shows a text.
func (term *terminal) until(text string) {
	term.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(term.text(), text) {
			return
		}
	}
	term.t.Fatalf("the terminal never shows %q but %q", text, term.text())
}

// TestTerminalKeys: Ctrl-Z leaves a task to itself and gives the shell back;
// Ctrl-C ends one, whose change is stored.
func TestTerminalKeys(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN: tasks at a terminal (-short)")
	}
	needEngine(t)
	repo := folder(t)
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=u", "-c", "user.email=u@e"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	term := openTerminal(t, repo)
	t.Cleanup(func() {
		term.types("git ftl sandbox rm --all --force; echo all $((40+2)) gone\n")
		term.until("all 42 gone")
	})

	term.types("git ftl exec -- sh -c 'echo agent started; until test -e /tmp/go; do sleep 0.1; done; echo kept > kept.txt'\n")
	term.until("  agent started")
	term.types("\x1a")
	term.until("in the background: git ftl logs -f")
	term.types("echo shell $((20+1)) is back\n")
	term.until("shell 21 is back")
	if err := inside(repo, "main-1", "touch", "/tmp/go"); err != nil {
		t.Fatal(err)
	}
	term.types("git ftl wait && git show ftl/pending:kept.txt && echo stored $((30+3))\n")
	term.until("stored 33")
	if !strings.Contains(term.text(), "kept\r") {
		t.Errorf("the change of the task that was left alone is not there: %s", term.text())
	}

	term.types("git ftl exec -- sh -c 'echo half > half.txt; echo another started; sleep 600'\n")
	term.until("  another started")
	term.types("\x03")
	term.until("git-ftl: ")
	term.types("echo code $?; git show ftl/pending:half.txt; echo done $((50+5))\n")
	term.until("done 55")
	for _, want := range []string{"code 130", "half\r"} {
		if !strings.Contains(term.text(), want) {
			t.Errorf("the terminal does not show %q: %s", want, term.text())
		}
	}

	chooses(term)
}

// chooses takes one of two results; to choose it is to have seen it.
func chooses(term *terminal) {
	term.types("git ftl apply\n")
	term.until("which one (1-2, empty for none)?")
	term.types("2\n")
	term.until("1 file applied")
}
