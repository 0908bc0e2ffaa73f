package hooks_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/hooks"
)

// managed is a repository with a real manager of hooks, and a script in place of
// git-ftl that notes what it was called for.
type managed struct{ *world }

func newManaged(t *testing.T, bin string) managed {
	m := managed{newWorld(t)}
	m.env[0] = "PATH=" + m.path("bin") + ":" + bin + ":" + os.Getenv("PATH")
	m.write("bin/git-ftl", "#!/bin/sh\necho \"ftl $*\" >>\"$HOME/calls\"\n", 0o755)
	m.repo("r")
	m.write("calls", "", 0o644)
	return m
}

// run starts the manager in the repository.
func (m managed) run(name string, args ...string) {
	m.t.Helper()
	path := name
	for dir := range strings.SplitSeq(strings.TrimPrefix(m.env[0], "PATH="), ":") {
		if _, err := os.Stat(dir + "/" + name); err == nil {
			path = dir + "/" + name
			break
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = m.path("r"), m.env
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// called makes a commit and returns what ran.
func (m managed) called() string {
	m.t.Helper()
	m.write("calls", "", 0o644)
	m.write("r/a.txt", m.read("r/a.txt")+"more\n", 0o644) // some do nothing for an empty commit
	m.git("r", "add", "a.txt")
	m.git("r", "commit", "-qm", "more")
	return m.read("calls")
}

// needNPM installs packages of npm, without their install scripts, and returns the
// folder of their programs.
func needNPM(t *testing.T, packages ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT RUN: real managers of hooks (-short)")
	}
	dir := t.TempDir()
	args := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir}, packages...)
	if out, err := exec.Command("npm", args...).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: npm cannot install %v: %v\n%s", packages, err, out)
	}
	return dir + "/node_modules/.bin"
}

// hint is what to add to a file by hand.
func (m managed) hint(err error, hook string) (line string) {
	m.t.Helper()
	var refused *hooks.PathError
	if !errors.As(err, &refused) {
		m.t.Fatalf("not refused: %v", err)
	}
	for _, h := range refused.Hints() {
		if _, line, ok := strings.Cut(h, hook+": "); ok {
			return line
		}
	}
	m.t.Fatalf("no line for %s in %q", hook, refused.Hints())
	return ""
}

// TestRealHusky: the line that is shown is one that husky runs.
func TestRealHusky(t *testing.T) {
	m := newManaged(t, needNPM(t, "husky@9.1.7"))
	m.write("r/package.json", "{}\n", 0o644)
	m.run("husky")
	before := m.listing("r")
	_, err := m.tryInstall("r")
	line := m.hint(err, ".husky/pre-commit")
	if diff := cmp.Diff(before, m.listing("r")); diff != "" {
		t.Error(diff)
	}
	m.write("r/.husky/pre-commit", line+"\n", 0o644)
	if got := m.called(); got != "ftl hook pre-commit\n" {
		t.Errorf("called %q", got)
	}
	if got := m.states("r"); got["pre-commit"] != "called "+m.path("r/.husky/pre-commit") || got["pre-push"] != "missing" {
		t.Errorf("states %v", got)
	}
}

// TestRealLefthook: its hook is chained, its coming back is seen, and its own way to
// run git-ftl works.
func TestRealLefthook(t *testing.T) {
	m := newManaged(t, needNPM(t, "lefthook@2.2.2"))
	const config = "pre-commit:\n  commands:\n    theirs:\n      run: echo theirs >>\"$HOME/calls\"\n"
	m.write("r/lefthook.yml", config, 0o644)
	m.run("lefthook", "install")
	before := m.listing("r/.git/hooks")
	m.install("r", "pre-commit")
	if got := m.states("r")["pre-commit"]; got != "chained lefthook" {
		t.Errorf("state %q", got)
	}
	if got := m.called(); got != "theirs\nftl hook pre-commit\n" {
		t.Errorf("called %q", got)
	}
	m.uninstall("r")
	if diff := cmp.Diff(before, m.listing("r/.git/hooks")); diff != "" {
		t.Error(diff)
	}

	m.install("r", "pre-commit")
	m.run("lefthook", "install", "--force")
	if got := m.states("r")["pre-commit"]; got != "foreign lefthook" {
		t.Errorf("state %q", got)
	}
	m.install("r", "pre-commit")
	if got := m.called(); got != "theirs\nftl hook pre-commit\n" {
		t.Errorf("called %q", got)
	}
	m.uninstall("r")
	if diff := cmp.Diff(before, m.listing("r/.git/hooks")); diff != "" {
		t.Error(diff)
	}

	m.git("r", "config", "core.hooksPath", "ci")
	_, err := m.tryInstall("r")
	line := m.hint(err, "below pre-commit")
	m.git("r", "config", "--unset", "core.hooksPath")
	m.write("r/lefthook.yml", "pre-commit:\n  "+line+"\n", 0o644)
	m.run("lefthook", "install", "--force")
	if got := m.called(); got != "ftl hook pre-commit\n" {
		t.Errorf("called %q", got)
	}
	if got := m.states("r")["pre-commit"]; got != "called "+m.path("r/lefthook.yml") {
		t.Errorf("state %q", got)
	}
}

// TestRealPreCommit: the framework and git-ftl keep each other's hooks, whichever
// comes first.
func TestRealPreCommit(t *testing.T) {
	if _, err := exec.LookPath("pre-commit"); err != nil {
		t.Skip("NOT RUN: pre-commit is not installed (apt-get install pre-commit)")
	}
	const config = `repos:
- {repo: local, hooks: [{id: theirs, name: theirs, entry: sh -c 'echo theirs >>"$HOME/calls"', language: system, always_run: true, pass_filenames: false}]}
`
	m := newManaged(t, "/usr/bin")
	m.write("r/.pre-commit-config.yaml", config, 0o644)
	m.git("r", "add", ".")
	m.git("r", "commit", "-qm", "config")
	m.run("pre-commit", "install")
	before := m.listing("r/.git/hooks")
	m.install("r", "pre-commit")
	if got := m.called(); got != "theirs\nftl hook pre-commit\n" {
		t.Errorf("called %q", got)
	}
	m.uninstall("r")
	if diff := cmp.Diff(before, m.listing("r/.git/hooks")); diff != "" {
		t.Error(diff)
	}

	m.run("pre-commit", "uninstall")
	m.install("r", "pre-commit")
	m.run("pre-commit", "install")
	if got := m.states("r")["pre-commit"]; got != "chained pre-commit" {
		t.Errorf("state %q", got)
	}
	if got := m.called(); got != "ftl hook pre-commit\ntheirs\n" {
		t.Errorf("called %q", got)
	}
	m.uninstall("r")
	if diff := cmp.Diff(before, m.listing("r/.git/hooks")); diff != "" {
		t.Error(diff)
	}

	m.git("r", "config", "core.hooksPath", "ci")
	_, err := m.tryInstall("r")
	line := m.hint(err, "below repos")
	m.git("r", "config", "--unset", "core.hooksPath")
	m.write("r/.pre-commit-config.yaml", "repos:\n"+line+"\n", 0o644)
	m.git("r", "add", ".")
	if got := m.called(); got != "ftl hook pre-commit\n" {
		t.Errorf("called %q", got)
	}
	if got := m.states("r")["pre-commit"]; got != "called "+m.path("r/.pre-commit-config.yaml") {
		t.Errorf("state %q", got)
	}
}
