// Command git-ftl lets an untrusted coding agent work on a git repository: in a
// sandbox, on a snapshot, with a patch as its only way back.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/trust"
)

// app is the world of one command: streams, environment, clock and signals.
// Verbs reach nothing of the process but through it.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
	dir            string // where the user stands
	now            func() time.Time
	signals        <-chan os.Signal
	umask          os.FileMode // the user's; the process itself runs with 077
	ui             *ui
	unlock         unlock         // what opens the vault
	brought        *trust.Content // the repository's own files, once they are read
	usage          func() error   // prints how the verb is used
	paths          []string       // what followed "--" of a verb that takes paths, as it was given

	wheels session.Wheels // pinned programs of Python; nil but in tests

	asked *asked // whether a signal asked the command to end

	inShell bool     // the command was typed at the shell's prompt
	current string   // the shell's conversation, which verbs without an ID mean; "" elsewhere
	began   []string // tasks that the command did
	chosen  string   // the result that the command was about
}

// softMemory is where the collector begins to work harder: a large file goes
// through several forms, and their garbage need not add up.
const softMemory = 256 << 20

// gcPercent lets the heap of a short command grow to 12 MB before the first
// collection, which costs such a command an eighth of its time.
const gcPercent = 300

func main() { start(nil) }

// start runs the command of this process.
func start(wheels session.Wheels) {
	if code, ok := asGuest(os.Args); ok {
		os.Exit(code)
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(softMemory)
	keepPipes()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals()...)
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	a := &app{
		stdin: os.Stdin, stdout: &results{file: os.Stdout}, stderr: os.Stderr,
		env: os.Environ(), dir: dir, now: time.Now, signals: signals, umask: restrictUmask(), wheels: wheels,
	}
	a.env, a.unlock = takeUnlock(a.env)
	os.Exit(a.main(os.Args[1:]))
}

// main runs one command line and returns the exit code.
func (a *app) main(args []string) int {
	a.ui = newUI(a)
	a.asked = newAsked()
	if len(args) == 0 {
		return a.bare()
	}
	args, a.paths = cutPaths(dashed(args))
	verb, err := a.parse(args)
	if err == nil && verb != nil {
		err = verb.Run(a)
	}
	if err == nil {
		err = lost(a.stdout)
	}
	if err != nil && a.cut(err) {
		err = session.ErrInterrupted
	}
	if err != nil {
		return a.ui.fail(err)
	}
	return 0
}

// bare is "git ftl" alone: a shell for a person, an error for a program.
func (a *app) bare() int {
	if a.hasPerson() {
		verbs, err := a.verbs()
		if err != nil {
			return a.ui.fail(err)
		}
		return a.shell(verbs)
	}
	if _, err := a.parse([]string{"--help"}); err != nil {
		return a.ui.fail(err)
	}
	return a.ui.fail(&exitError{code: exitUsage, err: errors.New("a verb is missing"), hints: []string{`git ftl exec CMD, or git ftl run "task"`}})
}

// cutPaths takes the paths off "apply ID -- PATH…", whose first would be taken
// for the ID otherwise.
func cutPaths(args []string) (rest, paths []string) {
	i := slices.Index(args, "--")
	if i > 1 && args[0] == "snapshots" && args[1] == "restore" {
		return args[:i], args[i+1:]
	}
	if i < 1 || !slices.Contains([]string{"apply", "merge", "undo", "reject", "show", "continue", "lint"}, args[0]) {
		return args, nil
	}
	return args[:i], args[i+1:]
}

// dashed puts a task such as "- tidy up" behind "--": words that begin with a
// dash are no flag.
func dashed(args []string) []string {
	if len(args) < 2 || !slices.Contains([]string{"run", "code", "continue", "ask"}, args[0]) || slices.Contains(args, "--") {
		return args
	}
	i := slices.IndexFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return strings.HasPrefix(arg, "-") && strings.ContainsAny(name, " \t\n")
	})
	if i < 0 {
		return args
	}
	if args[0] == "ask" { // whose ID follows
		return slices.Insert(slices.Clone(args), i, "--")
	}
	return slices.Concat(args[:i], args[i+1:], []string{"--", args[i]})
}

// noPaths refuses paths for a verb that takes the whole.
func (a *app) noPaths(verb string) error {
	if len(a.paths) == 0 {
		return nil
	}
	return &exitError{code: exitUsage, err: fmt.Errorf("%s takes no paths", verb), hints: []string{"git ftl " + verb + " -h"}}
}
