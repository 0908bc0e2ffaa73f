package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// notifyAfter is how long a run takes from which a person may have turned away.
const notifyAfter = 10 * time.Second

// notify tells a person who may be elsewhere that a run has ended: by the terminal
// and by the desktop, as the setting has it. What it says is IDs and states alone,
// which no agent can word. It waits for nothing, and its failures are no one's.
func (a *app) notify(mode string, outs []session.Outcome) {
	long := slices.ContainsFunc(outs, func(o session.Outcome) bool { return o.Ended.Sub(o.Created) >= notifyAfter })
	if !long || lookup(a.env, "CI") != "" || !isTerminal(a.stderr) {
		return
	}
	var parts []string
	for _, o := range outs {
		parts = append(parts, o.ID+" "+o.Status)
	}
	text := clean("git-ftl: " + strings.Join(firstOf(parts), ", "))
	if mode == "on" || mode == "bell" {
		fmt.Fprint(a.stderr, bell(lookup(a.env, "TERM"), text))
	}
	if mode != "on" && mode != "desktop" {
		return
	}
	argv := desktopNote(runtime.GOOS, text)
	if len(argv) == 0 {
		return
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = a.env
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }() // for the shell, which outlives it
	}
}

// bell is what makes a terminal call: its bell, and the sequence by which some show
// a notification and others nothing.
func bell(terminal, text string) string {
	if terminal == "dumb" || terminal == "linux" || terminal == "" {
		return "\a"
	}
	return "\a\x1b]9;" + text + "\x1b\\"
}

// desktopNote is the command that shows a text on a desktop; nil where there is
// none. The text is an argument, never part of a script.
func desktopNote(system, text string) []string {
	switch system {
	case "windows":
		return nil
	case "darwin":
		return []string{"osascript", "-e", "on run argv", "-e", `display notification (item 1 of argv) with title "git-ftl"`, "-e", "end run", text}
	}
	return []string{"notify-send", "--app-name=git-ftl", "--", "git-ftl", text}
}
