package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/config"
	"github.com/git-ftl/git-ftl/cmd/git-ftl/internal/session"
	"github.com/git-ftl/git-ftl/patch"
	"github.com/git-ftl/git-ftl/snapshot"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

const description = "Let an untrusted coding agent work on a git repository without trusting it."

// cli is the command line. Each verb is a struct in a file of its own.
type cli struct {
	Version kong.VersionFlag `help:"Print the version."`

	Setup setupCmd `cmd:"" group:"start" help:"Check engine and image, and build what is missing."`
	Init  initCmd  `cmd:"" group:"start" help:"Write .ftlconfig and .ftlignore with what was detected."`

	Exec execCmd `cmd:"" group:"work" help:"Run any command as the agent, in the sandbox."`
	Run  runCmd  `cmd:"" group:"work" aliases:"code" help:"Give a task to the configured agent, in the sandbox."`

	Continue continueCmd `cmd:"" group:"work" help:"Go on with a task: a follow-up in the same conversation."`

	Logs logsCmd `cmd:"" group:"work" help:"Show what a task did, or follow it."`
	Wait waitCmd `cmd:"" group:"work" help:"Wait until tasks are over."`
	Stop stopCmd `cmd:"" group:"work" help:"Stop tasks; what they changed is stored."`

	Status statusCmd `cmd:"" group:"decide" help:"Show what is pending or running."`
	List   listCmd   `cmd:"" group:"decide" help:"List every task."`
	Show   showCmd   `cmd:"" group:"decide" help:"Show the record of one task."`
	Log    logCmd    `cmd:"" group:"decide" help:"Show every task as git log shows commits."`
	Blame  blameCmd  `cmd:"" group:"decide" help:"Say which lines of a file came from which task and agent."`
	Review reviewCmd `cmd:"" group:"decide" help:"Decide on a result on a full screen: files, hunks, findings, comments."`
	Ask    askCmd    `cmd:"" group:"decide" help:"Ask a model about a result; it can answer and nothing else."`
	Diff   diffCmd   `cmd:"" group:"decide" help:"Show a result as git diff does." passthrough:""`
	Apply  applyCmd  `cmd:"" group:"decide" aliases:"merge" help:"Merge a result into the working tree."`
	Test   testCmd   `cmd:"" group:"decide" help:"Run the tests of a result, before the change and after it."`
	Lint   lintCmd   `cmd:"" group:"decide" help:"Look for secrets and for what would run by itself."`
	Waive  waiveCmd  `cmd:"" group:"decide" help:"Accept findings of a result."`
	Undo   undoCmd   `cmd:"" group:"decide" help:"Take the newest apply back, byte for byte."`
	Reject rejectCmd `cmd:"" group:"decide" help:"Decide against a result."`

	Worktree worktreeCmd `cmd:"" group:"decide" help:"Check a result out as a linked work tree, without hooks and filters."`

	Auth       authCmd       `cmd:"" group:"keep" help:"Keep secrets, and say where they may be used."`
	Sandbox    sandboxCmd    `cmd:"" group:"keep" help:"List, enter, stop and remove sandboxes."`
	Snapshots  snapshotsCmd  `cmd:"" group:"keep" help:"List, show, restore and clean up what tasks started from."`
	GC         gcCmd         `cmd:"" name:"gc" group:"keep" help:"Remove what nobody needs any more, and say how much."`
	Trust      trustCmd      `cmd:"" group:"keep" help:"Show what the repository's own files would widen, and trust them."`
	Hooks      hooksCmd      `cmd:"" group:"keep" help:"Install, remove and list the git hooks of git-ftl."`
	Config     configCmd     `cmd:"" group:"keep" help:"Show every setting and where it comes from."`
	Doctor     doctorCmd     `cmd:"" group:"keep" help:"Say what works here and what is missing."`
	Uninstall  uninstallCmd  `cmd:"" group:"keep" help:"Take git-ftl out of this repository, without a trace."`
	Allow      allowCmd      `cmd:"" group:"keep" help:"List or change which hosts tasks may reach."`
	Completion completionCmd `cmd:"" group:"keep" help:"Print the completion script of a shell."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"For the completion scripts."`
	Worker     workerCmd     `cmd:"" hidden:"" name:"task-worker" help:"Do a task in the background."`
	Hook       hookCmd       `cmd:"" hidden:"" help:"What an installed git hook runs."`
	Man        manCmd        `cmd:"" hidden:"" help:"Print the manual page."`
}

func groups() []kong.Group {
	return []kong.Group{
		{Key: "start", Title: "Start"},
		{Key: "work", Title: "Work"},
		{Key: "decide", Title: "Decide"},
		{Key: "keep", Title: "Keep house"},
	}
}

// help is kong's own with the exit codes below, as every --help has them.
func (a *app) help(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	_, err := fmt.Fprint(ctx.Stdout, "\nExit codes: 0 done, 1 failed, 3 findings block, 4 conflict, 5 no engine, 6 the agent\nfailed (its change is stored), 7 not trusted, 80 usage, 130 interrupted.\n")
	return err
}

// version is what the build recorded: a tag, or a commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "git-ftl unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") && len(s.Value) >= 12 {
			v = s.Value[:12]
		}
	}
	return strings.TrimSpace("git-ftl " + v)
}

// open finds the repository around the user and loads its settings.
func (a *app) open(ctx context.Context) (*session.Session, error) {
	repo, err := git.Open(ctx, a.dir, a.env)
	if err != nil {
		return nil, err
	}
	return a.session(ctx, repo)
}

// session loads the settings of a repository.
func (a *app) session(ctx context.Context, repo *git.Repo) (*session.Session, error) {
	c, err := config.Load(ctx, repo, a.source(repo))
	if err != nil {
		hint := "git config --show-origin --get-regexp '^ftl[.]' lists what git's files set; git config --unset KEY removes one"
		if name, _, _ := strings.Cut(err.Error(), ":"); strings.HasPrefix(name, "FTL_") {
			hint = name + " is a variable of your environment: unset it, or give it another value"
		}
		return nil, &exitError{code: exitUsage, err: err, hints: []string{hint}}
	}
	return &session.Session{
		Repo: repo, Config: c, Env: a.env, Home: homeDir(a.env), Report: a.ui, Tell: a.tell, Now: a.now,
		Keeper: a.keeper, Peek: a.peek, Tools: a.tools, UserDir: configDir(a.env), Wheels: a.wheels,
		Queue: patch.NewQueue(repo, a.umask), Store: snapshot.New(repo),
	}, nil
}

// decide runs f in the repository around the user, once what an earlier command
// left half done is finished. Its context ends at the first signal.
func (a *app) decide(f func(context.Context, *session.Session) error) error {
	ctx, cancel := a.context()
	defer cancel()
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := s.Recover(ctx); err != nil {
		return err
	}
	return f(ctx, s)
}
