package surface

import "github.com/git-ftl/git-ftl/lint/internal/doc"

// agentRows are what coding agents obey in a folder. Settings name programs (MCP
// servers, hooks, permissions) and block; prose steers the next agent and warns.
// Source: each agent's documentation of its project files.
func agentRows() []row {
	return []row{
		{
			name: "surface/agent-instructions", severity: doc.Warn, gone: doc.Info,
			match: paths(`agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md crush.md warp.md codex.md .cursorrules .windsurfrules .clinerules .goosehints .rules
				.cursor/rules/ .windsurf/rules/ .clinerules/ .roo/rules*/ .roorules* .kiro/steering/ .continue/rules/ .junie/guidelines.md .augment-guidelines .augment/rules/
				.amazonq/rules/ .trae/rules/ .claude/rules/ .claude/output-styles/ .agent/rules/ .github/copilot-instructions.md .github/instructions/ .github/prompts/ .github/chatmodes/ .tabnine/guidelines/ .idx/airules.md`),
			message: "the next agent takes this for orders", remedy: "read it as you would read a prompt of your own",
		},
		{
			name: "surface/agent-config", severity: doc.Block, gone: doc.Info,
			match: paths(`.claude/ .claude.json .claude-plugin/ .mcp.json mcp.json .mcp/ mcp_config.json mcp-config.json .codex/ .gemini/ .qwen/ .cursor/ .windsurf/ .codeium/ .continue/ .continuerc.json .cline/ .roo/ .roomodes
				.kiro/ .aider.conf.yml .aider.conf.yaml .aider.model.settings.yml .aider* opencode.json opencode.jsonc .opencode/ .goose/ crush.json .crush.json .crush/ .junie/ .augment/ .amazonq/ .trae/ .amp/ .agent/ .agents/
				.factory/ .droid/ .grok/ .copilot/ .github/hooks/ .github/agents/ .github/skills/ .github/copilot-setup-steps.yml .sourcegraph/ .cody/ .tabnine/ .zencoder/ .warp/ .openhands/ .specify/scripts/`),
			message: "settings of a coding agent: hooks, commands and servers that run on this machine", remedy: readIt,
		},
	}
}

// editorRows are what editors run or trust when a folder is opened.
func editorRows() []row {
	return []row{
		{
			name: "surface/editor-settings", severity: doc.Warn, gone: doc.Info,
			match:   paths(`.vscode/settings.json .vscode/extensions.json .vscode/*.code-snippets`),
			message: "settings or recommendations of an editor", remedy: takeBack,
		},
		{
			name: "surface/editor-task", severity: doc.Block, gone: doc.Info,
			match: paths(`.vscode/ *.code-workspace .idea/runconfigurations/ .idea/watchertasks.xml .idea/externaltools.xml .idea/tools/ .idea/workspace.xml .idea/externaldependencies.xml .idea/startup.xml .run/ *.run.xml
				.fleet/ .zed/ .nova/ .theia/ .helix/ .vim/ .nvim/ .vimrc .gvimrc _vimrc .exrc _exrc .nvimrc .nvim.lua .lvimrc .local.vimrc .vimrc.local .lazy.lua .neoconf.json
				.dir-locals.el .dir-locals-2.el .emacs .emacs.d/ .projectile.el *.sublime-project *.sublime-workspace *.sublime-build .kakrc .kak/ .externaltoolbuilders/ .vs/ *.suo .atom/ .lite_project.lua .lapce/ .micro/ .tmuxinator.yml .tmux.conf .netbeans/ nbproject/private/ xcshareddata/ *.xcscheme`),
			message: "an editor runs or obeys this when the folder is opened or a task is started", remedy: readIt,
		},
		{
			name: "surface/editor-settings", severity: doc.Warn, gone: doc.Info, match: paths(`.idea/ *.iml .metals/ .bloop/ .settings/ .classpath .project`),
			message: "settings of an editor", remedy: takeBack,
		},
		{
			name: "surface/devcontainer", severity: doc.Warn, gone: doc.Info,
			match:   paths(`.devcontainer/ .devcontainer.json devcontainer.json .gitpod.yml .gitpod/ .idx/ devenv.nix devenv.yaml .stackblitzrc .codesandbox/ .daytona/ .coder/`),
			message: "what a development environment is made of and runs at its start", remedy: "read it before the environment is built again",
		},
	}
}

