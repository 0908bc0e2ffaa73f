// Package agent holds adapters: values that say how a coding agent is started,
// what it needs, and how the stream that it prints is read. It starts nothing,
// reads nothing and writes nothing.
//
// What an agent prints is hostile: a parser takes any bytes, bounds what it
// keeps, and leaves it to the caller to make text safe to show.
package agent

import (
	"errors"
	"fmt"
)

// ErrUnknown says that no agent of that name is built in.
var ErrUnknown = errors.New("no such agent is built in")

// Agent is one way to do a task in the sandbox.
type Agent struct {
	Name    string   // as the user calls it; author of the result
	Argv    []string // started in the caller's folder of the workspace
	Stdin   string   // its standard input
	Env     []string // NAME=value, beside what the sandbox and the user's secrets bring
	Files   []File   // written anew before each task
	Secrets []string // names of which it needs one; none is an agent without a key
	Hosts   []Host   // of its model
	Stream  string   // the format of its standard output; "" is plain lines
	Session string   // the conversation that it goes on with; "" begins one
	MaxCost float64  // US dollars after which it is to be stopped; 0 is no bound
}

// File is a file in the agent's home.
type File struct {
	Path    string // below the home, with / between names
	Content string
}

// Host is where an agent reaches its model: the calls that run one, and none that
// keeps a file there.
type Host struct {
	Name    string
	Paths   []string // prefixes that end at a segment
	Chatter []string // prefixes of what it asks for beside, and does without: no news where it is denied
}

// Turn is what an agent is asked for.
type Turn struct {
	Task    string // any length
	Model   string // as the agent names it; "" is its own choice
	Session string // a conversation to go on with, by the id that its stream gave; "" begins one
	MaxCost float64
}

// ExecName is the name of a command as the agent.
const ExecName = "exec"

// Exec is any command as the agent, as "git ftl exec" runs it. It reads nothing
// from its standard input.
func Exec(argv []string) Agent {
	return Agent{Name: ExecName, Argv: argv}
}

// Command is an agent that the user configured: a shell command that reads the
// task from its standard input, so that a task may have any length.
func Command(name, shell, task string) Agent {
	return Agent{Name: name, Argv: []string{"sh", "-c", shell}, Stdin: task}
}

// builtin is what is known of one agent before it has a task.
type builtin struct {
	name    string
	version string // of its packages
	make    func(Turn) Agent
	history []string // below the home: conversations, and nothing that steers
	resumes bool     // it goes on with a conversation by its id
	costs   bool     // its stream says what it costs
	from    []Package
	wheel   Wheel
	install string // where none are pinned: how an image comes to have it
}

func builtins() []builtin {
	return []builtin{claudeCode(), codex(), aider(), kiro(), gemini(), openCode()}
}

// Names lists the agents that are built in.
func Names() []string {
	var all []string
	for _, b := range builtins() {
		all = append(all, b.name)
	}
	return all
}

// Builtin is an agent with a task. Errors: ErrUnknown; one where the turn has a
// cost bound that the agent cannot be held to.
func Builtin(name string, t Turn) (Agent, error) {
	b, ok := find(name)
	if !ok {
		return Agent{}, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	if t.MaxCost > 0 && !b.costs {
		return Agent{}, fmt.Errorf("%s does not say what it costs, so that no bound of it can be kept", name)
	}
	if !b.resumes {
		t.Session = ""
	}
	a := b.make(t)
	a.Name, a.Session, a.MaxCost = name, t.Session, t.MaxCost
	return a, nil
}

// Resumes reports whether an agent goes on with a conversation by its id. One
// that does not has to be told what was before.
func Resumes(name string) bool {
	b, ok := find(name)
	return ok && b.resumes
}

// Packages are what an image needs for an agent on an architecture, as Go names
// it; none where the user's own image has to bring it.
func Packages(name, arch string) []Package {
	b, _ := find(name)
	var all []Package
	for _, p := range b.from {
		if p.Arch == "" || p.Arch == arch {
			all = append(all, p)
		}
	}
	return all
}

// WheelOf is what an image needs for an agent that is a program of Python; false for
// any other.
func WheelOf(name string) (Wheel, bool) {
	b, _ := find(name)
	return b.wheel, b.wheel.Name != ""
}

// Version is that of an agent's packages, "" where the user's own image brings it.
func Version(name string) string {
	b, _ := find(name)
	return b.version
}

// Install says how a user's image comes to have an agent that is not pinned, "" for
// one that is.
func Install(name string) string {
	b, _ := find(name)
	return b.install
}

// History lists what persists of every agent between tasks, below the home.
func History() []string {
	var all []string
	for _, b := range builtins() {
		all = append(all, b.history...)
	}
	return all
}

func find(name string) (builtin, bool) {
	for _, b := range builtins() {
		if b.name == name {
			return b, true
		}
	}
	return builtin{}, false
}
