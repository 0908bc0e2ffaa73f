package surface

import "github.com/git-ftl/git-ftl/lint/internal/doc"

const (
	yourRegistry = "make sure that the address is yours"
	pinned       = "take it from the registry, or name a commit"
)

// registryLines are the rules on where packages come from, in manifests that are
// lines of text. Source: the reference of each package manager's configuration.
func registryLines() []lineRule {
	return []lineRule{
		{
			files: paths(`.npmrc`), name: "manifest/registry", severity: doc.Block, find: npmrc,
			message: "where npm gets packages from, or a program that npm runs", remedy: yourRegistry,
		},
		{
			files: paths(`.yarnrc .yarnrc.yml .yarnrc.yaml pnpm-workspace.yaml bunfig.toml`), name: "manifest/registry", severity: doc.Block, find: yarnrc,
			message: "where packages come from, or a program that a package manager runs", remedy: yourRegistry,
		},
		{
			files: paths(`requirements*.txt *requirements.txt requirements*.in constraints*.txt requirements/`), name: "manifest/registry", severity: doc.Block, find: requirementsIndex,
			message: "where pip gets packages from", remedy: yourRegistry,
		},
		{
			files: paths(`pyproject.toml uv.toml pipfile poetry.toml pdm.toml .pdm.toml pixi.toml`), name: "manifest/registry", severity: doc.Block, find: pyprojectIndex,
			message: "where Python packages come from", remedy: yourRegistry,
		},
		{
			files: paths(`gemfile gems.rb *.gemfile`), name: "manifest/registry", severity: doc.Block, find: gemSource,
			message: "where gems come from", remedy: yourRegistry,
		},
		{
			files: paths(`gradle-wrapper.properties maven-wrapper.properties`), name: "manifest/registry", severity: doc.Block, find: wrapperURL,
			message: "where the wrapper gets the build tool from", remedy: yourRegistry,
		},
		{
			files: paths(`rust-toolchain rust-toolchain.toml`), name: "manifest/registry", severity: doc.Block, find: toolchainPath,
			message: "a compiler from a folder, which every use of cargo here runs", remedy: "name a channel",
		},
		{
			files: paths(`pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts build.sbt ivysettings.xml settings.xml`), name: "manifest/registry", severity: doc.Warn, find: jvmRepository,
			message: "where libraries come from", remedy: yourRegistry,
		},
	}
}

// dependencyLines are the rules on dependencies that no registry vouches for.
func dependencyLines() []lineRule {
	return []lineRule{
		{
			files: paths(`requirements*.txt *requirements.txt requirements*.in constraints*.txt requirements/ pyproject.toml pipfile setup.py setup.cfg environment.yml environment.yaml`),
			name:  "manifest/remote-dependency", severity: doc.Warn, find: pythonRemote,
			message: "a dependency from outside of the registry", remedy: pinned,
		},
		{
			files: paths(`cargo.toml pixi.toml`), name: "manifest/remote-dependency", severity: doc.Warn, find: cargoRemote,
			message: "a dependency from outside of the registry", remedy: pinned,
		},
		{
			files: paths(`go.mod go.work`), name: "manifest/remote-dependency", severity: doc.Warn, find: goReplace,
			message: "another module takes a module's place", remedy: "make sure that the task asks for it",
		},
		{
			files: paths(`gemfile gems.rb *.gemfile mix.exs pubspec.yaml`), name: "manifest/remote-dependency", severity: doc.Warn, find: gemRemote,
			message: "a dependency from outside of the registry", remedy: pinned,
		},
		{
			files: paths(`pyproject.toml`), name: "manifest/build-backend", severity: doc.Warn, find: buildBackend,
			message: "the program that builds the package when it is installed", remedy: "make sure that the task asks for it",
		},
	}
}

