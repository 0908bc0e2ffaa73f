package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/container"
)

// Attachment is a file of the user's that an agent gets beside the workspace.
type Attachment struct {
	Name string // in the sandbox
	Path string // on the host
}

// attachments is where they lie in the sandbox. Everything there goes with the
// task.
const attachments = "/tmp/attachments"

// attach copies the task's attachments into the sandbox, as the agent's user.
func (r *run) attach(ctx context.Context) error {
	for _, a := range r.task.Attach {
		if err := r.attachOne(ctx, a); err != nil {
			return fmt.Errorf("attach %s: %w", a.Path, err)
		}
	}
	return nil
}

func (r *run) attachOne(ctx context.Context, a Attachment) error {
	f, err := os.Open(a.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.put(ctx, path.Join(attachments, a.Name), f)
}

// put writes a file of the sandbox as the agent's user, with the folders above it.
// The path is absolute.
func (r *run) put(ctx context.Context, file string, content io.Reader) error {
	return r.pipe(ctx, content, `umask 077; mkdir -p -- "$1" && cat > "$2"`, path.Dir(file), file)
}

// scriptError is what a script of ours says where it fails: the word of the sandbox.
type scriptError struct{ said string }

func (e *scriptError) Error() string { return e.said }

// pipe feeds a shell script of ours as the agent's user, and gives what it says as
// the error where it fails, a *scriptError.
func (r *run) pipe(ctx context.Context, stdin io.Reader, script string, args ...string) error {
	var said strings.Builder
	exit, err := r.box.Run(ctx, container.Cmd{
		Argv: append([]string{"sh", "-c", script, "sh"}, args...), Env: agentEnv(r.image, ""), Stdin: stdin, Stderr: &said,
	})
	if err == nil && exit.Code != 0 {
		err = &scriptError{strings.TrimSpace(said.String())}
	}
	return err
}

// stdin is what the agent reads: for one that takes its task there, with the
// attachments named.
func (r *run) stdin() string {
	text := r.task.Agent.Stdin
	if text == "" || r.task.Agent.Name == agent.ExecName || len(r.task.Attach) == 0 {
		return text
	}
	text = strings.TrimRight(text, "\n") + "\n\nFiles that belong to this:\n"
	for _, a := range r.task.Attach {
		text += path.Join(attachments, a.Name) + "\n"
	}
	return text
}
