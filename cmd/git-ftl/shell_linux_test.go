package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scribe is an agent that writes down what it is asked. "wait" in a task makes it
// wait to be stopped, "stubborn" to be killed; it notes when it was asked to end,
// and until when it lived.
const scribe = `t=$(tail -n 1); case $t in *stubborn*) trap '' INT; trap 'date +%s > asked.txt' TERM;; esac
echo "heard: $t"; echo "$t" >> said.txt; case $t in *wait*) sleep 600;; *stubborn*) while sleep 0.1 || :; do date +%s >> lived.txt; done;; esac`

// TestShell: a task, what came of it, and the way to the working tree and back, in
// one conversation that outlives the shell.
func TestShell(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN: tasks in the shell (-short)")
	}
	needEngine(t)
	s := openScreen(t).sandboxed()
	s.git("config", "ftl.agents.scribe.command", scribe)

	s.enter("git ftl")
	s.until("nothing pending, nothing running")
	s.types("write")
	s.wait("a sandbox that boots while one types", func(string) bool { return strings.Contains(s.ftl("sandbox", "ls"), "main-1") })
	s.enter(" a poem")
	s.until("sandbox   warm")
	s.until("1 file, +1 -0")
	id := s.pending()
	s.atPrompt("ftl " + id + ">")

	s.fresh()
	s.enter("diff")
	s.until("+write a poem")
	s.atPrompt("ftl " + id + ">")
	s.types("diff -- sa")
	s.keys("Tab")
	s.until("diff -- said.txt")
	s.keys("C-c")
	s.enter("diff the two poems") // no verb: a follow-up
	s.until("heard: diff the two poems")
	s.until("1 file, +2 -0")
	s.atPrompt("ftl " + id + ">")
	if got := s.git("log", "--format=%s", "ftl/base..ftl/pending"); got != "diff the two poems\nwrite a poem\n" {
		t.Errorf("the result is not one conversation: %q", got)
	}

	s.enter("merge")
	s.until("1 file applied")
	if got := s.read("said.txt"); got != "write a poem\ndiff the two poems\n" {
		t.Errorf("merged: %q", got)
	}
	s.atPrompt("ftl " + id + ">")
	s.enter("undo")
	s.until("as before " + id + " was applied")
	if got := s.read("said.txt"); !strings.Contains(got, "no such file") {
		t.Errorf("after undo: %q", got)
	}

	s.atPrompt("ftl " + id + ">")
	s.fresh()
	s.enter("and now wait")
	s.until("heard: and now wait")
	s.keys("C-c")
	s.until("it was interrupted")
	s.atPrompt("ftl " + id + ">")
	if got := s.git("show", "ftl/pending:said.txt"); !strings.HasSuffix(got, "and now wait\n") {
		t.Errorf("Ctrl-C has lost the change: %q", got)
	}

	s.enter("exit")
	s.atPrompt("bash>")
	s.comesBack(id)
}

// TestShellCommands: a command as the agent is no conversation, and a race is none
// until one of its attempts is taken.
func TestShellCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT RUN: tasks in the shell (-short)")
	}
	needEngine(t)
	s := openScreen(t).sandboxed()
	s.git("config", "ftl.agents.scribe.command", scribe)
	s.git("config", "ftl.agents.other.command", "echo other >> said.txt")
	s.enter("git ftl")
	s.atPrompt("ftl>")
	s.enter("/exec -- sh -c 'echo made > made.txt'")
	s.until("1 file, +1 -0")
	s.atPrompt("ftl>")
	s.enter("apply")
	s.until("1 file applied")
	s.atPrompt("ftl>")

	s.fresh()
	s.enter("agent scribe")
	s.until("tasks go to scribe")
	s.enter("/run -a scribe,other 'who wins'")
	s.until("other   pending")
	s.atPrompt("ftl>")
	ids := strings.Fields(s.ftl("status", "--short"))
	if len(ids) != 2 {
		t.Fatalf("pending: %q", ids)
	}
	s.enter("diff " + ids[0])
	s.atPrompt("ftl " + ids[0] + ">")
	s.enter("apply")
	s.until(ids[0] + ": 1 file applied")
	if left := strings.Fields(s.ftl("status", "--short")); len(left) != 1 || left[0] != ids[1] {
		t.Errorf("left: %q, want %q", left, ids[1])
	}
	s.atPrompt("ftl " + ids[0] + ">") // before it Ctrl-D would be lost
	s.keys("C-d")
	s.atPrompt("bash>")
}

