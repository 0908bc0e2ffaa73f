package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/git-ftl/git-ftl/container"
	"github.com/git-ftl/git-ftl/patch"
)

// maxPatch bounds the text of a change, in bytes.
const maxPatch = 1 << 30

// grace is the time an agent has to end itself when it is asked to.
const grace = 10 * time.Second

// work lets the agent do the task.
func (r *run) work(ctx context.Context) error {
	soft := r.soft
	if r.Config.Timeout > 0 {
		var cancel context.CancelFunc
		soft, cancel = context.WithTimeout(soft, r.Config.Timeout)
		defer cancel()
	}
	soft, stop := context.WithCancelCause(soft)
	defer stop(nil)
	folder := r.folder(soft)
	if err := r.recall(soft, folder); err != nil {
		return err
	}
	r.out.Folder = folder
	if a := r.task.Agent; a.MaxCost > 0 && a.Stream == "" {
		r.note(fmt.Sprintf("%s does not say what it costs: no bound of $%g can be kept", a.Name, a.MaxCost))
	}
	l := r.listen(stop)
	over := make(chan struct{})
	go l.watch(over)
	start := r.Now()
	exit, err := r.box.Run(soft, container.Cmd{
		Argv: r.task.Agent.Argv, Env: r.env(folder), Dir: folder,
		Stdin: strings.NewReader(r.stdin()), Stdout: l.stdout, Stderr: l.stderr, Grace: grace,
	})
	close(over)
	l.flush()
	r.addedKeys(context.WithoutCancel(ctx))
	r.judge(exit, err)
	r.judgeStream(l, context.Cause(soft))
	r.stageOf(Event{Stage: "agent", Result: r.agentResult(), Cost: r.out.Usage.Cost}, start)
	if soft.Err() != nil {
		return nil // it was asked to end, which is no fault
	}
	return err
}

// folder is where the agent starts: where the user stands. git keeps no empty
// folder and no ignored one, so it is made where the snapshot lacks it.
func (r *run) folder(ctx context.Context) string {
	prefix := strings.TrimSuffix(r.Repo.Prefix, "/")
	if prefix == "" {
		return ""
	}
	objs := r.Repo.Objects(ctx)
	defer objs.Close()
	if e, err := objs.Lookup(r.startTree, prefix); err == nil && e.Mode == filemode.Dir {
		return prefix
	}
	exit, err := r.box.Run(ctx, container.Cmd{
		Argv: []string{"mkdir", "-p", "--", prefix}, Env: r.env(""), Stdout: io.Discard, Stderr: io.Discard, Grace: grace,
	})
	if err == nil && exit.Code == 0 {
		return prefix
	}
	r.note("the workspace has no folder " + prefix + "; the agent starts at the top")
	return ""
}

// env is the agent's whole environment.
func (r *run) env(folder string) []string {
	env := append(agentEnv(r.image, folder), r.secret.env...)
	env = append(env, r.box.NetEnv()...)
	env = append(env, r.task.Agent.Env...)
	if r.out.Model != "" {
		env = append(env, "FTL_MODEL="+r.out.Model)
	}
	if len(r.task.Attach) > 0 {
		env = append(env, "FTL_ATTACHMENTS="+attachments)
	}
	return env
}

// judge sets status and error from how the agent ended.
func (r *run) judge(exit container.Exit, err error) {
	r.out.AgentExit, r.out.Status = exit.Code, Pending
	switch {
	case r.interrupted():
		r.out.Status, r.out.Error = Interrupted, "it was interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		r.out.Status, r.out.Error = Timeout, fmt.Sprintf("it was stopped at the time bound of %s (--timeout)", r.Config.Timeout)
	case exit.Died && err != nil:
		r.out.Status, r.out.Error = Failed, "the engine went away"
	case exit.Died:
		r.out.Status, r.out.Error = Failed, "the sandbox died and was started again"+hint(exit)
	case exit.Disk:
		r.out.Status, r.out.Error = Failed, "it filled the disk bound (--disk, git config ftl.disk)"
	case err != nil:
		r.out.Status, r.out.Error = Failed, err.Error()
	case exit.Code != 0:
		r.out.Status, r.out.Error = Failed, fmt.Sprintf("it exited with code %d", exit.Code)+hint(exit)
	}
	if r.out.Status == Pending && (exit.OOM > 0 || exit.Pids > 0) {
		r.note("in the sandbox: " + strings.TrimPrefix(hint(exit), "; "))
	}
}

// hint names the limit that a task ran into.
func hint(exit container.Exit) string {
	switch {
	case exit.OOM > 0:
		return fmt.Sprintf("; %d of its processes ran out of memory (raise it with --memory or git config ftl.memory)", exit.OOM)
	case exit.Pids > 0:
		return "; it ran into the process limit"
	}
	return ""
}

