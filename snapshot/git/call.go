package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// Call is one run of git. Args are passed as they are: a caller puts "--"
// before names.
type Call struct {
	Args   []string
	Config []string // key=value pairs for this call, over the user's
	Index  string   // index file to use in place of the user's; it may be refreshed and written
	Env    []string // more variables
	Stdin  io.Reader
	Stdout io.Writer

	// Apart keeps signals to our process group, such as a terminal's, from git: for
	// calls that lock what others use too, which a kill in the middle leaves locked.
	// They must not ask the user anything.
	Apart bool

	Started func() // called once git runs, for what can be done meanwhile
}

// ExitError is a git call that ended with another code than 0.
type ExitError struct {
	Args   []string
	Code   int
	Stderr string // trimmed
}

// Error names the command and what it said.
func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("git %s: exit code %d", e.Args[0], e.Code)
	}
	return fmt.Sprintf("git %s: %s", e.Args[0], e.Stderr)
}

// Command prepares git on this work tree without starting it. When ctx ends,
// git is asked to end, as which it takes its locks away, and killed 5 s later.
func (r *Repo) Command(ctx context.Context, c Call) *exec.Cmd {
	args := []string{"--no-replace-objects", "--literal-pathspecs",
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "advice.all=false", "-c", "core.splitIndex=false"}
	for _, kv := range c.Config {
		args = append(args, "-c", kv)
	}
	cmd := exec.CommandContext(ctx, "git", append(args, c.Args...)...)
	cmd.Dir = r.Dir
	cmd.Env = append(r.env[:len(r.env):len(r.env)], c.Env...)
	if c.Index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+c.Index, "GIT_OPTIONAL_LOCKS=1")
	}
	cmd.Stdin, cmd.Stdout = c.Stdin, c.Stdout
	cmd.WaitDelay = 5 * time.Second
	endGently(cmd)
	if c.Apart {
		setApart(cmd)
	}
	return cmd
}

// Do runs one call to its end. Errors: *ExitError, the context's, or a start
// failure.
func (r *Repo) Do(ctx context.Context, c Call) error {
	cmd := r.Command(ctx, c)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git %s: %w", c.Args[0], err)
	}
	if c.Started != nil {
		c.Started()
	}
	return await(ctx, cmd, c.Args, &stderr)
}

// await waits for a started git and says how it ended. stderr is complete
// only after that.
func await(ctx context.Context, cmd *exec.Cmd, args []string, stderr *bytes.Buffer) error {
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", args[0], ctx.Err())
	case errors.As(err, &exit):
		return &ExitError{Args: args, Code: exit.ExitCode(), Stderr: strings.TrimSpace(stderr.String())}
	}
	return fmt.Errorf("git %s: %w", args[0], err)
}

// Output runs one call and returns its standard output; c.Stdout is ignored.
func (r *Repo) Output(ctx context.Context, c Call) ([]byte, error) {
	var out bytes.Buffer
	c.Stdout = &out
	err := r.Do(ctx, c)
	return out.Bytes(), err
}

// Line runs git with args and returns its output without the last newline.
func (r *Repo) Line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Output(ctx, Call{Args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}
