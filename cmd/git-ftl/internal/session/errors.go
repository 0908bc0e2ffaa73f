package session

import (
	"errors"
	"fmt"
)

// ErrInterrupted says that a person ended the task.
var ErrInterrupted = errInterrupted

// ErrNoAgent says that no agent was named and none is configured.
var ErrNoAgent = errors.New("no agent is set")

// ErrNotRunning says that no process works on a task.
var ErrNotRunning = errors.New("the task is not running")

// ErrNothingToRun says that no test was written or can be, and that the project has
// no command that runs its own.
var ErrNothingToRun = errors.New("there are no tests to run")

// AgentError says that the agent failed or was stopped; what it changed is
// stored.
type AgentError struct {
	Status string // Failed, Timeout or Budget
	Code   int    // of the agent's process
	Why    string
	Hints  []string
}

// Error gives the reason as a sentence.
func (e *AgentError) Error() string { return "the agent failed: " + e.Why }

// finished turns the outcome of a whole task into the error it is for a caller.
func (s *Session) finished(o Outcome) error {
	switch o.Status {
	case Pending, Empty:
		return nil
	case Interrupted:
		return errInterrupted
	}
	why := o.Error
	if why == "" {
		why = fmt.Sprintf("it exited with code %d", o.AgentExit)
	}
	return &AgentError{Status: o.Status, Code: o.AgentExit, Why: why, Hints: faultHints(o)}
}

// refusedError says that a change can never become a result as it is. The
// sandbox keeps it for a person to look at.
type refusedError struct {
	sandbox string
	why     error
}

// Error names the sandbox.
func (e *refusedError) Error() string {
	return fmt.Sprintf("the change of the agent was refused: %v; sandbox %s keeps it", e.why, e.sandbox)
}

// Unwrap gives the reason.
func (e *refusedError) Unwrap() error { return e.why }

// Hints are the ways to what was refused.
func (e *refusedError) Hints() []string {
	return []string{
		"git ftl sandbox shell --name " + e.sandbox + " looks at it; what is mended there is stored",
		"git ftl sandbox rm --force " + e.sandbox + " drops it",
	}
}