// comesBack starts the shell again.
func (s *screen) comesBack(id string) {
	s.t.Helper()
	s.inBash("git ftl sandbox rm --all --force") // not even the container is needed
	s.fresh()
	s.enter("git ftl")
	s.until("what you type goes on with " + id)
	s.atPrompt("ftl " + id + ">")
	s.keys("Up", "Up")
	s.until("> and now wait") // the history of the other shell; "exit" came after
	s.keys("C-c")
	s.enter("sing it")
	s.until("heard: sing it")
	s.until("git ftl reject")
	s.atPrompt("ftl " + id + ">")
	if got := s.git("show", "ftl/pending:said.txt"); !strings.HasSuffix(got, "and now wait\nsing it\n") {
		s.t.Errorf("the conversation does not go on: %q", got)
	}
	s.enter("reject")
	s.atPrompt("ftl>")

	s.enter("new wait here")
	s.until("heard: wait here")
	s.keys("C-z")
	s.until("Stopped")
	s.inBash("true")
	s.fresh()
	s.enter("fg")
	s.until("git ftl")
	s.press(3*time.Second, "it was interrupted") // bash shows the name before it gives the terminal away
	s.until("git ftl reject")                    // and stored
	s.atPrompt("ftl " + s.pending() + ">")
	s.kills()
	s.keys("C-d")
	s.atPrompt("bash>")
	info, err := os.Stat(filepath.Join(s.repo, ".git", "git-ftl", "shell-history"))
	if err != nil || info.Mode().Perm() != 0o600 {
		s.t.Errorf("history: %v %v", info, err)
	}
}

// TestShellPrompt: typing at the prompt of the shell, which needs no engine.
func TestShellPrompt(t *testing.T) {
	t.Parallel()
	s := openScreen(t, "DOCKER_HOST=unix:///nowhere")
	s.git("update-ref", "refs/ftl/results/kkkk", "HEAD")
	s.git("config", "ftl.agents.scribe.command", scribe)
	s.enter("git ftl")
	s.atPrompt("ftl>")

	// Ctrl-C drops the line, wide characters take the columns that they have.
	s.types("drop this")
	s.keys("C-c")
	s.atPrompt("ftl>")
	s.types("你好 wörld")
	s.keys("C-a", "Right", "BSpace", "C-e", "!")
	s.until("ftl> 好 wörld!")
	s.keys("C-c")

	// Completion: verbs, IDs, agents, files.
	s.types("appl")
	s.keys("Tab")
	s.types("k")
	s.keys("Tab")
	s.until("ftl> apply kkkk")
	s.keys("C-c")
	s.types("agent scr")
	s.keys("Tab", "Enter")
	s.until("tasks go to scribe")
	s.atPrompt("ftl>")
	s.types("mend a.t")
	s.keys("Tab")
	s.until("ftl> mend a.txt")
	s.keys("C-c")
	s.types("s")
	s.keys("Tab", "Tab")
	s.until("Show the record of one task.")
	s.keys("C-c")

	// A paste of several lines is one text; nothing happens before Enter.
	s.tmux("set-buffer", "new one\ntwo\x1b[31m\nthree\n")
	s.tmux("paste-buffer", "-p")
	s.until("ftl> new one\n     two[31m\n     three")
	s.keys("Enter")
	s.until("no container engine answers")
	s.atPrompt("ftl>")

	// Mistakes say what to do, and none of them ends the shell.
	s.enter("/frobnicate x")
	s.until("no verb is called frobnicate")
	s.enter("apply --frobnicate")
	s.until("unknown flag --frobnicate")
	s.until("a task that begins with this word: new apply --frobnicate")
	s.enter("help")
	s.until("/diff is always the verb")
	s.atPrompt("ftl>")
	s.resized()

	// Suspended at the prompt, it comes back with what was typed.
	s.types("half a th")
	s.keys("C-z")
	s.until("Stopped")
	s.enter("fg")
	s.until("ftl> half a th")
	s.keys("C-u")
	s.enter("exit")
	s.inBash("test $? = 0 && echo left by 0")
	s.until("left by 0")
}