func (r *run) agentResult() string {
	if r.out.Error != "" {
		return r.out.Error
	}
	return "done"
}

// agentEnv is the whole environment of a command in the sandbox: the image's own
// and what a login of the agent's user would have.
func agentEnv(image container.Image, prefix string) []string {
	return append(imageEnv(image), "HOME="+container.Home, "USER="+container.User, "LOGNAME="+container.User,
		"LANG=C.UTF-8", "TERM=dumb", "PWD="+path.Join(container.Workspace, prefix))
}

// collect takes the change out of the sandbox and stores it. Until then the
// sandbox holds it.
func (r *run) collect(ctx context.Context, workErr error) error {
	start := r.Now()
	spool, err := r.diff(ctx)
	switch {
	case errors.Is(err, container.ErrTooBig):
		return errors.Join(workErr, &refusedError{r.box.Name(), err})
	case err != nil:
		return errors.Join(workErr, fmt.Errorf("take the change out of sandbox %s, which keeps it until the next command: %w", r.box.Name(), err))
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	p, err := parse(spool)
	if errors.As(err, new(*patch.UnsafeError)) {
		return errors.Join(workErr, &refusedError{r.box.Name(), err})
	}
	if err == nil {
		err = r.dropInputs(ctx, p)
	}
	if err != nil {
		return errors.Join(workErr, err)
	}
	r.stage("diff", "", start)
	if err := r.store(ctx, p); err != nil {
		return errors.Join(workErr, err)
	}
	r.collected, r.out.Kept = true, false
	return r.end(ctx)
}

// diff spools the sandbox's patch to a private file.
func (r *run) diff(ctx context.Context) (*os.File, error) {
	if err := r.Repo.WriteState("spool/"+r.out.ID, nil); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(r.Repo.Path("spool", r.out.ID), os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	dropped, err := r.box.Diff(ctx, f, maxPatch)
	if errors.Is(err, container.ErrDied) { // another guest gets a try
		if err = errors.Join(f.Truncate(0), rewind(f)); err == nil {
			dropped, err = r.box.Diff(ctx, f, maxPatch)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	for _, d := range dropped {
		r.out.Dropped = append(r.out.Dropped, Dropped{Path: d.Path, Bytes: d.Bytes, Why: d.Why})
	}
	return f, nil
}

// dropInputs takes out of a change what it does to files that the agent was only
// shown, and names them.
func (r *run) dropInputs(ctx context.Context, p *patch.Patch) error {
	r.dropEnvFiles(p)
	paths := make([]string, len(p.Files))
	for i, f := range p.Files {
		paths[i] = f.Path
	}
	why, err := r.Store.Inputs(ctx, r.shown(), paths)
	if err != nil {
		return err
	}
	p.Files = slices.DeleteFunc(p.Files, func(f patch.File) bool {
		if why[f.Path] != "" {
			r.out.Dropped = append(r.out.Dropped, Dropped{Path: f.Path, Why: why[f.Path]})
		}
		return why[f.Path] != ""
	})
	slices.SortStableFunc(r.out.Dropped, func(a, b Dropped) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func rewind(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

func parse(f *os.File) (*patch.Patch, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return patch.Parse(f, info.Size(), patch.Limits{})
}

// store makes the change a result, or notes that there is none.
func (r *run) store(ctx context.Context, p *patch.Patch) error {
	if len(p.Files) == 0 {
		if r.out.Status == Pending && r.out.Result == nil {
			r.out.Status = Empty
		}
		return nil
	}
	start := r.Now()
	meta := patch.Meta{ID: r.out.ID, Task: r.out.asked(), Agent: r.out.Agent, Subject: Subject(r.out.Task), When: start}
	if r.start != r.snap.Commit {
		meta.On = r.start
	}
	if r.out.Result != nil {
		meta.Replaces = plumbing.NewHash(*r.out.Result)
	}
	result, err := r.Queue.Store(ctx, r.base(), p, meta)
	if errors.As(err, new(*patch.UnsafeError)) {
		return &refusedError{r.box.Name(), err}
	}
	if err != nil {
		return fmt.Errorf("store the change of the agent: %w", err)
	}
	commit := result.Commit.String()
	r.out.Result, r.out.Files, r.out.State = &commit, changed(result.Files), string(result.State)
	r.forgetVerdicts(ctx, result)
	r.stage("store", "", start)
	r.lint(ctx)
	return nil
}

// Subject is the first line of a task, short enough for git log.
func Subject(task string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(task), "\n")
	line = strings.Join(strings.Fields(line), " ")
	runes := []rune(line)
	if len(runes) > 72 {
		line = string(runes[:71]) + "…"
	}
	if line == "" {
		return "change of an agent"
	}
	return line
}
