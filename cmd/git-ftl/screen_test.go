package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdScreen drives a program in a real terminal, that of tmux:
//
//	screen open COLUMNS ROWS CMD ARG…  starts it; "exit code N" is shown at its end
//	screen keys KEY…                   presses keys, as tmux names them; =TEXT types a text
//	screen shows REGEXP                waits until a line of the screen matches
//	screen hides REGEXP                waits until none does
//	[!] screen colours                 wants some on the screen, or none
//	screen size COLUMNS ROWS           makes it another size
//	screen tried                       wants each key of the help that it shows to have been pressed
//	screen close                       ends it
func cmdScreen(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || neg && args[0] != "colours" {
		ts.Fatalf("usage: screen open|keys|shows|hides|size|colours|tried|close …")
	}
	verb, rest := args[0], args[1:]
	switch {
	case verb == "open" && len(rest) > 2:
		openReviewScreen(ts, rest[0], rest[1], rest[2:])
	case verb == "keys":
		for _, key := range rest {
			if text, ok := strings.CutPrefix(key, "="); ok {
				tmux(ts, "send-keys", "-l", text)
			} else {
				tmux(ts, "send-keys", key)
				ts.Setenv("PRESSED", ts.Getenv("PRESSED")+" "+key)
			}
		}
	case verb == "shows" && len(rest) == 1:
		untilScreen(ts, rest[0], true)
	case verb == "hides" && len(rest) == 1:
		untilScreen(ts, rest[0], false)
	case verb == "colours" && len(rest) == 0:
		tmux(ts, "capture-pane", "-p", "-e")
		if got := colour.MatchString(ts.ReadFile("stdout")); got == neg {
			ts.Fatalf("screen: colours are %v", got)
		}
	case verb == "size" && len(rest) == 2:
		tmux(ts, "resize-window", "-x", rest[0], "-y", rest[1])
	case verb == "tried" && len(rest) == 0:
		tmux(ts, "capture-pane", "-p")
		tried(ts, ts.ReadFile("stdout"), strings.Fields(ts.Getenv("PRESSED")))
	case verb == "close" && len(rest) == 0:
		tmux(ts, "kill-server")
	default:
		ts.Fatalf("screen: unknown %s", strings.Join(args, " "))
	}
}

// helpLine is a line of the help: keys as bubbletea names them, and what they do.
var helpLine = regexp.MustCompile(`^ (\S+(?: \S+)*) {2,}\S`)

// tried compares the keys of the help, which has to be on the screen as a whole, with
// those that were pressed, as tmux names them.
func tried(ts *testscript.TestScript, shown string, pressed []string) {
	_, help, ok := strings.Cut(shown, "\n help: ")
	lines := strings.Split(strings.TrimRight(help, "\n"), "\n")
	if !ok || len(lines) < 2 || lines[len(lines)-2] != "" {
		ts.Fatalf("screen: the help is not there as a whole:\n%s", shown)
	}
	names := map[string]string{"space": "Space", "enter": "Enter", "tab": "Tab", "pgup": "PageUp", "pgdown": "PageDown"}
	for _, name := range []string{"up", "down", "left", "right", "home", "end"} {
		names[name] = strings.ToUpper(name[:1]) + name[1:]
	}
	n := 0
	for _, line := range lines[:len(lines)-1] {
		m := helpLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for key := range strings.FieldsSeq(m[1]) {
			n++
			name := strings.Replace(key, "ctrl+", "C-", 1)
			if names[key] != "" {
				name = names[key]
			}
			if !slices.Contains(pressed, name) {
				ts.Fatalf("screen: nothing has tried the key %s: %s", key, line)
			}
		}
	}
	if n < 50 {
		ts.Fatalf("screen: the help has only %d keys:\n%s", n, shown)
	}
}

// colour is what tmux writes for one of the sixteen, or of 256.
var colour = regexp.MustCompile(`\x1b\[(\d+;)*(3[0-7]|4[0-7]|9[0-7]|[34]8;5;\d+)(;\d+)*m`)

func openReviewScreen(ts *testscript.TestScript, columns, rows string, argv []string) {
	if _, err := exec.LookPath("tmux"); err != nil {
		ts.Fatalf("tmux is needed for tests of the screen: apt-get install tmux")
	}
	screens := strconv.FormatInt(time.Now().UnixNano(), 36) // a server that ends may still hold its socket
	ts.Setenv("SCREEN", filepath.Join(ts.Getenv("WORK"), ".tmux-"+screens))
	script := quoteArgs(argv) + `; echo "exit code $?"; exec cat`
	tmux(ts, "-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, script)
	socket := ts.Getenv("SCREEN")
	ts.Defer(func() { _ = exec.Command("tmux", "-S", socket, "kill-server").Run() })
}

// tmux runs one of its commands on the script's own server.
func tmux(ts *testscript.TestScript, args ...string) {
	ts.Check(ts.Exec("tmux", append([]string{"-S", ts.Getenv("SCREEN")}, args...)...))
}

// untilScreen waits for what the screen shows.
func untilScreen(ts *testscript.TestScript, pattern string, want bool) {
	re, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	shown := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		out, err := exec.Command("tmux", "-S", ts.Getenv("SCREEN"), "capture-pane", "-p").Output()
		if err != nil {
			shown = fmt.Sprint(err)
			continue
		}
		if shown = string(out); re.MatchString(shown) == want {
			return
		}
	}
	ts.Fatalf("screen: %s, want %v:\n%s", pattern, want, shown)
}
