package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// workerCmd does a job in the background. It reads the job from its standard
// input, and prints the IDs of its tasks once each has its snapshot.
type workerCmd struct{}

// Run implements the verb.
func (c *workerCmd) Run(a *app) error {
	var j job
	err := json.NewDecoder(a.stdin).Decode(&j)
	if err != nil || j.Flags.Attempts < 1 || len(j.attempts()) > maxAttempts || len(j.Task.Agent.Argv) == 0 {
		return &exitError{code: exitUsage, err: errors.New("this verb is git-ftl's own; it takes no task from a person")}
	}
	a.brought, a.unlock = j.Brought, j.Unlock
	s, err := a.open(context.Background())
	if err != nil {
		return err
	}
	if err := j.Flags.settings(s.Config); err != nil {
		return err
	}
	a.ui.quiet = true
	j.Flags.Events = false
	said := &announcer{to: a.stdout, ui: a.ui, missing: len(j.attempts())}
	s.Report = said
	ends := a.perform(s, j)
	if len(said.begun) > 0 || ends[0].err == nil {
		return nil // how the tasks ended is in their transcripts
	}
	return ends[0].err
}

// announcer prints the IDs of tasks once they are under way, and then nothing.
type announcer struct {
	to io.Writer
	ui *ui

	mu      sync.Mutex
	missing int // tasks that have neither begun nor failed
	begun   []string
}

// Event implements session.Reporter.
func (w *announcer) Event(e session.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	begins := e.Kind == session.EventBegin
	fails := e.Kind == session.EventEnd && !slices.Contains(w.begun, e.ID)
	if e.Kind == session.EventNote && e.ID == "" && w.missing > 0 {
		fmt.Fprintf(w.ui.err, "git-ftl: %s\n", clean(e.Text))
	}
	if !begins && !fails || w.missing == 0 {
		return
	}
	if begins {
		w.begun = append(w.begun, e.ID)
	}
	if w.missing--; w.missing == 0 && len(w.begun) > 0 {
		fmt.Fprintln(w.to, strings.Join(w.begun, " "))
	}
}

// spawn starts a process that does a job, and returns the IDs of its tasks once
// they are under way. Where they never are, the error is the process's own.
func (a *app) spawn(j job) ([]string, error) {
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find git-ftl itself: %w", err)
	}
	var said bytes.Buffer
	cmd := exec.Command(self, workerVerb)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = a.dir, a.env, ownSession()
	cmd.Stdin = bytes.NewReader(data)
	stdout, err1 := cmd.StdoutPipe()
	stderr, err2 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, fmt.Errorf("start a process for the task: %w", err)
	}
	relayed := make(chan struct{})
	go func() { // until the worker ends, or this process
		defer close(relayed)
		_, _ = io.Copy(io.MultiWriter(&said, a.stderr), stderr)
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err == nil {
		return strings.Fields(line), nil
	}
	<-relayed
	return nil, a.workerFailed(cmd.Wait(), said.Len() > 0)
}

// workerVerb starts a worker; no person types it.
const workerVerb = "task-worker"

// workerFailed turns the end of a worker that began nothing into its error.
func (a *app) workerFailed(err error, said bool) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 && said {
		return &exitError{code: exit.ExitCode(), err: err, quiet: true}
	}
	return fmt.Errorf("the process for the task ended before it began: %w", err)
}

// detach starts a job in the background and names it.
func (a *app) detach(j job) error {
	ids, err := a.spawn(j)
	if err != nil {
		return err
	}
	switch {
	case j.Flags.JSON:
		return a.json(map[string]any{"ids": ids})
	default:
		fmt.Fprintln(a.stdout, strings.Join(ids, "\n"))
	}
	a.ui.line("  git ftl logs -f %s      git ftl wait %s      git ftl stop %s", ids[0], strings.Join(ids, " "), strings.Join(ids, " "))
	return nil
}

// attend starts a job in a process of its own, and shows what it does until it
// is over or the user turns away from it.
func (a *app) attend(s *session.Session, j job) error {
	ids, err := a.spawn(j)
	if err != nil {
		return err
	}
	var report session.Reporter = a.ui
	if j.Flags.Events {
		report = &eventWriter{to: a}
	}
	suspend := make(chan os.Signal, 1)
	watchSuspend(suspend)
	defer signal.Stop(suspend)
	w := &watcher{s: s, report: report, signals: a.signals, suspend: suspend}
	if a.inShell {
		w.pause = stopSelf
	}
	ends, left := w.follow(ids)
	if left {
		a.ui.quiet = false
		a.ui.line("\ngit-ftl: %s in the background: git ftl logs -f %s", goesOn(ids), ids[0])
		wakeParent()
		return nil
	}
	return a.finish(s, &j.Flags, ends)
}

func goesOn(ids []string) string {
	if len(ids) == 1 {
		return ids[0] + " goes on"
	}
	return strings.Join(ids, " ") + " go on"
}
