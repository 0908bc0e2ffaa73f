package surface

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// beside are the hits that a row is not about: those on the path as such.
var beside = []string{"ci/change warn 0", "surface/build-file info 0", "surface/editor-settings warn 0", "surface/devcontainer warn 0", "surface/package-manager block 0"}

// runContent compares what the content gives, without what the path does.
func runContent(t *testing.T, tests []test) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := slices.DeleteFunc(found(tt.doc, Context{}), func(h string) bool { return slices.Contains(beside, h) })
			if diff := cmp.Diff(tt.want, got, cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const flow = ".github/workflows/x.yml"

func TestPipelines(t *testing.T) {
	target := []string{"ci/pull-request-target block 1"}
	hash := strings.Repeat("0123456789", 4)
	runContent(t, []test{
		{"trigger", added(flow, "on: pull_request_target\n"), target},
		{"flow style", added(flow, "\"on\": [push, 'pull_request_target']\n"), target},
		{"key", added(flow, "on: {pull_request_target: {types: [opened]}}\n"), target},
		{"escape", added(flow, "on: \"pull_request\\x5ftarget\"\n"), target},
		{"unicode escape", added(flow, "on: \"pull\\u005Frequest_target\"\n"), target},
		{"joined lines", added(flow, "on: \"pull_request_\\\n    target\"\n"), target},
		{"anchor", added(flow, "x: &t pull_request_target\non: *t\n"), target},
		{"other case", added(flow, "on: PULL_REQUEST_TARGET\n"), target},
		{"UTF-16", added(flow, "\xff\xfe"+wide("on: pull_request_target\n")), target},
		{"comment", added(flow, "# pull_request_target\n"), nil},
		{"was there", changed(flow, "on: pull_request_target\n", "on: pull_request_target\nx: 1\n"), nil},
		{"comes out of a comment", changed(flow, "# on: pull_request_target\n", "on: pull_request_target\n"), target},
		{"plain trigger", added(flow, "on: [push, pull_request]\n"), nil},
		{"after another workflow", added(flow, "on:\n  workflow_run:\n"), []string{"ci/workflow-run block 2"}},
		{"writes all", added(flow, "permissions: write-all\n"), []string{"ci/write-all block 1"}},
		{"writes something", added(flow, "permissions:\n  contents: write\n"), []string{"ci/write-permission warn 2"}},
		{"reads", added(flow, "permissions:\n  contents: read\n"), nil},
		{"secret", added(flow, "env:\n  A: ${{ secrets.KEY }}\n"), []string{"ci/secrets block 2"}},
		{"secret by index", added(flow, "env:\n  A: ${{ secrets['KEY'] }}\n"), []string{"ci/secrets block 2"}},
		{"all secrets", added(flow, "env:\n  A: ${{ toJSON(secrets) }}\n"), []string{"ci/secrets block 2"}},
		{"handed on", added(flow, "    secrets: inherit\n"), []string{"ci/secrets block 1"}},
		{"known secret at a new place", changed(flow, "a: ${{ secrets.KEY }}\n", "a: ${{ secrets.KEY }}\nb: ${{ secrets.KEY }}\n"), []string{"ci/secrets block 2"}},
		{"known secret moved", changed(flow, "a: ${{ secrets.KEY }}\nb: 1\n", "b: 1\na: ${{ secrets.KEY }}\n"), nil},
		{"job's token", added(flow, "a: ${{ secrets.GITHUB_TOKEN }}\n"), []string{"ci/token warn 1"}},
		{"drone's secret", added(".drone.yml", "  from_secret: key\n"), []string{"ci/secrets block 1"}},
		{"jenkins' credentials", added("Jenkinsfile", "withCredentials([x]) {}\n"), []string{"ci/secrets block 1"}},
		{"tag", added(flow, "- uses: a/b@v1\n"), []string{"ci/unpinned-action block 1"}},
		{"branch, quoted", added(flow, "- \"uses\": \"a/b/c@main\"\n"), []string{"ci/unpinned-action block 1"}},
		{"flow style step", added(flow, "- {name: x, uses: a/b@v1}\n"), []string{"ci/unpinned-action block 1"}},
		{"folded", added(flow, "- uses: >-\n    a/b@v1\n"), []string{"ci/unpinned-action block 2"}},
		{"short hash", added(flow, "- uses: a/b@0123456\n"), []string{"ci/unpinned-action block 1"}},
		{"image", added(flow, "- uses: docker://a/b:1\n"), []string{"ci/unpinned-action block 1"}},
		{"image by digest", added(flow, "- uses: docker://a/b@sha256:"+hash+strings.Repeat("a", 24)+"\n"), nil},
		{"hash", added(flow, "- uses: a/b@"+hash+" # v1\n"), nil},
		{"of this tree", added(flow, "- uses: ./.github/actions/x\n"), nil},
		{"beside this tree", added(flow, "- uses: ./../x\n"), []string{"ci/unpinned-action block 1"}},
		{"alias", added(flow, "- uses: *a\n"), []string{"ci/unpinned-action block 1"}},
		{"another tag", changed(flow, "- uses: a/b@v1\n", "- uses: a/b@v2\n"), []string{"ci/unpinned-action warn 1"}},
		{"hash becomes tag", changed(flow, "- uses: a/b@"+hash+"\n", "- uses: a/b@v2\n"), []string{"ci/unpinned-action block 1"}},
		{"same tag", changed(flow, "- uses: a/b@v1\n", "- name: x\n  uses: a/b@v1\n"), nil},
		{"commented step", added(flow, "# - uses: a/b@v1\n"), nil},
		{"remote include", added(".gitlab-ci.yml", "include:\n  - remote: 'https://x.test/a.yml'\n"), []string{"ci/remote-include block 2"}},
		{"local include", added(".gitlab-ci.yml", "include:\n  - local: a.yml\n"), nil},
		{"stranger's text", added(flow, "run: echo ${{ github.event.issue.title }}\n"), []string{"ci/event-text warn 1"}},
		{"stranger's number", added(flow, "run: echo ${{ github.event.issue.number }}\n"), nil},
		{"own machine", added(flow, "runs-on: [self-hosted, x]\n"), []string{"ci/self-hosted warn 1"}},
		{"hosted", added(flow, "runs-on: ubuntu-24.04\n"), nil},
		{"too large", added(flow, strings.Repeat("# \n", maxConfig/2)), []string{"surface/unread block 0"}},
		{"not a pipeline", added("docs/x.yml", "on: pull_request_target\nuses: a/b@v1\n"), nil},
	})
}

func wide(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%c\x00", s[i])
	}
	return b.String()
}

