package surface

import (
	"slices"
	"sync"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// row is one rule on a path.
type row struct {
	name     string // of the rule
	severity doc.Severity
	gone     doc.Severity // of a deletion; "" says nothing of it
	match    globs
	message  string // "" only marks the path, for the rules on content
	remedy   string
}

// rows are all of them. They are made once: of most paths there is nothing else to
// do.
var rows = sync.OnceValue(func() []row {
	return slices.Concat(gitRows(), reviewRows(), agentRows(), editorRows(), runRows(), buildRows())
})

// find returns the first row that matches a path.
func find(names []string, folder bool) (row, bool) {
	i := slices.IndexFunc(rows(), func(r row) bool { return r.match.match(names, folder) })
	if i < 0 {
		return row{}, false
	}
	return rows()[i], true
}

const (
	readIt   = "read it as a program that runs on this machine, then waive the finding"
	takeBack = "if the task does not ask for it, leave it out"
)

// gitRows are what git itself reads or runs. Source: gitattributes(5),
// gitmodules(5), githooks(5), git-config(1), and the documentation of each hook
// manager.
func gitRows() []row {
	return []row{
		{
			name: "surface/dot-git", severity: doc.Block, gone: doc.Block,
			match:   paths(`.git/ .git git~*/ git~*`),
			message: "git's own folder: its configuration and hooks run programs", remedy: "leave it out",
		},
		{
			name: "surface/ftl-file", severity: doc.Block, gone: doc.Block, match: paths(`.ftl* .ftl*/`),
			message: "a file by which git-ftl is told what to do", remedy: takeBack,
		},
		{
			name: "surface/git-attributes", severity: doc.Block, gone: doc.Block, match: paths(`.gitattributes`),
			message: "attributes choose the filters and merge drivers that git runs, and what its diff hides", remedy: "read every line of it, then waive the finding",
		},
		{
			name: "surface/git-modules", severity: doc.Block, gone: doc.Block, match: paths(`.gitmodules`),
			message: "where git fetches submodules from, and what it runs to update them", remedy: "read every line of it, then waive the finding",
		},
		{
			name: "surface/git-config", severity: doc.Block, gone: doc.Warn,
			match:   paths(`.lfsconfig .gitconfig gitconfig *.gitconfig .gitconfig.* .gitconfig-* .config/git/`),
			message: "configuration of git: it names programs to run and where objects come from", remedy: readIt,
		},
		{
			name: "surface/hook", severity: doc.Block, gone: doc.Warn,
			match: paths(`.husky/ .githooks/ githooks/ .git-hooks/ git-hooks/ .hooks/ .lefthook/ .lefthook-local/ .overcommit/
				.huskyrc .huskyrc.* husky.config.* lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml
				.lefthook.toml .lefthook.json lefthook-local.* .lefthook-local.* .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml
				prek.toml .overcommit.yml .simple-git-hooks.* simple-git-hooks.* .lintstagedrc .lintstagedrc.* lint-staged.config.*
				captainhook.json grumphp.yml grumphp.yml.dist .grumphp.yml hk.pkl .rusty-hook.toml .commitlintrc .commitlintrc.* commitlint.config.*
				hooks/pre-commit hooks/prepare-commit-msg hooks/commit-msg hooks/post-commit hooks/pre-push hooks/post-checkout hooks/post-merge
				hooks/post-rewrite hooks/pre-rebase hooks/pre-merge-commit hooks/applypatch-msg hooks/pre-applypatch hooks/post-applypatch
				hooks/pre-auto-gc hooks/reference-transaction hooks/sendemail-validate hooks/fsmonitor-watchman hooks/post-index-change hooks/p4-*`),
			message: "git or a hook manager runs this at the next commit, checkout or push", remedy: readIt,
		},
	}
}

// reviewRows are what other scanners and reviewers go by. Source: the
// documentation of each scanner; GitHub's "About code owners".
func reviewRows() []row {
	return []row{
		{
			name: "surface/ignore-file", severity: doc.Info, gone: doc.Info,
			match: paths(`.gitleaks.toml .gitleaksignore gitleaks.toml .betterleaks.toml .betterleaksignore .trufflehog* .secretlintrc* .secretlintignore .secrets.baseline .semgrepignore
				.snyk .trivyignore* .bandit .banditrc .checkov.yml .checkov.yaml .talismanrc .whitesource .nsprc .osv-scanner.toml .npmauditrc audit-ci.json* .gitguardian.y*ml`),
			message: "it tells a scanner what not to report; git-ftl does not read it",
		},
		{
			name: "surface/owners", severity: doc.Warn, gone: doc.Warn, match: paths(`codeowners owners owners_aliases .github/settings.yml .github/rulesets/ .gitlab/codeowners`),
			message: "who must approve changes to this repository", remedy: takeBack,
		},
	}
}

// runRows are what a shell, an interpreter, a debugger or a package manager runs
// unasked when it starts in the folder or is used there.
func runRows() []row {
	return []row{
		{
			name: "surface/shell", severity: doc.Block, gone: doc.Warn,
			match: paths(`.envrc .envrc.* .direnv/ mise.toml mise.*.toml .mise.toml .mise.*.toml mise/config*.toml .mise/ .config/mise/ .config/mise.toml .rtx.toml .autoenv .autoenv.* .autoenv.zsh .autoenv_leave.zsh
				.bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .kshrc .inputrc config.fish .env.fish`),
			message: "a shell reads this when it starts or enters the folder", remedy: readIt,
		},
		{
			name: "surface/interpreter", severity: doc.Block, gone: doc.Info,
			match: paths(`*.pth *.egg-link sitecustomize.py usercustomize.py pyvenv.cfg *.pyc *.pyo .pdbrc .pythonrc .pythonrc.py .rprofile .renviron .irbrc .pryrc .byebugrc .rdbgrc
				.ghci .ocamlinit .utoprc .gdbinit .lldbinit .lldbinit-* .sqliterc .psqlrc .iex.exs .user_erl .user.ini .htaccess startup.jl
				latexmkrc .latexmkrc jupyter_*config.py jupyter_*config.json ipython_*config.py .hg/ .hgrc .jj/ .bzr/ .luarc.json .luarc.jsonc ansible.cfg .ansible.cfg`),
			message: "an interpreter, a debugger or a server runs or obeys this when it starts here", remedy: readIt,
		},
		{
			name: "surface/package-manager", severity: doc.Block, gone: doc.Info,
			match: paths(`.pnpmfile.cjs .pnpmfile.js .pnpmfile.mjs .yarn/releases/ .yarn/plugins/ .yarn/sdks/ node_modules/.bin/ binding.gyp
				gradle-wrapper.jar maven-wrapper.jar .mvn/ mvnw mvnw.cmd gradlew gradlew.bat /tools/bazel /tools/bazel.* .bundle/ .bazeliskrc init.gradle init.gradle.kts *.init.gradle`),
			message: "a package manager or a build tool loads this as a part of itself", remedy: readIt,
		},
		{
			name: "manifest/registry", severity: doc.Block, gone: doc.Warn,
			match:   paths(`pip.conf pip.ini .pip/ nuget.config .pypirc .condarc .cargo/config .cargo/config.toml .gemrc .netrc _netrc .curlrc .wgetrc .terraformrc terraform.rc .bowerrc auth.json .swiftpm/configuration/`),
			message: "where packages come from, or programs that a package manager runs", remedy: "make sure that every address in it is yours",
		},
	}
}
