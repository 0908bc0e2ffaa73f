package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/agent"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
)

// taskFlags are what exec and run have in common.
type taskFlags struct {
	Image    string   `placeholder:"REF" help:"Linux image of the sandbox."`
	Setup    string   `placeholder:"CMD" help:"Command that prepares a new sandbox, in the workspace."`
	Fresh    bool     `help:"Start over with a new sandbox."`
	Clean    bool     `help:"Let no ignored folder (node_modules …) stay in the workspace."`
	Engine   string   `placeholder:"NAME" help:"Sandbox engine: docker."`
	Network  string   `placeholder:"MODE" help:"What the sandbox reaches: allow (what git ftl allow and auth bind name), none, or open (any public host)."`
	Use      []string `placeholder:"NAME" sep:"none" help:"Let a secret be used whose provider needs your word for it; can be repeated."`
	Memory   string   `placeholder:"SIZE" help:"Memory bound, such as 4g."`
	CPUs     string   `name:"cpus" placeholder:"N" help:"CPU bound, such as 1.5."`
	Disk     string   `placeholder:"SIZE" help:"Bytes that the sandbox may grow by."`
	Timeout  string   `placeholder:"TIME" help:"Time bound of the agent, such as 30m; 0 for none."`
	LFS      bool     `name:"lfs" help:"Show the content of LFS files that is on this machine, read-only."`
	NoReview bool     `help:"Let no model review the result, whatever ftl.reviewer says."`
	NoTests  bool     `help:"Let no tests be written or run, whatever ftl.tester and ftl.test say."`
	Fix      int      `placeholder:"N" help:"Let the agent mend what fails of the tests since its change, up to N times."`
	MaxCost  string   `placeholder:"USD" help:"Stop an agent that costs more, and keep its change."`
	Attach   []string `placeholder:"FILE" sep:"none" help:"Give the agent a file, outside the workspace; can be repeated."`
	Attempts int      `default:"1" placeholder:"N" help:"Do the task N times at once, from one snapshot; with several agents, each does it N times."`
	Detach   bool     `short:"d" help:"Print the ID and return; the task goes on in the background."`
	JSON     bool     `name:"json" xor:"out" help:"Print one JSON object on stdout, nothing else there."`
	Events   bool     `xor:"out" help:"Print what happens as it happens, one JSON object a line."`
	Quiet    bool     `short:"q" help:"Print only the ID."`
	Verbose  bool     `short:"v" help:"Show the stages that are left out otherwise."`

	rivals []session.Task // of the other agents that are to do the same
}

// settings puts the flags over the other places.
func (f *taskFlags) settings(c *config.Config) error {
	for _, s := range []struct{ key, flag, value string }{
		{"image", "--image", f.Image}, {"setup", "--setup", f.Setup}, {"engine", "--engine", f.Engine},
		{"network", "--network", f.Network}, {"memory", "--memory", f.Memory}, {"cpus", "--cpus", f.CPUs},
		{"disk", "--disk", f.Disk}, {"timeout", "--timeout", f.Timeout},
		{"maxCost", "--max-cost", f.MaxCost},
		{"lfs", "--lfs", map[bool]string{true: "true"}[f.LFS]},
	} {
		if s.value == "" {
			continue
		}
		if err := c.Set(s.key, s.flag, s.value); err != nil {
			return &exitError{code: exitUsage, err: err}
		}
	}
	return nil
}

type execCmd struct {
	taskFlags
	Cmd []string `arg:"" passthrough:"" name:"cmd" help:"The command and its arguments."`
}

// Help is the end of the verb's --help.
func (c *execCmd) Help() string {
	return "Flags come before the command; -- may part them. The command has no standard input."
}

// Run implements the verb.
func (c *execCmd) Run(a *app) error {
	argv := c.Cmd
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	switch {
	case len(c.Cmd) > 0 && strings.HasPrefix(c.Cmd[0], "-") && c.Cmd[0] != "--":
		return &exitError{code: exitUsage, err: fmt.Errorf("unknown flag %s", c.Cmd[0]), hints: []string{"git ftl exec -h, or -- before a command of that name"}}
	case len(argv) == 0 || argv[0] == "":
		return &exitError{code: exitUsage, err: errors.New("a command is missing"), hints: []string{"git ftl exec -- sh -c 'echo hello >> README'"}}
	}
	return a.do(&c.taskFlags, func(*session.Session) (session.Task, error) {
		return session.Task{Text: quoteArgs(argv), Agent: agent.Exec(argv)}, nil
	})
}

type runCmd struct {
	taskFlags
	agentFlags
	textFlags
	Task string `arg:"" optional:"" help:"The task in words; - reads it from stdin. Without one git's editor opens."`
}

// agentFlags choose who does a task.
type agentFlags struct {
	Agent string `short:"a" placeholder:"NAME" help:"Agent to use: claude-code, codex, aider, kiro, gemini, opencode, or one with agents.NAME.command in the settings. Of run: NAME,NAME starts several at once, from one snapshot."`
	Model string `short:"m" placeholder:"NAME" help:"Model for the agent, as the agent names it; in FTL_MODEL of its environment too."`
}

// Help is the end of the verb's --help.
func (c *runCmd) Help() string {
	return "A task that begins with a dash comes after --."
}

// Run implements the verb.
func (c *runCmd) Run(a *app) error {
	return a.do(&c.taskFlags, func(s *session.Session) (session.Task, error) {
		if c.Model != "" {
			s.Config.Model = c.Model
		}
		text, err := c.text(a, s, c.Task, inquiry{"run", "What is the agent to do?"})
		if err != nil {
			return session.Task{}, err
		}
		return c.race(s, text)
	})
}

// usualAgent is who does a task where no flag says so: the one of the settings, or the
// only one that there is. "" is nobody.
func usualAgent(s *session.Session) string {
	some := slices.Collect(maps.Keys(s.Config.Agents))
	if len(some) == 0 && !s.Config.Asked("agent") {
		some = s.Agents()
		if len(some) == 0 {
			some = s.Config.AskedAgents()
		}
	}
	if s.Config.Agent == "" && len(some) == 1 {
		return some[0]
	}
	return s.Config.Agent
}

// chooseAgent finds the agent by flag or setting. What the user configured goes
// before what is built in.
func chooseAgent(s *session.Session, flag string, t agent.Turn) (agent.Agent, error) {
	c := s.Config
	name := cmp.Or(flag, usualAgent(s))
	hints := []string{
		"git config --global ftl.agent NAME, one of " + strings.Join(agent.Names(), ", "),
		`git config --global ftl.agents.NAME.command "CMD that reads the task from stdin"`, "git ftl exec CMD runs any command as the agent",
	}
	switch command, ok := c.Agents[name]; {
	case ok:
		chosen := agent.Command(name, command.Command, t.Task)
		chosen.MaxCost = c.MaxCost
		return chosen, nil
	case c.Asked("agents." + name + ".command"):
		return agent.Agent{}, untrustedError("agents." + name + ".command")
	case name == "" && c.Asked("agent"):
		return agent.Agent{}, untrustedError("agent")
	case name == "":
		return agent.Agent{}, &exitError{code: exitUsage, err: session.ErrNoAgent, hints: hints}
	}
	t.MaxCost = c.MaxCost
	chosen, err := agent.Builtin(name, t)
	switch {
	case errors.Is(err, agent.ErrUnknown):
		return chosen, &exitError{code: exitUsage, err: fmt.Errorf("no agent is called %q", name), hints: hints}
	case err != nil:
		return chosen, &exitError{code: exitUsage, err: err}
	}
	return chosen, nil
}