func TestManifests(t *testing.T) {
	script := []string{"manifest/lifecycle-script block 1"}
	registry := []string{"manifest/registry block 1"}
	remote := []string{"manifest/remote-dependency warn 1"}
	runContent(t, []test{
		{"install script", added("package.json", `{"scripts": {"postinstall": "node x.js"}}`), script},
		{"escaped key", added("package.json", `{"scripts": {"p\u006fstinstall": "node x.js"}}`), script},
		{"second key", added("package.json", `{"scripts": {}, "scripts": {"prepare": "x"}}`), script},
		{"changed script", changed("package.json", `{"scripts": {"prepare": "a"}}`, `{"scripts": {"prepare": "b"}}`), script},
		{"moved script", changed("package.json", `{"scripts": {"prepare": "a"}}`, "{\n \"scripts\": {\n  \"prepare\": \"a\"\n }\n}"), nil},
		{"other script", added("package.json", `{"scripts": {"test": "x"}}`), nil},
		{"not a script", added("package.json", `{"config": {"install": "x"}}`), nil},
		{"trusted dependency", added("package.json", `{"trustedDependencies": ["x"]}`), script},
		{"lint-staged", added("package.json", `{"lint-staged": {"*.js": "x"}}`), []string{"surface/hook block 1"}},
		{"composer", added("composer.json", `{"scripts": {"post-install-cmd": "x"}}`), script},
		{"composer, other", added("composer.json", `{"scripts": {"test": "x"}}`), nil},
		{"composer's source", added("composer.json", `{"repositories": [{"type": "vcs", "url": "https://x.test/a"}]}`), registry},
		{"publish registry", added("package.json", `{"publishConfig": {"registry": "https://x.test"}}`), registry},
		{"npm's registry", added(".npmrc", "registry=https://x.test\n"), registry},
		{"scope's registry", added(".npmrc", "@a:registry = https://x.test\n"), registry},
		{"npm's shell", added(".npmrc", "script-shell=./x\n"), registry},
		{"npm's other keys", added(".npmrc", "save-exact=true\nengine-strict=true\n"), nil},
		{"old registry", changed(".npmrc", "registry=https://x.test\n", "registry=https://x.test\nfund=false\n"), nil},
		{"yarn's program", added(".yarnrc.yml", "yarnPath: .yarn/x.cjs\n"), registry},
		{"yarn's registry in flow style", added(".yarnrc.yml", "{\"npmRegistryServer\": \"https://x.test\"}\n"), registry},
		{"yarn's linker", added(".yarnrc.yml", "nodeLinker: node-modules\n"), nil},
		{"pip's index", added("requirements.txt", "--extra-index-url https://x.test\n"), registry},
		{"pip's index, short", added("requirements-dev.txt", "-i https://x.test\n"), registry},
		{"plain requirement", added("requirements.txt", "flask==3.0\n"), nil},
		{"requirement from git", added("requirements.txt", "flask @ git+https://x.test/a\n"), remote},
		{"requirement by address", added("requirements.txt", "flask @ https://x.test/a.whl\n"), remote},
		{"uv's index", added("pyproject.toml", "[[tool.uv.index]]\nurl = \"https://x.test\"\n"), []string{"manifest/registry block 1", "manifest/registry block 2", "manifest/remote-dependency warn 2"}},
		{"project's page", added("pyproject.toml", "[project.urls]\nHomepage = \"https://x.test\"\n"), nil},
		{"build backend", added("pyproject.toml", "build-backend = \"x\"\n"), []string{"manifest/build-backend warn 1"}},
		{"gem source", added("Gemfile", "source 'https://x.test'\n"), registry},
		{"gem from git", added("Gemfile", "gem 'a', git: 'https://x.test/a'\n"), remote},
		{"gem", added("Gemfile", "gem 'a', '1.0'\n"), nil},
		{"toolchain of a folder", added("rust-toolchain.toml", "[toolchain]\npath = \"tools\"\n"), append([]string{}, registry[0][:len(registry[0])-1]+"2")},
		{"channel of a toolchain", added("rust-toolchain.toml", "[toolchain]\nchannel = \"1.90\"\n"), nil},
		{"wrapper", added("gradle/wrapper/gradle-wrapper.properties", "distributionUrl=https\\://x.test/g.zip\n"), registry},
		{"maven repository", added("pom.xml", "<repository><url>https://x.test</url></repository>\n"), []string{"manifest/registry warn 1"}},
		{"repository over lines", added("build.gradle", "maven {\n  url 'https://x.test'\n}\n"), []string{"manifest/registry warn 1"}},
		{"old repository over lines", changed("build.gradle", "maven {\n  url 'https://x.test'\n}\n", "maven {\n  url 'https://x.test'\n}\nx\n"), nil},
		{"dependency from git", added("package.json", `{"dependencies": {"a": "git+ssh://git@x.test/a"}}`), remote},
		{"dependency of GitHub", added("package.json", `{"devDependencies": {"a": "b/c#main"}}`), remote},
		{"dependency by address", added("package.json", `{"overrides": {"a": "https://x.test/a.tgz"}}`), remote},
		{"dependency", added("package.json", `{"dependencies": {"a": "^1.0", "b": "npm:c@1", "d": "workspace:*"}}`), nil},
		{"crate from git", added("Cargo.toml", "a = { git = \"https://x.test/a\" }\n"), remote},
		{"crate", added("Cargo.toml", "a = \"1.0\"\n"), nil},
		{"go replace", added("go.mod", "replace a/b => ../b\n"), remote},
		{"go require", added("go.mod", "require a/b v1.0.0\n"), nil},
	})
}

