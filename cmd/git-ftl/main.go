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

	"github.com/alecthomas/kong"

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
	paths          []string       // what followed "--" of a verb that takes paths, as it was given

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

func main() {
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
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		env: os.Environ(), dir: dir, now: time.Now, signals: signals, umask: restrictUmask(),
	}
	a.env, a.unlock = takeUnlock(a.env)
	os.Exit(a.main(os.Args[1:]))
}

// main runs one command line and returns the exit code.
func (a *app) main(args []string) int {
	a.ui = newUI(a)
	var c cli
	exit := -1
	parser, err := kong.New(&c, kong.Name("git ftl"), kong.Description(description), kong.Help(a.help),
		kong.Writers(a.stdout, a.stderr), kong.Exit(func(code int) { exit = code }),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Vars{"version": version()}, kong.ExplicitGroups(groups()))
	if err != nil {
		return a.ui.fail(err)
	}
	if len(args) == 0 && a.hasPerson() {
		return a.shell(parser.Model.Node)
	}
	if len(args) == 0 {
		_, _ = parser.Parse([]string{"--help"})
		return a.ui.fail(&exitError{code: exitUsage, err: errors.New("a verb is missing"), hints: []string{`git ftl exec CMD, or git ftl run "task"`}})
	}
	args, a.paths = cutPaths(dashed(args))
	ctx, err := parser.Parse(args)
	if exit >= 0 { // --help or --version has printed; what else was wrong does not matter
		return exit
	}
	if err != nil {
		return a.ui.fail(usageError(err))
	}
	if err := ctx.Run(a); err != nil {
		return a.ui.fail(err)
	}
	return 0
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

// usageError adds the way out to what kong says.
func usageError(err error) error {
	verb := ""
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		for n := parse.Context.Selected(); n != nil && n.Parent != nil; n = n.Parent {
			verb = n.Name + " " + verb
		}
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	return &exitError{code: exitUsage, err: errors.New(text), hints: []string{"git ftl " + verb + "-h"}}
}
