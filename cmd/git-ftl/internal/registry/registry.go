// Package registry reads which package registries the user's own tools are
// configured with, so that a sandbox reaches these and no others.
//
// It reads files of the user and the environment that the caller hands over,
// never a file of a repository, runs no tool and dials nothing. What it returns
// holds no real value but inside a shadow.Secret; a file or line that it cannot
// read costs only itself and is named by place, never by what stands there.
package registry

import (
	"io/fs"
	"net/http"
	"strconv"

	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/proxy"
)

// Source is where to look. All fields but Env are needed.
type Source struct {
	Home string   // absolute path of the user's home
	OS   string   // as runtime.GOOS: it says where tools keep their files
	Env  []string // NAME=value

	// Open opens a file or folder by its absolute path, with / between names;
	// an error that is fs.ErrNotExist says that there is none.
	Open func(path string) (fs.File, error)

	// Shadow makes the shadow of a value, as Mint.Shadow does. Of an empty value it
	// is a word of letters, digits and underscores.
	Shadow func(name, value string) string
}

// Registries is what the user's tools are configured with, in a stable order.
type Registries struct {
	Hosts       []Host
	Credentials []shadow.Credential // bound to one host and its paths, GET and HEAD
	Files       []File
	Notes       []Note
	Indexes     []Index // of Python packages, in the order in which they are asked
}

// Host is a registry of one tool. Of Tool "go" the paths that a sandbox needs are
// known from go.mod and go.sum: a caller may ask for less than PathPrefix.
type Host struct {
	Tool       string // npm, pip, uv, go, cargo, maven, gradle, bundler or apt
	Host       string // as in shadow.Binding, without port
	Port       int
	PathPrefix string // "" is the whole host; else /a/b, no slash at the end
	Private    bool   // named by the user's own configuration: its address may be private
	Narrowed   bool   // by ForModules
}

// File is what a tool inside the sandbox is to read: only the lines that name
// registries, with shadows in the place of secrets.
type File struct {
	Path    string // below the home, with / between names
	Content []byte
}

// Index is a list of Python packages, as PEP 503 has it, with what the user's own
// tools sign in with.
type Index struct {
	URL      string        // a slash at its end: the page of a package is below
	User     shadow.Secret // may be the token itself; zero where it wants none
	Password shadow.Secret
}

// Note says that something was not taken over, and why. It holds no value.
type Note struct {
	File string // ~/.npmrc, or the name of a variable
	Line int    // from 1; 0 is the whole
	Text string
}

// String implements fmt.Stringer: ~/.npmrc:3: why.
func (n Note) String() string {
	if n.Line == 0 {
		return n.File + ": " + n.Text
	}
	return n.File + ":" + strconv.Itoa(n.Line) + ": " + n.Text
}

// Read reads the configuration of every tool that it knows. A tool that names no
// registry of its own has its public one.
func Read(s Source) Registries {
	r := newReader(s)
	for _, tool := range []func(){r.npm, r.pip, r.uv, r.golang, r.cargo, r.maven, r.gradle, r.bundler, r.python, r.netrc} {
		tool()
	}
	r.checkFiles()
	return r.out
}

// Rules lets GET and HEAD pass to each host below its path. The one exception is
// the audit of npm, which posts names and versions of packages, where no
// credential is bound.
func (rs Registries) Rules() []proxy.Rule {
	var rules []proxy.Rule
	seen := map[Host]bool{}
	for _, h := range rs.Hosts {
		rule := proxy.Rule{Host: h.Host, Port: h.Port, Private: h.Private}
		if h.Tool == "npm" && !rs.bound(h) {
			audit := rule
			audit.Methods = []string{http.MethodPost}
			audit.Paths = []string{h.PathPrefix + "/-/npm/v1/security/advisories/bulk", h.PathPrefix + "/-/npm/v1/security/audits"}
			rules = append(rules, audit)
		}
		key := h
		key.Tool = ""
		if seen[key] {
			continue
		}
		seen[key] = true
		rule.Registry, rule.Methods, rule.Narrowed = true, reading(), h.Narrowed
		if h.PathPrefix != "" {
			rule.Paths = []string{h.PathPrefix}
		}
		rules = append(rules, rule)
	}
	return rules
}

// bound reports whether a credential is bound to a host and port.
func (rs Registries) bound(h Host) bool {
	for _, c := range rs.Credentials {
		if c.Binding.Hosts[0] == hostPort(h.Host, h.Port) {
			return true
		}
	}
	return false
}

// reading are the methods that read.
func reading() []string { return []string{http.MethodGet, http.MethodHead} }
