// Package agent holds adapters: values that say how a coding agent is started.
// It starts nothing, reads nothing and writes nothing.
package agent

// Agent is one way to do a task in the sandbox.
type Agent struct {
	Name  string   // as the user calls it; author of the result
	Argv  []string // started in the caller's folder of the workspace
	Stdin string   // its standard input
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