// buildRows are what runs when somebody builds, tests or merges: ordinary commits
// touch these, so they are told and not blocked. The rules on their content may.
func buildRows() []row {
	return []row{
		{
			name: "ci/change", severity: doc.Warn, gone: doc.Warn,
			match: paths(`.github/workflows/ .github/actions/ action.yml action.yaml .gitlab-ci.yml .gitlab-ci.yaml *.gitlab-ci.yml *.gitlab-ci.yaml .gitlab/ci/ .gitlab-ci/ jenkinsfile jenkinsfile.* *.jenkinsfile
				azure-pipelines.yml azure-pipelines.yaml azure-pipelines*.yml .azure-pipelines/ .azuredevops/ .circleci/ .buildkite/ .travis.yml bitbucket-pipelines.yml .drone.yml .drone.yaml .drone.star .drone.jsonnet
				.woodpecker.yml .woodpecker.yaml .woodpecker/ .forgejo/workflows/ .forgejo/actions/ .gitea/workflows/ .gitea/actions/ appveyor.yml .appveyor.yml .cirrus.yml .cirrus.star .semaphore/ .teamcity/ buildspec.yml buildspec.yaml
				cloudbuild.yaml cloudbuild.yml cloudbuild.json wercker.yml .wercker.yml codefresh.yml .tekton/ .build.yml .builds/ .screwdriver.yaml screwdriver.yaml concourse.yml .harness/ .ci/ ci.yml
				.goreleaser.yml .goreleaser.yaml .releaserc .releaserc.* netlify.toml vercel.json amplify.yml render.yaml fly.toml app.yaml procfile
				.github/dependabot.yml .github/dependabot.yaml renovate.json renovate.json5 .renovaterc .renovaterc.json`),
			message: "a pipeline: it runs with the project's own rights", remedy: "read it before it is pushed",
		},
		{
			name: "surface/test-setup", severity: doc.Info, match: paths(`conftest.py pytest.ini tox.ini noxfile.py jest.config.* vitest.config.* vitest.setup.* jest.setup.* karma.conf.* playwright.config.* cypress.config.* .mocharc.* phpunit.xml phpunit.xml.dist .rspec spec_helper.rb test_helper.rb`),
			message: "code or settings that every test run loads",
		},
		{
			name: "surface/build-file", severity: doc.Info,
			match: paths(`makefile makefile.* gnumakefile *.mk cmakelists.txt *.cmake cmakepresets.json build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties pom.xml build.xml build.sbt project/*.sbt
				setup.py setup.cfg hatch_build.py dockerfile dockerfile.* *.dockerfile containerfile compose.yml compose.yaml docker-compose*.yml docker-compose*.yaml build.rs build.zig justfile .justfile taskfile.yml taskfile.yaml taskfile.dist.y*ml rakefile *.rake gruntfile.* gulpfile.*
				webpack.config.* vite.config.* rollup.config.* babel.config.* .babelrc .babelrc.* postcss.config.* next.config.* nuxt.config.* svelte.config.* astro.config.* esbuild.config.* tsup.config.* metro.config.* eslint.config.* .eslintrc .eslintrc.* prettier.config.* .prettierrc.*
				build build.bazel workspace workspace.bazel module.bazel *.bzl .bazelrc meson.build configure configure.ac configure.in *.m4 wscript sconstruct sconscript flake.nix shell.nix default.nix vagrantfile *.csproj *.fsproj *.vbproj *.vcxproj *.props *.targets *.sln
				package.swift build.sh build.ps1 bootstrap bootstrap.sh install.sh podfile fastfile brewfile mix.exs rebar.config dune dune-project build.ninja magefile.go wails.json tauri.conf.json turbo.json nx.json lerna.json
				autogen.sh rust-toolchain rust-toolchain.toml deno.json deno.jsonc tailwind.config.* nodemon.json .nodemonrc hardhat.config.* truffle-config.js foundry.toml wrangler.toml serverless.y*ml
				skaffold.yaml tiltfile earthfile dangerfile guardfile capfile berksfile .rubocop.yml .php-cs-fixer.php .php-cs-fixer.dist.php cdk.json samconfig.toml pulumi.yaml`),
			message: "it runs when the project is built",
		},
	}
}
