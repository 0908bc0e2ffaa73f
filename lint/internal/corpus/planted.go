package corpus

import (
	"math/rand/v2"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Planted is a file of a change that a rule must find; of one without a rule
// nothing must block or warn.
type Planted struct {
	Rule, Path, Text string
	Mode             filemode.FileMode // 0 is a regular file
}

// Surface are files that would run on a user's machine by themselves or are not
// what they look like, and files that only look like such.
func Surface(seed uint64) []Planted {
	r := rand.New(rand.NewPCG(seed, 4))
	var all []Planted
	for _, list := range [][]Planted{surfacePaths(), surfaceModes(), surfaceTexts(r), surfaceManifests(r), harmlessPaths(), harmlessTexts(r)} {
		all = append(all, list...)
	}
	return all
}

func surfacePaths() []Planted {
	var all []Planted
	for _, row := range [][2]string{
		{"surface/dot-git", ".git/config .GIT/hooks/pre-commit .g\u200cit/config git~1/config .git./config"},
		{"surface/hook", ".husky/pre-commit .githooks/pre-push hooks/post-checkout lefthook.yml .pre-commit-config.yaml .lintstagedrc"},
		{"surface/git-attributes", ".gitattributes"},
		{"surface/git-modules", ".gitmodules"},
		{"surface/git-config", ".gitconfig .lfsconfig"},
		{"surface/ftl-file", ".ftlconfig .ftllint .ftlignore"},
		{"surface/shell", ".envrc mise.toml .zshenv .bashrc"},
		{"surface/editor-task", ".vscode/tasks.json .vscode/launch.json app.code-workspace .idea/runConfigurations/run.xml .exrc .dir-locals.el .zed/tasks.json"},
		{"surface/agent-config", ".claude/settings.json .mcp.json .cursor/mcp.json .codex/config.toml .gemini/settings.json opencode.json .kiro/hooks/a.kiro.hook"},
		{"surface/interpreter", "lib/a.pth sitecustomize.py latexmkrc .hg/hgrc jupyter_lab_config.py __pycache__/a.cpython-312.pyc .gdbinit"},
		{"surface/package-manager", ".yarn/releases/yarn.cjs .pnpmfile.cjs gradlew .mvn/wrapper/maven-wrapper.properties"},
		{"manifest/registry", ".cargo/config.toml pip.conf nuget.config"},
		{"ci/change", ".github/workflows/a.yml .gitlab-ci.yml Jenkinsfile"},
		{"surface/agent-instructions", "AGENTS.md CLAUDE.md .cursorrules"},
		{"surface/short-name", "GITATT~1"},
		{"text/name", "a\u202egpj.go a\x1b[2J"},
	} {
		for path := range strings.FieldsSeq(row[1]) {
			all = append(all, Planted{Rule: row[0], Path: path, Text: "x\n"})
		}
	}
	return all
}

func surfaceModes() []Planted {
	return []Planted{
		{"surface/link-outside", "docs", "../../../../etc", filemode.Symlink},
		{"surface/link-outside", "docs", "/etc/passwd", filemode.Symlink},
		{"surface/link-outside", "a/docs", "../.git/hooks", filemode.Symlink},
		{"surface/link", "docs", "a", filemode.Symlink},
		{"surface/submodule", "lib", "", filemode.Submodule},
		{"surface/executable", "run", "#!/bin/sh\n", filemode.Executable},
		{"surface/binary", "a.dat", "\x00\x01\x02\x03\x04\x05", 0},
	}
}

func surfaceTexts(r *rand.Rand) []Planted {
	word := func() string { return text(r, alnum[36:], 8) }
	var all []Planted
	for _, hidden := range []string{"\u202e", "\u2066", "\u200b", "\u2028", "\u3164", "\ufe00\ufe01\ufe0f", "\U000e0041\U000e0042", "\u00ad"} {
		all = append(all, Planted{Rule: "text/bidi", Path: pick(r, "a.go", "a.py", "a.js", "a.c"), Text: "if " + word() + " == \"" + word() + hidden + word() + "\" {\n"})
	}
	return append(all,
		Planted{Rule: "text/bidi", Path: "a.md", Text: word() + "\u202e" + word() + "\n"},
		Planted{Rule: "text/escape", Path: "a.sh", Text: "# " + word() + "\x1b[8m" + word() + "\n"},
		Planted{Rule: "text/lookalike", Path: "a.go", Text: "func " + word() + "\u0430" + word() + "() {}\n"},
		Planted{Rule: "text/long-line", Path: "a.js", Text: "var x='" + strings.Repeat(word(), 600) + "'\n"},
		Planted{Rule: "surface/git-config", Path: "extra/" + word(), Text: "[core]\n\tfsmonitor = ./" + word() + "\n"},
		Planted{Rule: "surface/git-config", Path: "extra/" + word(), Text: "[include]\n\tpath = ../" + word() + "\n"})
}

func surfaceManifests(r *rand.Rand) []Planted {
	host := text(r, alnum[36:], 9) + ".example.net"
	ci := func(rule, text string) Planted {
		return Planted{Rule: rule, Path: ".github/workflows/a.yml", Text: "on: push\n" + text}
	}
	return []Planted{
		ci("ci/pull-request-target", "on: [pull_request_target]\n"),
		ci("ci/secrets", "env: {A: \"${{ secrets.DEPLOY_KEY }}\"}\n"),
		ci("ci/unpinned-action", "steps: [{uses: someone/action@v1}]\n"),
		ci("ci/write-all", "permissions: write-all\n"),
		ci("ci/event-text", "run: echo ${{ github.event.issue.title }}\n"),
		{Rule: "manifest/lifecycle-script", Path: "package.json", Text: `{"scripts": {"postinstall": "node a.js"}}`},
		{Rule: "manifest/remote-dependency", Path: "package.json", Text: `{"dependencies": {"a": "git+https://` + host + `/a.git"}}`},
		{Rule: "manifest/lock-host", Path: "package-lock.json", Text: `{"packages": {"node_modules/a": {"resolved": "https://` + host + `/a.tgz"}}}`},
		{Rule: "manifest/lock-host", Path: "yarn.lock", Text: "a@1:\n  resolved \"https://" + host + "/a.tgz\"\n"},
		{Rule: "manifest/registry", Path: ".npmrc", Text: "registry=https://" + host + "/\n"},
		{Rule: "manifest/registry", Path: "requirements.txt", Text: "--index-url https://" + host + "/simple\n"},
		{Rule: "surface/devcontainer-host", Path: ".devcontainer/devcontainer.json", Text: `{"initializeCommand": "./a.sh"}`},
		{Rule: "surface/editor-task", Path: ".vscode/settings.json", Text: `{"python.defaultInterpreterPath": "./a"}`},
		{Rule: "surface/hook", Path: "package.json", Text: `{"lint-staged": {"*.js": "./a.sh"}}`},
	}
}

func harmlessPaths() []Planted {
	var all []Planted
	for path := range strings.FieldsSeq("src/main.go docs/git.md a/.gitignore claude/settings.json vscode/tasks.json hooks/useState.ts lib/hook.py README.md licence.txt " +
		"git/config.go internal/envrc/envrc.go mcp/server.go cursor/rules.md path/pth.go tests/test_a.py a.b.c.d.txt files/naïve.txt") {
		all = append(all, Planted{Path: path, Text: "x\n"})
	}
	return all
}

func harmlessTexts(r *rand.Rand) []Planted {
	return []Planted{
		{Path: "a.go", Text: "\ufeffpackage a // naïve, Straße, 日本語, עברית\n"},
		{Path: "a.ts", Text: "const family = \"👩‍👩‍👧‍👦 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣\"\n"},
		{Path: "a.py", Text: "x = '\\u202e'  # written as an escape\n"},
		{Path: "a.go", Text: "func дата() {} // one script in a name\n"},
		{Path: "a.txt", Text: "with\r\nends of lines\r\nof Windows\r\n"},
		{Path: "package.json", Text: `{"scripts": {"build": "tsc", "test": "jest"}, "dependencies": {"a": "^1.2.3"}}`},
		{Path: "package-lock.json", Text: `{"packages": {"node_modules/a": {"resolved": "https://registry.npmjs.org/a.tgz", "integrity": "sha512-` + text(r, base64ed, 86) + `=="}}}`},
		{Path: "yarn.lock", Text: "a@1:\n  resolved \"https://registry.yarnpkg.com/a.tgz#" + text(r, lowerHex, 40) + "\"\n"},
		{Path: "requirements.txt", Text: "requests==2.32.0\n"},
		{Path: "go.mod", Text: "module example.com/a\n\nrequire golang.org/x/x v0.1.0\n"},
		{Path: "conf/app.ini", Text: "[core]\nname = a\n[include]\nfiles = b\n"},
	}
}