func TestLockHosts(t *testing.T) {
	npm := func(host string) string { return `{"packages": {"a": {"resolved": "` + host + `/a.tgz"}}}` }
	host := []string{"manifest/lock-host block 1"}
	const usual = "https://registry.npmjs.org"
	runContent(t, []test{
		{"usual", added("package-lock.json", npm(usual)), nil},
		{"other", added("package-lock.json", npm("https://x.test")), host},
		{"usual where the base has its own", changed("package-lock.json", npm("https://own.test"), npm(usual)), host},
		{"own", changed("package-lock.json", npm("https://own.test"), npm("https://own.test")+" "), nil},
		{"plain http", added("package-lock.json", npm("http://registry.npmjs.org")), host},
		{"user before the host", added("package-lock.json", npm("https://registry.npmjs.org@x.test")), host},
		{"backslash", added("package-lock.json", npm(`https://registry.npmjs.org\\@x.test`)), host},
		{"port", added("package-lock.json", npm(usual+":8443")), host},
		{"escaped slashes", added("package-lock.json", npm(`https:\/\/x.test`)), host},
		{"escaped key", added("package-lock.json", `{"a": {"r\u0065solved": "https://x.test/a"}}`), host},
		{"deep", added("package-lock.json", strings.Repeat(`{"a":`, 40)+npm("https://x.test")), host},
		{"from git", added("package-lock.json", npm("git+ssh://git@github.com/a")), host},
		{"page of the author", added("package-lock.json", `{"a": {"funding": {"url": "https://x.test"}}}`), nil},
		{"yarn", added("yarn.lock", "  resolved \"https://x.test/a.tgz#1\"\n"), host},
		{"yarn, usual", added("yarn.lock", "  resolved \"https://registry.yarnpkg.com/a.tgz#1\"\n"), nil},
		{"pnpm", added("pnpm-lock.yaml", "resolution: {tarball: https://x.test/a.tgz}\n"), host},
		{"pnpm, next line", added("pnpm-lock.yaml", "tarball:\n  https://x.test/a.tgz\n"), []string{"manifest/lock-host block 2"}},
		{"cargo", added("Cargo.lock", "source = \"git+https://x.test/a#1\"\n"), host},
		{"cargo, usual", added("Cargo.lock", "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"), nil},
		{"uv", added("uv.lock", "source = { registry = \"https://x.test/simple\" }\n"), host},
		{"gems", added("Gemfile.lock", "  remote: https://x.test/\n"), host},
		{"composer", added("composer.lock", `{"packages": [{"dist": {"url": "https://x.test/a.zip"}}]}`), host},
		{"no lock file", added("a.json", npm("https://x.test")), nil},
	})
}