// kills ends an agent that does not listen, by a second Ctrl-C, before its time to
// end by itself is over.
func (s *screen) kills() {
	s.t.Helper()
	s.fresh()
	s.enter("new be stubborn")
	s.until("heard: be stubborn")
	s.press(1200*time.Millisecond, "it was interrupted") // those of the same second are one
	s.until("git ftl reject")                            // and stored
	s.atPrompt("ftl " + s.pending() + ">")
	if lived := s.second("lived.txt") - s.second("asked.txt"); lived > 8 { // of ten
		s.t.Errorf("the second Ctrl-C has not killed the agent: it lived for %d s", lived)
	}
	if got := s.git("show", "ftl/pending:said.txt"); got != "be stubborn\n" {
		s.t.Errorf("the kill has lost the change: %q", got)
	}
}

// press presses Ctrl-C, again each so often, until the screen shows a text.
func (s *screen) press(again time.Duration, text string) {
	s.t.Helper()
	var last time.Time
	s.wait(text, func(shown string) bool {
		if strings.Contains(shown, text) {
			return true
		}
		if time.Since(last) >= again {
			last = time.Now()
			s.keys("C-c")
		}
		return false
	})
}

// second is the last one that the scribe has noted.
func (s *screen) second(file string) int {
	s.t.Helper()
	var n int
	for _, word := range strings.Fields(s.git("show", "ftl/pending:"+file)) {
		var err error
		if n, err = strconv.Atoi(word); err != nil {
			s.t.Fatal(err)
		}
	}
	return n
}

// resized makes the terminal narrow with a long line typed, and wide again.
func (s *screen) resized() {
	s.t.Helper()
	s.fresh()
	long := strings.Repeat("0123456789", 12)
	s.types(long)
	s.until("ftl> 0123456789")
	for _, width := range []string{"37", "60", "100"} {
		s.tmux("resize-window", "-x", width, "-y", "40")
		s.types("x")
		long += "x"
		s.wait("one copy of the line at "+width, func(string) bool { // tmux keeps what it scrolls away as it was
			return strings.ReplaceAll(s.tmux("capture-pane", "-p"), "\n", "") == "ftl> "+long
		})
	}
	s.keys("C-c")
	s.atPrompt("ftl>")
}

// TestShellPlain: without colours where none are wanted, and on a terminal that
// can do nothing but print.
func TestShellPlain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, env string
		bold      bool
	}{
		{"colour", "FTL_NOTHING=1", true},
		{"NO_COLOR", "NO_COLOR=1", false},
		{"dumb", "TERM=dumb", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := openScreen(t, "DOCKER_HOST=unix:///nowhere")
			s.enter("export " + row.env + "; git ftl")
			s.atPrompt("ftl>")
			if got := strings.Contains(s.tmux("capture-pane", "-p", "-e"), "\x1b["); got != row.bold {
				t.Errorf("bold: %v, want %v: %q", got, row.bold, s.tmux("capture-pane", "-p", "-e"))
			}
			s.enter("list")
			s.enter("help")
			s.until("exit           leave")
			s.atPrompt("ftl>")
			s.keys("C-c")
			s.keys("C-d")
			s.atPrompt("bash>")
		})
	}
}
