package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// KeyError says that an agent has no key for its model. Nothing has begun.
type KeyError struct {
	Agent string
	Names []string // one of them is needed
	Here  []string // those that the caller's own environment has
}

// Error names the keys.
func (e *KeyError) Error() string {
	return fmt.Sprintf("%s has no key for its model: %s is not in the vault", e.Agent, strings.Join(e.Names, " or "))
}

// Hints are the commands that keep one.
func (e *KeyError) Hints() []string {
	var hints []string
	for _, name := range e.Here {
		hints = append(hints, fmt.Sprintf("printenv %s | git ftl auth set %s", name, name))
	}
	return append(hints, "git ftl auth set "+e.Names[0]+" asks for it, or reads stdin; tasks get a shadow of it")
}

// equip makes sure, before anything begins, that the agent can reach its model.
func (r *run) equip() error {
	a := r.task.Agent
	if len(a.Secrets) == 0 {
		return nil
	}
	if r.Config.Network == string(proxy.None) {
		return fmt.Errorf("%s cannot reach its model without a network (--network allow)", a.Name)
	}
	if slices.ContainsFunc(r.secret.kept, func(k Kept) bool { return slices.Contains(a.Secrets, k.Name) && !k.Value.IsZero() }) {
		return nil
	}
	missing := &KeyError{Agent: a.Name, Names: a.Secrets}
	for _, name := range a.Secrets {
		if slices.ContainsFunc(r.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") && len(kv) > len(name)+1 }) {
			missing.Here = append(missing.Here, name)
		}
	}
	return missing
}

// narrow leaves of what is known of an agent's own key what runs its model.
func (r *run) narrow(name string, b shadow.Binding) shadow.Binding {
	a := r.task.Agent
	if !slices.Contains(a.Secrets, name) {
		return b
	}
	for _, h := range a.Hosts {
		if slices.Contains(b.Hosts, h.Name) {
			b.Hosts, b.Paths = []string{h.Name}, h.Paths
		}
	}
	return b
}

// writeAgent puts the agent's own settings into its home, where the task before
// left none.
func (r *run) writeAgent(ctx context.Context) error {
	for _, f := range r.task.Agent.Files {
		if err := r.put(ctx, path.Join(container.Home, f.Path), strings.NewReader(f.Content)); err != nil {
			return fmt.Errorf("write %s of the sandbox: %w", f.Path, err)
		}
	}
	return nil
}

// recall makes sure that the agent still has the conversation that it is to go on
// with: it is gone with its sandbox, and belongs to the folder that it began in.
// Else the agent is told what was before.
func (r *run) recall(ctx context.Context, folder string) error {
	id := r.task.Agent.Session
	if id == "" || r.task.Replay == nil {
		return nil
	}
	if r.from.record.Folder == folder && r.remembers(ctx, id) {
		return nil
	}
	r.task.Agent = *r.task.Replay
	r.note("the conversation is not in this sandbox; the agent is told what was before")
	return r.writeAgent(ctx)
}

// remembers looks for a file of the conversation.
func (r *run) remembers(ctx context.Context, id string) bool {
	const script = `id=$1; shift; find "$@" -name "*$id*" 2>/dev/null | grep -q . || grep -rqsF -- "$id" "$@"`
	argv := []string{"sh", "-c", script, "sh", id}
	for _, p := range agent.History() {
		argv = append(argv, path.Join(container.Home, p))
	}
	exit, err := r.box.Run(ctx, container.Cmd{Argv: argv, Env: agentEnv(r.image, ""), Stdout: io.Discard, Stderr: io.Discard, Grace: grace})
	return err == nil && exit.Code == 0
}

// judgeStream sets status and error by why the agent was stopped, and by what it
// said of itself.
func (r *run) judgeStream(l *listener, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := &r.out
	switch {
	case errors.Is(cause, errAuth):
		o.Status, o.Error, o.Fault = Failed, errAuth.Error(), string(agent.FaultAuth)
	case errors.Is(cause, errBudget):
		o.Status, o.Error, o.Fault = Budget, r.overBudget(), string(agent.FaultBudget)
	case errors.Is(cause, errIdle):
		o.Status, o.Error = Timeout, fmt.Sprintf("nothing was heard of it for %s (git config ftl.idle)", r.Config.Idle)
	case o.Status != Interrupted && o.Status != Timeout:
		r.judgeEnd(l)
	}
}

// notThere is the exit code of a command that is not found.
const notThere = 127

// judgeEnd is for an agent that ended by itself.
func (r *run) judgeEnd(l *listener) {
	o := &r.out
	switch {
	case o.AgentExit == notThere && o.Status == Failed && agent.Install(o.Agent) != "":
		o.Error = fmt.Sprintf("the image has no %s: name one that has it (--image, git config ftl.image)", r.task.Agent.Argv[0])
		o.Fault = string(faultMissing)
	case l.parser == nil:
	case l.done != nil && l.done.Failed:
		r.judgeFault(l)
	case o.Status == Failed && l.log != "":
		o.Error += ": " + firstLine(l.log)
	case o.Status == Pending && l.done == nil:
		o.Status, o.Error = Failed, "it ended without saying that it was done"
	}
}

// judgeFault takes what the agent says of its failure.
func (r *run) judgeFault(l *listener) {
	o := &r.out
	o.Status, o.Error, o.Fault = Failed, firstLine(l.shown(l.done.Text)), string(l.done.Fault)
	switch l.done.Fault {
	case agent.FaultBudget:
		o.Status, o.Error = Budget, r.overBudget()
	case agent.FaultAuth:
		o.Error = errAuth.Error() + ": " + o.Error
	}
	if o.Error == "" {
		o.Error = "it failed and did not say why"
	}
}

func (r *run) overBudget() string {
	return fmt.Sprintf("it was stopped at the cost bound of $%g (--max-cost)", r.task.Agent.MaxCost)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// faultMissing is that of an image without the agent.
const faultMissing agent.Fault = "missing"

// faultHints are the ways to an image that has the agent, or to another key where the
// provider did not take the one that was used.
func faultHints(o Outcome) []string {
	switch o.Fault {
	case string(faultMissing):
		return []string{
			fmt.Sprintf("a Dockerfile with FROM %s and a RUN of %s makes one, and .devcontainer can name it", container.BaseImage(), agent.Install(o.Agent)),
			"git ftl setup --agent NAME adds an agent whose version is pinned: claude-code, codex, aider, gemini or opencode",
		}
	case string(agent.FaultAuth):
		return keyHints(o)
	}
	return nil
}

// keyHints are the ways to another key than one of those that were used.
func keyHints(o Outcome) []string {
	a, err := agent.Builtin(o.Agent, agent.Turn{})
	if err != nil || len(a.Secrets) == 0 {
		return nil
	}
	name := a.Secrets[0]
	for _, used := range a.Secrets {
		if slices.Contains(o.Egress.Swapped, used) {
			name = used
			break
		}
	}
	return []string{"git ftl auth set " + name + " keeps another key", "git ftl continue " + o.ID + " goes on"}
}