var (
	npmrc             = doc.Pattern(`(?im)^[ \t]*["']?(?:(?:@[\w.~-]+:)?registry|//[^\s=]+:[\w-]+|script-shell|node-options|shell|git|node-gyp|python|viewer|editor|browser|globalconfig|userconfig|prefix|init-module|init\.module|ignore-scripts|strict-ssl|proxy|https?-proxy|cafile|ca|cert|key|otp|onload-script|pnpmfile|global-pnpmfile|use-node-version|node-mirror:[\w-]+|enable-pre-post-scripts|unsafe-perm|dangerously-allow-all-builds|only-built-dependencies)["']?[ \t]*(?:\[\])?[ \t]*(?:=|$)[^\n]*`)
	yarnrc            = doc.Pattern(`(?im)(?:^|[{,])[ \t]*["']?(?:npmRegistryServer|npmPublishRegistry|npmAuditRegistry|npmScopes|npmRegistries|yarnPath|yarn-path|plugins|registry|registries|scopes|install\.registry|injectEnvironmentFiles|httpProxy|httpsProxy|enableScripts|enableStrictSsl|unsafeHttpWhitelist|caFilePath|httpsCaFilePath|networkSettings|scriptShell|script-shell|pnpmfile|nodeOptions|onlyBuiltDependencies|dangerouslyAllowAllBuilds|neverBuiltDependencies|preload|url|path|spec)["']?[ \t]*[:= \t][^\n]*|^[ \t]*\[install[^\]\n]*\]`)
	requirementsIndex = doc.Pattern(`(?m)^[ \t]*(?:-[if][^\n]*|(?:--index-url|--extra-index-url|--find-links|--trusted-host|--pypi-url|--no-index)(?:[ \t=]|$)[^\n]*)`)
	pyprojectIndex    = doc.Pattern(`(?im)^[ \t]*(?:["']?(?:index-url|extra-index-url|find-links|index|sources|url|default-index|pypi-mirrors?|allow-insecure-host|trusted-host|index-strategy|keyring-provider)["']?[ \t]*=[^\n]*(?:https?:|allow|unsafe|\[|subprocess)[^\n]*|\[\[(?:tool\.(?:uv\.index|poetry\.source|pdm\.source|pipenv\.source)|source|index)\]\])`)
	gemSource         = doc.Pattern(`(?m)^[ \t]*source\b[^\n]*`)
	wrapperURL        = doc.Pattern(`(?im)^[ \t]*(?:distributionUrl|wrapperUrl|distributionSha256Sum|distributionBase|distributionPath|wrapperSha256Sum)\b[^\n]*`)
	toolchainPath     = doc.Pattern(`(?m)^[ \t]*path[ \t]*=[^\n]*`)
	jvmRepository     = doc.Pattern(`(?i)\bmaven\s*[({]\s*(?:url|uri|setUrl)?[^\n]*|<(?:plugin)?repository>|<mirror>|\bresolvers\s*\+[^\n]*|\burl\s*(?:=\s*)?(?:uri\s*\()?["']https?:[^\n]*`)
	pythonRemote      = doc.Pattern(`(?im)\b(?:git|hg|svn|bzr)\+[a-z]+:[^\n]*|@[ \t]*(?:https?|file|ftp):[^\n]*|^[ \t]*(?:-e[ \t]+)?(?:https?|ftp)://[^\n]*|\b(?:git|hg|url|file)[ \t]*=[ \t]*["'](?:https?|ssh|git|ftp)[:@][^\n]*`)
	cargoRemote       = doc.Pattern(`(?m)\bgit[ \t]*=[ \t]*["'][^\n]*|^[ \t]*\[(?:patch|replace)\b[^\n]*`)
	goReplace         = doc.Pattern(`(?m)^(?:[^\n/]|/[^/\n])*=>[^\n]*`)
	gemRemote         = doc.Pattern(`(?m)\b(?:git|github|gist|bitbucket|git_source)\b["']?\s*(?::|=>|\()[^\n]*`)
	buildBackend      = doc.Pattern(`(?m)^[ \t]*(?:build-backend|backend-path|requires)[ \t]*=[^\n]*`)
)