func TestSettings(t *testing.T) {
	task := []string{"surface/editor-task block 1"}
	runContent(t, []test{
		{"program", added(".vscode/settings.json", `{"git.path": "./x"}`), task},
		{"with comments", added(".vscode/settings.json", `{/* a */ "python.defaultInterpreterPath": "./x",}`), task},
		{"environment", added(".vscode/settings.json", `{"terminal.integrated.env.linux": {"PATH": "./x"}}`), task},
		{"automatic tasks", added(".vscode/settings.json", `{"task.allowAutomaticTasks": "on"}`), task},
		{"approval", added(".vscode/settings.json", `{"chat.tools.autoApprove": true}`), task},
		{"nested", added(".vscode/settings.json", `{"[python]": {"a.executable": ["x"]}}`), task},
		{"look", added(".vscode/settings.json", `{"editor.tabSize": 2, "files.exclude": {"a": true}, "typescript.format.semicolons": "insert"}`), nil},
		{"old program", changed(".vscode/settings.json", `{"git.path": "git"}`, `{"git.path": "git", "editor.tabSize": 2}`), nil},
		{"host command", added(".devcontainer/devcontainer.json", `{"initializeCommand": "x"}`), []string{"surface/devcontainer-host block 1"}},
		{"host command as a list", added(".devcontainer.json", `{"initializeCommand": ["a", "b"]}`), []string{"surface/devcontainer-host block 1", "surface/devcontainer-host block 1"}},
		{"container command", added(".devcontainer/devcontainer.json", `{"postCreateCommand": "x"}`), nil},
	})
}

