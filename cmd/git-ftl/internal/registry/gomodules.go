package registry

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// modulePath is what a module's path may be: no part of it begins with a dot.
var modulePath = lazyregexp.New(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]*(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// required finds a module with its version in go.mod, in a line of its own or in a
// block, and what a replacement names.
var required = lazyregexp.New(`(?:^|\s|=>\s*)([A-Za-z0-9][^\s"=]*) v[0-9]`)

// GoModules lists the modules that a go.mod or go.sum names, sorted.
func GoModules(files ...[]byte) []string {
	var all []string
	for _, file := range files {
		lines := bufio.NewScanner(bytes.NewReader(file))
		for lines.Scan() {
			line, _, _ := strings.Cut(lines.Text(), "//")
			for _, m := range required.FindAllStringSubmatch(line, -1) {
				if modulePath.MatchString(m[1]) {
					all = append(all, m[1])
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ForModules narrows the registries of go to these modules and go's own toolchains:
// a proxy of modules fetches whatever path it is asked for from wherever it points,
// and so would carry what an agent writes into one. whole says which hosts the user
// allowed as they are.
func (rs Registries) ForModules(modules []string, whole func(Host) bool) Registries {
	paths := make([]string, 0, len(modules)+1)
	for _, m := range append(slices.Clone(modules), "golang.org/toolchain") {
		paths = append(paths, "/"+escapeModule(m))
	}
	var hosts []Host
	for _, h := range rs.Hosts {
		if h.Tool != "go" || whole(h) {
			hosts = append(hosts, h)
			continue
		}
		for _, p := range paths {
			narrow := h
			narrow.PathPrefix, narrow.Narrowed = narrow.PathPrefix+p, true
			hosts = append(hosts, narrow)
		}
	}
	narrowed := rs
	narrowed.Hosts, narrowed.Credentials = hosts, nil
	for _, c := range rs.Credentials {
		c.Binding.Paths = rs.narrowPaths(c, paths, whole)
		narrowed.Credentials = append(narrowed.Credentials, c)
	}
	return narrowed
}

// narrowPaths puts modules in the place of the paths of a binding that are go's
// alone.
func (rs Registries) narrowPaths(c shadow.Credential, modules []string, whole func(Host) bool) []string {
	var paths []string
	others, narrowed := false, false
	for _, h := range rs.Hosts {
		if hostPort(h.Host, h.Port) != c.Binding.Hosts[0] || len(c.Binding.Paths) > 0 && !slices.Contains(c.Binding.Paths, h.PathPrefix) {
			continue
		}
		if h.Tool != "go" || whole(h) {
			others = true
			continue
		}
		narrowed = true
		for _, m := range modules {
			paths = append(paths, h.PathPrefix+m)
		}
	}
	if !narrowed || others {
		return c.Binding.Paths
	}
	return paths
}

// escapeModule writes a module's path as proxies want it: each capital as ! and
// the small letter.
func escapeModule(path string) string {
	var b strings.Builder
	for _, r := range path {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
