package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/container"
)

type sandboxCmd struct {
	Ls    sandboxLsCmd    `cmd:"" help:"List the sandboxes of this repository."`
	Shell sandboxShellCmd `cmd:"" help:"Enter a sandbox, or run one command in it."`
	Stop  sandboxStopCmd  `cmd:"" help:"Stop a sandbox; its files stay."`
	Rm    sandboxRmCmd    `cmd:"" help:"Remove a sandbox with all that is in it."`
}

type sandboxLsCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// sandboxLine is one sandbox of the listing.
type sandboxLine struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Busy     bool      `json:"busy"`
	Holds    string    `json:"holds"` // task whose change is stored nowhere else
	Created  time.Time `json:"created"`
	LastUsed time.Time `json:"last_used"`
	ID       string    `json:"id"` // of the engine
}

// Run implements the verb.
func (c *sandboxLsCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	all, err := s.Sandboxes(ctx)
	if err != nil {
		return err
	}
	lines := []sandboxLine{}
	for _, i := range all {
		lines = append(lines, sandboxLine{i.Name, string(i.State), i.Busy, i.Holds, i.Created, i.LastUsed, i.ID})
	}
	if c.JSON {
		return a.json(lines)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		what := ""
		if l.Busy {
			what = "in use"
		}
		if l.Holds != "" {
			what = "holds the change of " + l.Holds
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Name, l.State, when(l.LastUsed), what)
	}
	return w.Flush()
}

// when writes a time for a listing; the zero time is none.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

type sandboxShellCmd struct {
	Name string   `placeholder:"NAME" help:"Sandbox; the first one of this work tree otherwise."`
	Cmd  []string `arg:"" optional:"" passthrough:"" name:"cmd" help:"Command in place of a shell."`
}

// Run implements the verb.
func (c *sandboxShellCmd) Run(a *app) error {
	return a.decide(func(ctx context.Context, s *session.Session) error {
		if c.Name == "" {
			c.Name = s.Group() + "-1"
		}
		cmd := container.Cmd{Argv: c.Cmd, Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr}
		if len(cmd.Argv) > 0 && cmd.Argv[0] == "--" {
			cmd.Argv = cmd.Argv[1:]
		}
		restore := func() {}
		if len(cmd.Argv) == 0 {
			cmd.Argv = []string{"sh", "-c", "if command -v bash >/dev/null; then exec bash; fi; exec sh"}
			var err error
			if restore, err = a.terminal(&cmd); err != nil {
				return err
			}
		}
		exit, err := s.Enter(ctx, c.Name, cmd)
		restore()
		switch {
		case err != nil:
			return err
		case exit.Code != 0:
			return &exitError{code: exit.Code, err: errors.New("the command failed"), quiet: true}
		}
		return nil
	})
}

// terminal makes the user's terminal the sandbox's, until restore.
func (a *app) terminal(cmd *container.Cmd) (restore func(), err error) {
	in, ok := a.stdin.(*os.File)
	if !ok || !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return func() {}, nil
	}
	cols, rows, err := term.GetSize(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	resize := make(chan container.TTY, 1)
	stop := watchSize(in, resize)
	cmd.TTY = &container.TTY{Rows: uint16(rows), Cols: uint16(cols), Resize: resize}
	cmd.Env = append(cmd.Env, "TERM="+lookup(a.env, "TERM"))
	return func() {
		stop()
		_ = term.Restore(int(in.Fd()), old)
	}, nil
}

// named picks sandboxes for a verb that ends them.
type named struct {
	Names []string `arg:"" optional:"" name:"name" help:"Sandboxes."`
	All   bool     `help:"All sandboxes of this repository."`
}

// each does something to every chosen sandbox, and goes on past failures.
func (n *named) each(a *app, did string, do func(*container.Pool, string) error) error {
	ctx, cancel := a.context()
	defer cancel()
	if len(n.Names) == 0 && !n.All {
		return &exitError{code: exitUsage, err: errors.New("a sandbox is missing"), hints: []string{"git ftl sandbox ls lists them; --all takes all"}}
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	pool, err := s.Pool(ctx)
	if err != nil {
		return err
	}
	if n.All {
		all, err := pool.List(ctx)
		if err != nil {
			return err
		}
		n.Names = nil
		for _, i := range all {
			n.Names = append(n.Names, i.Name)
		}
	}
	var failed error
	for _, name := range n.Names {
		if err := do(pool, name); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		fmt.Fprintf(a.stdout, "%s %s\n", clean(name), did)
	}
	return failed
}

type sandboxStopCmd struct{ named }

// Run implements the verb.
func (c *sandboxStopCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	return c.each(a, "stopped", func(p *container.Pool, name string) error { return p.Stop(ctx, name) })
}

type sandboxRmCmd struct {
	named
	Force bool `help:"Also one that holds a change which is stored nowhere else."`
}

// Run implements the verb.
func (c *sandboxRmCmd) Run(a *app) error {
	ctx, cancel := a.context()
	defer cancel()
	return c.each(a, "removed", func(p *container.Pool, name string) error {
		if c.Force {
			return p.Discard(ctx, name)
		}
		return p.Remove(ctx, name)
	})
}
