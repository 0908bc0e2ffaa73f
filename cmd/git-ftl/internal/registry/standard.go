package registry

import "slices"

// standard is the registry that a tool asks where nobody says otherwise.
type standard struct {
	part string // of a tool that can be configured by itself
	tool string
	host string
}

// standards are facts about the tools, from their own documentation:
//
//	npm     docs.npmjs.com/cli/v11/using-npm/config#registry
//	pip     pip.pypa.io/en/stable/cli/pip_install/#cmdoption-i; files: docs.pypi.org/api/index-api
//	uv      docs.astral.sh/uv/concepts/indexes
//	go      go.dev/ref/mod#environment-variables, GOPROXY and GOSUMDB
//	cargo   doc.rust-lang.org/cargo/reference/registries.html and registry-index.html (sparse); crates: dl in index.crates.io/config.json
//	maven   maven.apache.org/guides/introduction/introduction-to-the-pom.html#super-pom
//	gradle  docs.gradle.org/current/userguide/declaring_repositories.html, mavenCentral() and gradlePluginPortal()
//	bundler bundler.io/man/gemfile.5.html#SOURCE; the index's own host: Bundler::Fetcher::Base#fetch_uri
func standards() []standard {
	return []standard{
		{"npm", "npm", "registry.npmjs.org"},
		{"pip", "pip", "pypi.org"},
		{"pip", "pip", "files.pythonhosted.org"},
		{"uv", "uv", "pypi.org"},
		{"uv", "uv", "files.pythonhosted.org"},
		{"go", "go", "proxy.golang.org"},
		{"gosum", "go", "sum.golang.org"},
		{"cargo", "cargo", "index.crates.io"},
		{"cargo", "cargo", "static.crates.io"},
		{"maven", "maven", "repo.maven.apache.org"},
		{"gradle", "gradle", "repo.maven.apache.org"},
		{"gradle", "gradle", "plugins.gradle.org"},
		{"bundler", "bundler", "rubygems.org"},
		{"bundler", "bundler", "index.rubygems.org"},
	}
}

// standard adds the public registry of a part of a tool.
func (r *reader) standard(part string) {
	for _, s := range standards() {
		if s.part == part {
			r.add(Host{Tool: s.tool, Host: s.host, Port: 443})
		}
	}
}

// isStandard reports whether a tool asks a host by itself.
func isStandard(host string) bool {
	return slices.ContainsFunc(standards(), func(s standard) bool { return s.host == host })
}

// beside adds what belongs to a public registry that the user names: another host
// has the files.
func (r *reader) beside(h Host) {
	for _, s := range standards() {
		if s.tool == h.Tool && s.host == h.Host {
			r.standard(s.part)
			return
		}
	}
}
