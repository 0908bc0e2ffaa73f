package hooks_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/hooks"
)

// TestInstallFindsTheFolder: hooks go where git runs them from, and leave it as it was.
func TestInstallFindsTheFolder(t *testing.T) {
	for _, row := range []struct {
		name string
		make func(w *world)
		dir  string // where the user stands
		want string // the folder of the hooks
	}{
		{"plain", func(*world) {}, "r", "r/.git/hooks"},
		{"from a subfolder", func(w *world) { w.write("r/sub/x", "", 0o644) }, "r/sub", "r/.git/hooks"},
		{"from inside the git dir", func(*world) {}, "r/.git", "r/.git/hooks"},
		{"no folder of hooks", func(w *world) { w.do(os.RemoveAll(w.path("r/.git/hooks"))) }, "r", "r/.git/hooks"},
		{"linked work tree", func(w *world) { w.git("r", "worktree", "add", "-q", "../linked") }, "linked", "r/.git/hooks"},
		{"bare", func(w *world) { w.git("", "clone", "-q", "--bare", "r", "bare.git") }, "bare.git", "bare.git/hooks"},
		{"work tree of a bare one", func(w *world) {
			w.git("", "clone", "-q", "--bare", "r", "bare.git")
			w.git("bare.git", "worktree", "add", "-q", "../linked")
		}, "linked", "bare.git/hooks"},
		{"submodule", func(w *world) {
			w.repo("m")
			w.git("r", "submodule", "--quiet", "add", w.path("m"), "mod")
		}, "r/mod", "r/.git/modules/mod/hooks"},
		{"git dir elsewhere", func(w *world) { w.git("", "clone", "-q", "--separate-git-dir", "elsewhere", "r", "s") }, "s", "elsewhere/hooks"},
		{"core.hooksPath in the git dir", func(w *world) { w.git("r", "config", "core.hooksPath", ".git/own hooks") }, "r", "r/.git/own hooks"},
		{"core.hooksPath of a linked work tree", func(w *world) {
			w.git("r", "config", "extensions.worktreeConfig", "true")
			w.git("r", "worktree", "add", "-q", "../linked")
			w.git("linked", "config", "--worktree", "core.hooksPath", w.path("r/.git/worktrees/linked/hooks"))
		}, "linked", "r/.git/worktrees/linked/hooks"},
		{"a link inside the git dir", func(w *world) {
			w.do(os.Rename(w.path("r/.git/hooks"), w.path("r/.git/kept")))
			w.link("kept", "r/.git/hooks")
		}, "r", "r/.git/kept"},
		{"quotes in the path", func(w *world) { w.repo(`it's "r"`) }, `it's "r"`, `it's "r"/.git/hooks`},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.repo("r")
			row.make(w)
			before := w.listing("")
			w.install(row.dir)
			for _, name := range hooks.Default() {
				info, err := os.Stat(w.path(row.want + "/" + name))
				if err != nil || info.Mode().Perm() != 0o755 {
					t.Errorf("%s: %v %v", name, info, err)
				}
			}
			w.uninstall(row.dir)
			if diff := cmp.Diff(before, w.listing("")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestInstallRefusesForeignFolders: what is tracked or shared is not written to, and
// the way out is named.
func TestInstallRefusesForeignFolders(t *testing.T) {
	inTree := func(path string) func(*world) {
		return func(w *world) {
			w.write("r/"+path+"/pre-commit", "#!/bin/sh\n", 0o755)
			w.git("r", "config", "core.hooksPath", path)
		}
	}
	for _, row := range []struct {
		name  string
		make  func(w *world)
		want  string // of the error
		scope string
		hint  string
	}{
		{"global", func(w *world) { w.git("r", "config", "--global", "core.hooksPath", "~/hooks") }, "its hooks run in other repositories too", "global", `hooks/pre-commit, an executable script: git ftl hook pre-commit "$@" || exit`},
		{"global inside", func(w *world) { w.git("r", "config", "--global", "core.hooksPath", ".git/hooks") }, "other repositories", "global", "git config core.hooksPath"},
		{"system", func(w *world) { w.git("r", "config", "--system", "core.hooksPath", "/opt/hooks") }, "other repositories", "system", "add to /opt/hooks/pre-push"},
		{"empty", func(w *world) { w.git("r", "config", "core.hooksPath", "") }, "core.hooksPath is empty (local, file:", "local", "git config --local --unset-all core.hooksPath"},
		{"command", func(w *world) {
			w.env = append(w.env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=.git/x")
		}, "this command alone", "command", "without git -c"},
		{"tracked folder", inTree(".githooks"), "it is in the work tree$", "local", `add to .githooks/pre-commit, an executable script: git ftl hook pre-commit "$@" || exit`},
		{"missing folder in the tree", func(w *world) { w.git("r", "config", "core.hooksPath", "tools/hooks") }, "in the work tree", "local", "add to tools/hooks/pre-commit"},
		{"husky 9", inTree(".husky/_"), "husky keeps hooks", "local", `add to .husky/pre-commit: git ftl hook pre-commit "$@" || exit`},
		{"husky 8", inTree(".husky"), "husky keeps hooks", "local", `add to .husky/pre-push: git ftl hook pre-push "$@" || exit`},
		{"lefthook", func(w *world) {
			w.write("r/lefthook.yml", "", 0o644)
			inTree("hooks")(w)
		}, "lefthook keeps hooks", "local", `below pre-push: commands: {git-ftl: {run: "git ftl hook pre-push {0}", use_stdin: true}}`},
		{"pre-commit", func(w *world) {
			w.write("r/.pre-commit-config.yaml", "", 0o644)
			inTree("hooks")(w)
		}, "pre-commit keeps hooks", "local", "below repos: - {repo: local, hooks: [{id: git-ftl, name"},
		{"outside", func(w *world) { w.git("r", "config", "core.hooksPath", "../common") }, "outside of this repository", "local", "common/pre-commit"},
		{"link into the tree", func(w *world) {
			w.do(os.RemoveAll(w.path("r/.git/hooks")))
			w.write("r/ci/pre-commit", "#!/bin/sh\n", 0o755)
			w.link("../ci", "r/.git/hooks")
		}, "in the work tree", "", "pre-commit"},
		{"link outside", func(w *world) {
			w.do(os.RemoveAll(w.path("r/.git/hooks")))
			w.write("shared/pre-commit", "#!/bin/sh\n", 0o755)
			w.link(w.path("shared"), "r/.git/hooks")
		}, "outside of this repository", "", "pre-commit"},
		{"link to nowhere", func(w *world) {
			w.do(os.RemoveAll(w.path("r/.git/hooks")))
			w.link(w.path("nowhere"), "r/.git/hooks")
		}, "outside of this repository", "", "pre-commit"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.repo("r")
			row.make(w)
			before := w.listing("")
			_, err := w.tryInstall("r")
			var refused *hooks.PathError
			if !errors.As(err, &refused) || !strings.Contains(err.Error()+"$", row.want) {
				t.Fatalf("got %v, want %q", err, row.want)
			}
			scope := ""
			if refused.Setting != nil {
				scope = refused.Setting.Scope
			}
			if scope != row.scope || !strings.Contains(strings.Join(refused.Hints(), "\n"), row.hint) {
				t.Errorf("scope %q, hints %q", scope, refused.Hints())
			}
			if diff := cmp.Diff(before, w.listing("")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestUninstallRestores: what was there is back byte for byte, however often and in
// which order hooks were installed, and runs first in between.
func TestUninstallRestores(t *testing.T) {
	file := func(text string, mode os.FileMode) func(*world) {
		return func(w *world) { w.write("r/.git/hooks/pre-commit", text, mode) }
	}
	for _, row := range []struct {
		name string
		make func(w *world)
		want string // the state in between
	}{
		{"nothing", func(*world) {}, "installed"},
		{"script", file("#!/bin/sh\nexit 0\n", 0o755), "chained pre-commit.ftl-orig"},
		{"private", file("#!/bin/sh\nexit 0\n", 0o700), "chained pre-commit.ftl-orig"},
		{"not executable", file("#!/bin/sh\nexit 1\n", 0o644), "chained pre-commit.ftl-orig"},
		{"empty", file("", 0o755), "chained pre-commit.ftl-orig"},
		{"bytes", file("\x7fELF\x00\xff\r\n", 0o755), "chained pre-commit.ftl-orig"},
		{"link", func(w *world) {
			w.write("r/ci/check", "#!/bin/sh\n", 0o755)
			w.link("../../ci/check", "r/.git/hooks/pre-commit")
		}, "chained pre-commit.ftl-orig"},
		{"link to nowhere", func(w *world) { w.link("../../gone", "r/.git/hooks/pre-commit") }, "chained pre-commit.ftl-orig"},
		{"lefthook", file("#!/bin/sh\ncall_lefthook run \"pre-commit\" \"$@\"\n", 0o755), "chained lefthook"},
		{"pre-commit", file("#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n", 0o755), "chained pre-commit"},
		{"two names of one file", func(w *world) {
			file("#!/bin/sh\n", 0o755)(w)
			w.do(os.Link(w.path("r/.git/hooks/pre-commit"), w.path("r/.git/hooks/pre-push")))
		}, "chained pre-commit.ftl-orig"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.repo("r")
			row.make(w)
			before := w.listing("")
			w.install("r", "pre-push")
			w.install("r", hooks.Names()...)
			once := w.listing("")
			for _, c := range w.install("r") {
				if c.Did != "kept" {
					t.Errorf("the third time %s is %s", c.Name, c.Did)
				}
			}
			if diff := cmp.Diff(once, w.listing("")); diff != "" {
				t.Error("not idempotent", diff)
			}
			if got := w.states("r")["pre-commit"]; got != row.want {
				t.Errorf("state %q, want %q", got, row.want)
			}
			for _, c := range w.uninstall("r") {
				if c.Did == "left" || c.Why != "" {
					t.Errorf("%+v", c)
				}
			}
			if diff := cmp.Diff(before, w.listing("")); diff != "" {
				t.Error(diff)
			}
			if again := w.uninstall("r"); len(again) > 0 {
				t.Errorf("the second time %v", again)
			}
		})
	}
}

// TestChangedHooksStay: what is not as git-ftl wrote it is neither overwritten nor
// removed, and is named.
func TestChangedHooksStay(t *testing.T) {
	edit := func(w *world) {
		w.write("r/.git/hooks/pre-commit", w.read("r/.git/hooks/pre-commit")+"echo mine\n", 0o755)
	}
	replace := func(w *world) {
		w.do(os.Remove(w.path("r/.git/hooks/pre-commit")))
		w.write("r/.git/hooks/pre-commit", "#!/bin/sh\ncall_lefthook\n", 0o755)
	}
	for _, row := range []struct {
		name   string
		orig   string // the hook from before
		change func(w *world)
		state  string
	}{
		{"edited", "", edit, "edited"},
		{"edited, with one from before", "#!/bin/sh\n", edit, "edited"},
		{"replaced, with one from before", "#!/bin/sh\n", replace, "foreign lefthook"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.repo("r")
			if row.orig != "" {
				w.write("r/.git/hooks/pre-commit", row.orig, 0o755)
			}
			w.install("r", "pre-commit")
			row.change(w)
			before := w.listing("")
			var changed *hooks.EditedError
			if _, err := w.tryInstall("r"); !errors.As(err, &changed) || len(changed.What) != 1 || !strings.Contains(changed.What[0], "pre-commit") {
				t.Errorf("install: %v", err)
			}
			if got := w.states("r")["pre-commit"]; got != row.state {
				t.Errorf("state %q, want %q", got, row.state)
			}
			if done := w.uninstall("r"); len(done) != 1 || done[0].Did != "left" || done[0].Why == "" {
				t.Errorf("uninstall: %+v", done)
			}
			if diff := cmp.Diff(before, w.listing("")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestManagersThatComeBack: a manager that has put its hook over git-ftl's is chained
// by another install.
func TestManagersThatComeBack(t *testing.T) {
	const lefthook = "#!/bin/sh\ncall_lefthook run pre-commit\n"
	for name, before := range map[string]string{"over its own": lefthook, "over nothing": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.repo("r")
			if before != "" {
				w.write("r/.git/hooks/pre-commit", before, 0o755)
			}
			w.install("r", "pre-commit")
			w.do(os.Remove(w.path("r/.git/hooks/pre-commit")))
			w.write("r/.git/hooks/pre-commit", lefthook, 0o755)
			if got := w.states("r")["pre-commit"]; got != "foreign lefthook" {
				t.Errorf("state %q", got)
			}
			w.install("r", "pre-commit")
			if got := w.states("r")["pre-commit"]; got != "chained lefthook" {
				t.Errorf("state %q", got)
			}
			w.uninstall("r")
			if got := w.read("r/.git/hooks/pre-commit"); got != lefthook {
				t.Errorf("left %q", got)
			}
		})
	}
}

// TestPreCommitKeepsOurs: the pre-commit framework moves git-ftl's hook aside and
// runs it from there; it is installed then, and uninstall takes only it away.
func TestPreCommitKeepsOurs(t *testing.T) {
	const theirs = "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n"
	w := newWorld(t)
	w.repo("r")
	w.write("r/.git/hooks/pre-commit", "#!/bin/sh\n", 0o755)
	w.install("r", "pre-commit")
	w.do(os.Rename(w.path("r/.git/hooks/pre-commit"), w.path("r/.git/hooks/pre-commit.legacy")))
	w.write("r/.git/hooks/pre-commit", theirs, 0o755)
	if got := w.states("r")["pre-commit"]; got != "chained pre-commit" {
		t.Errorf("state %q", got)
	}
	if done := w.install("r", "pre-commit"); done[0].Did != "kept" {
		t.Errorf("install: %+v", done)
	}
	w.uninstall("r")
	if got := w.read("r/.git/hooks/pre-commit") + w.read("r/.git/hooks/pre-commit.legacy"); got != theirs+"#!/bin/sh\n" {
		t.Errorf("left %q", got)
	}
}

// TestKilledInstall: from each moment at which an install can end, another one and an
// uninstall get where they would have.
func TestKilledInstall(t *testing.T) {
	for _, row := range []struct {
		name string
		undo func(w *world) // takes back the last steps of an install
	}{
		{"before the hook has its second name", func(w *world) {
			w.do(os.Rename(w.path("r/.git/hooks/pre-commit.ftl-orig"), w.path("r/.git/hooks/pre-commit")))
		}},
		{"between the names", func(w *world) {
			w.do(os.Remove(w.path("r/.git/hooks/pre-commit")))
			w.do(os.Link(w.path("r/.git/hooks/pre-commit.ftl-orig"), w.path("r/.git/hooks/pre-commit")))
		}},
		{"moved, without hard links", func(w *world) { w.do(os.Remove(w.path("r/.git/hooks/pre-commit"))) }},
		{"before the record", func(w *world) { w.do(os.Remove(w.path("r/.git/git-ftl/hooks.json"))) }},
	} {
		for _, again := range []bool{false, true} {
			t.Run(row.name, func(t *testing.T) {
				w := newWorld(t)
				w.repo("r")
				w.write("r/.git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0o755)
				before := w.listing("")
				w.install("r", "pre-commit")
				done := w.listing("")
				row.undo(w)
				if again {
					w.install("r", "pre-commit")
					if diff := cmp.Diff(done, w.listing("")); diff != "" {
						t.Error(diff)
					}
				}
				w.uninstall("r")
				if diff := cmp.Diff(before, w.listing("")); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestInstallsAtOnce: installs and uninstalls at the same time never lose the hook
// that was there.
func TestInstallsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.repo("r")
	w.write("r/.git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0o755)
	before := w.listing("")
	repo := w.open("r")
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			var err error
			if i%3 == 2 {
				_, err = hooks.Uninstall(t.Context(), repo, hooks.Names(), false)
			} else {
				_, err = hooks.Install{Names: hooks.Names(), Program: "/opt/git-ftl"}.Do(t.Context(), repo)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.uninstall("r")
	if diff := cmp.Diff(before, w.listing("")); diff != "" {
		t.Error(diff)
	}
}

// TestOlderShim: what an older version wrote is known by its record, and renewed.
func TestOlderShim(t *testing.T) {
	w := newWorld(t)
	w.repo("r")
	w.install("r", "pre-commit")
	now := w.read("r/.git/hooks/pre-commit")
	old := strings.Replace(now, "# Put here", "# v0\n# Put here", 1)
	w.write("r/.git/hooks/pre-commit", old, 0o755)
	if got := w.states("r")["pre-commit"]; got != "edited" {
		t.Errorf("without a record %q", got)
	}
	record := w.read("r/.git/git-ftl/hooks.json")
	w.write("r/.git/git-ftl/hooks.json", strings.Replace(record, hooks.Hash([]byte(now)), hooks.Hash([]byte(old)), 1), 0o600)
	if got := w.states("r")["pre-commit"]; got != "installed" {
		t.Errorf("with a record %q", got)
	}
	w.install("r", "pre-commit")
	if got := w.read("r/.git/hooks/pre-commit"); got != now {
		t.Errorf("not renewed: %s", got)
	}
}

// TestShadowed: what core.hooksPath keeps from running is not called installed, and
// is taken out all the same.
func TestShadowed(t *testing.T) {
	w := newWorld(t)
	w.repo("r")
	before := w.listing("r")
	w.install("r")
	w.git("r", "config", "--global", "core.hooksPath", filepath.Join(w.dir, "hooks"))
	if got := w.states("r"); got["pre-commit"] != "shadowed" || got[hooks.RefTransaction] != "missing" {
		t.Errorf("states %v", got)
	}
	w.write("hooks/pre-commit", "#!/bin/sh\ngit ftl hook pre-commit \"$@\" || exit\n", 0o755)
	if got := w.states("r"); got["pre-commit"] != "called "+w.path("hooks/pre-commit") || got["pre-push"] != "shadowed" {
		t.Errorf("states %v", got)
	}
	w.uninstall("r")
	if diff := cmp.Diff(before, w.listing("r")); diff != "" {
		t.Error(diff)
	}
}