// manifestLeaves are the rules on manifests and settings that are JSON.
func manifestLeaves() []leafRule {
	return []leafRule{
		{
			files: paths(`package.json`), name: "manifest/lifecycle-script", severity: doc.Block, key: npmLifecycle,
			message: "npm runs this by itself when it installs or packs", remedy: "read the command, then waive the finding",
		},
		{
			files: paths(`composer.json`), name: "manifest/lifecycle-script", severity: doc.Block, key: composerLifecycle,
			message: "composer runs this by itself when it installs", remedy: "read the command, then waive the finding",
		},
		{
			files: paths(`package.json`), name: "surface/hook", severity: doc.Block, key: hookKeys,
			message: "a hook manager runs this at the next commit", remedy: readIt,
		},
		{
			files: paths(`package.json`), name: "manifest/registry", severity: doc.Block, key: npmRegistryKey, value: address,
			message: "where packages or the package manager come from, or go to", remedy: yourRegistry,
		},
		{
			files: paths(`composer.json`), name: "manifest/registry", severity: doc.Block, key: composerRegistryKey, value: address,
			message: "where composer gets packages from", remedy: yourRegistry,
		},
		{
			files: paths(`package.json`), name: "manifest/remote-dependency", severity: doc.Warn, key: npmDependency, value: npmRemote,
			message: "a dependency from outside of the registry", remedy: pinned,
		},
		{
			files: paths(`.vscode/settings.json`), name: "surface/editor-task", severity: doc.Block, key: editorProgram,
			message: "a setting that names a program, its arguments or environment, or what the editor trusts", remedy: readIt,
		},
		{
			files: paths(`devcontainer.json .devcontainer.json`), name: "surface/devcontainer-host", severity: doc.Block, key: hostCommand,
			message: "it runs on this machine, outside of the container, or gives the container rights over it", remedy: readIt,
		},
	}
}

var (
	npmLifecycle        = doc.Pattern(`^/scripts/(?:(?:pre|post)?(?:install|prepare|prepublish|prepublishOnly|uninstall|pack|publish|version|dependencies)|pnpm:devPreinstall)$|^/(?:trustedDependencies|pnpm/onlyBuiltDependencies|pnpm/dangerouslyAllowAllBuilds|dependenciesMeta/[^/]+(?:/[^/]+)?/built|allowScripts.*|lavamoat/allowScripts.*)$`)
	composerLifecycle   = doc.Pattern(`^/scripts/(?:(?:pre|post)-(?:install|update|status|archive|autoload|root-package|create-project|package|operations|pool|dependencies)[\w-]*|command|init)$|^/config/(?:allow-plugins.*|bin-dir|vendor-dir)$`)
	hookKeys            = doc.Pattern(`^/(?:husky|lint-staged|simple-git-hooks|gitHooks|git-hooks|ghooks|pre-commit|pre-push|config/(?:ghooks|pre-git))(?:/|$)`)
	npmRegistryKey      = doc.Pattern(`^/(?:publishConfig/(?:[^/]+:)?registry|packageManager)$`)
	composerRegistryKey = doc.Pattern(`^/repositories/`)
	address             = doc.Pattern(`://|@.+:|^[./]`)
	npmDependency       = doc.Pattern(`(?i)^/(?:pnpm/)?(?:(?:dev|peer|optional|bundled?)?dependencies|overrides|resolutions|catalogs?)/`)
	npmRemote           = doc.Pattern(`(?i)^\s*(?:git|https?|ssh|github|gitlab|bitbucket|gist)[:+@]|^\s*git@|^\s*[\w.-]+/[\w.-]+(?:#|\s*$)`)
	editorProgram       = doc.Pattern(`(?i)path|executable|command|cmd|args|arguments|shell|interpreter|\benv|profiles|binary|program|server|alternatetools|onsave|autoapprove|automatictasks|autorun|autodetect|trust|[./]scripts?\b|hooks?\b|plugin|sdk|jdk|java\.home|proxy|vmargs|flags|launcher|wrapper|\bmcp|yolo|endpoint|activate|venv`)
	hostCommand         = doc.Pattern(`(?i)^/(?:initializeCommand|runArgs|privileged|capAdd|securityOpt|mounts|workspaceMount)(?:/|$)`)
)
