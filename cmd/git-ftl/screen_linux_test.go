package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// screen is bash in tmux: a real terminal, whose screen can be read.
type screen struct {
	t      *testing.T
	socket string
	repo   string
	bin    string
	env    []string
	marks  int
}

// openScreen starts bash in a new repository with this git-ftl on its PATH.
func openScreen(t *testing.T, env ...string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("FTL_REQUIRE_DOCKER") == "1" {
			t.Fatal("FTL_REQUIRE_DOCKER=1, and there is no tmux to drive the shell")
		}
		t.Skip("NOT RUN: the shell in a terminal: tmux is missing (apt-get install tmux)")
	}
	home, repo := folder(t), folder(t)
	s := &screen{t: t, socket: filepath.Join(t.TempDir(), "tmux"), repo: repo, bin: installed(t)}
	s.env = append([]string{
		"HOME=" + home, "PATH=" + s.bin + ":" + os.Getenv("PATH"), "LANG=C.UTF-8", "GIT_PAGER=cat",
		"DBUS_SESSION_BUS_ADDRESS=" + keyringBus(), "GIT_CONFIG_NOSYSTEM=1", "DOCKER_HOST=" + os.Getenv("DOCKER_HOST"),
	}, env...)
	s.git("init", "-q", "-b", "main")
	s.git("config", "user.name", "u")
	s.git("config", "user.email", "u@e")
	s.write("a.txt", "one\n")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "first")
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "-c", repo, "exec env PS1='bash> ' bash --norc --noprofile")
	t.Cleanup(func() {
		_ = s.command("kill-server").Run() // it may have ended with its bash
	})
	s.until("bash>")
	return s
}

// patience is how long anything that is waited for may take on a machine that does
// much else.
const patience = 2 * time.Minute

// folder is removed once the processes of tasks, which tidy up after their
// last word, are done with it.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			if err := os.RemoveAll(dir); err == nil || time.Now().After(end) {
				return
			}
		}
	})
	return dir
}

// sandboxed has the sandboxes removed in the end.
func (s *screen) sandboxed() *screen {
	s.t.Cleanup(func() { s.ftl("sandbox", "rm", "--all", "--force") })
	return s
}

// ftl runs a verb beside the shell.
func (s *screen) ftl(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, "git-ftl"), args...)
	cmd.Dir, cmd.Env = s.repo, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Errorf("git ftl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *screen) git(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", s.repo}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *screen) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.repo, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) read(name string) string {
	data, err := os.ReadFile(filepath.Join(s.repo, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (s *screen) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = s.env
	return cmd
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// types sends text as it is; keys sends keys by their names.
func (s *screen) types(text string)  { s.t.Helper(); s.tmux("send-keys", "-l", "--", text) }
func (s *screen) keys(key ...string) { s.t.Helper(); s.tmux(append([]string{"send-keys"}, key...)...) }

// enter types a line.
func (s *screen) enter(text string) {
	s.t.Helper()
	s.types(text)
	s.keys("Enter")
}

// shows is what was on the screen since the start, without what is empty.
func (s *screen) shows() string {
	s.t.Helper()
	return strings.TrimRight(s.tmux("capture-pane", "-p", "-S", "-"), "\n")
}

// fresh empties the screen, so that until looks at what comes.
func (s *screen) fresh() {
	s.t.Helper()
	s.keys("C-l")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		s.tmux("clear-history")
		if text := s.shows(); strings.Count(text, "\n") < 2 {
			return
		}
	}
	s.t.Fatalf("the screen cannot be emptied: %s", s.shows())
}

// until waits until the screen shows a text.
func (s *screen) until(text string) {
	s.t.Helper()
	s.wait(text, func(shown string) bool { return strings.Contains(shown, text) })
}

// atPrompt waits for a prompt with nothing typed.
func (s *screen) atPrompt(label string) {
	s.t.Helper()
	s.wait(label, func(shown string) bool {
		lines := strings.Split(shown, "\n")
		return strings.TrimRight(lines[len(lines)-1], " ") == strings.TrimRight(label, " ")
	})
}

func (s *screen) wait(what string, there func(string) bool) {
	s.t.Helper()
	var shown string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if shown = s.shows(); there(shown) {
			return
		}
	}
	s.t.Fatalf("the screen never shows %q but\n%s", what, shown)
}

// inBash runs a command in bash and waits for its end.
func (s *screen) inBash(command string) {
	s.t.Helper()
	s.marks++
	s.enter(fmt.Sprintf("%s; echo mark $((%d+1000))", command, s.marks))
	s.until(fmt.Sprintf("mark %d", s.marks+1000))
}

// pending is the ID of the result that is pending here.
func (s *screen) pending() string {
	s.t.Helper()
	id := strings.TrimSpace(s.git("for-each-ref", "--points-at=refs/ftl/pending", "--format=%(refname:lstrip=3)", "refs/ftl/results"))
	if id == "" || strings.Contains(id, "\n") {
		s.t.Fatalf("pending is %q: %s", id, s.shows())
	}
	return id
}