func TestGitConfig(t *testing.T) {
	runContent(t, []test{
		{"monitor", added("conf/x.inc", "[core]\n\tfsmonitor = ./x\n"), []string{"surface/git-config block 1"}},
		{"filter", added("x", "[filter \"a\"]\n\tclean = ./x\n"), []string{"surface/git-config block 1"}},
		{"include", added("x", "[include]\npath = ../y\n"), []string{"surface/git-config block 1"}},
		{"alias", added("x.cfg", "[alias]\nco = !./x\n"), []string{"surface/git-config block 1"}},
		{"hooks", added("x.ini", "[Core] hooksPath = a\n"), []string{"surface/git-config block 1"}},
		{"plain alias", added("x.cfg", "[alias]\nco = checkout\n"), nil},
		{"other INI", added("x.ini", "[core]\nlevel = 1\n[paths]\npath = a\n"), nil},
		{"documentation", added("x.md", "[core]\n\tfsmonitor = ./x\n"), nil},
	})
}

// TestOwnExcuses: what a change brings along to silence a scanner silences nothing.
func TestOwnExcuses(t *testing.T) {
	runContent(t, []test{
		{"comment", added("a.py", "x = 1 # gitleaks:allow\n"), []string{"surface/suppression info 1"}},
		{"comments", added("a.py", excused()), slices.Repeat([]string{"surface/suppression info 1"}, 5*len(excuses()))},
		{"ignore list", added(".gitleaksignore", "x\n"), []string{"surface/ignore-file info 0"}},
		{"attributes", added(".gitattributes", "* -diff\n"), []string{"surface/git-attributes block 0"}},
		{"attributes, binary", added(".gitattributes", "*.go binary\n"), []string{"surface/git-attributes block 0"}},
		{"a NUL first in a pipeline", added(flow, "\x00\n"+strings.Repeat("# fill\n", 20)+"on: pull_request_target\n"), []string{"surface/nul warn 0", "text/control warn 1", "ci/pull-request-target block 22"}},
	})
}

func TestLeaves(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nested", `{"a": {"b": [1, "x"], "c": null}, "d": true}`, []string{"/a/b=1", "/a/b=x", "/a/c=null", "/d=true"}},
		{"comments and commas", "{// x\n\"a\": 1, /* \"b\": 2 */ \"c\": 3,}", []string{"/a=1", "/c=3"}},
		{"bare and single quotes", `{a: 'x\'y'}`, []string{"/a=x'y"}},
		{"escapes", `{"\u0061\n": "\/\x41"}`, []string{"/a\n=/A"}},
		{"beyond the bound", strings.Repeat(`{"a":`, 40) + `{"b":1}`, []string{strings.Repeat("/a", maxDepth-1) + "/b=1"}},
		{"unclosed", "{\"a\": \"x\n\"b\": 2", []string{"/a=x", "/b=2"}},
		{"closed too often", `]]}}{"a": 1}`, []string{"/a=1"}},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for l := range leaves([]byte(tt.text)) {
				got = append(got, l.key+"="+l.value)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// excused is each comment at each place of a step, the second right behind the
// first.
func excused() string {
	all := excuses()
	text := all[0]
	for i := 1; i < 5*len(all); i++ {
		text += strings.Repeat("x", (i-1)/len(all)) + all[i%len(all)]
	}
	return text
}
