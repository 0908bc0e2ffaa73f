package registry

import (
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Lines and names of bundler's configuration: a dot is two bars there, a dash
// three.
var (
	bundlerLine = lazyregexp.New(`^(BUNDLE_[^\s"]+):\s+"?([^"]*)"?\s*$`)
	bundlerHost = lazyregexp.New(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,24}$`)
)

// bundler reads mirrors, and logins of hosts. The sources themselves are in a
// Gemfile, which is the repository's.
func (r *reader) bundler() {
	all := r.bundlerSettings()
	var lines []string
	mirrored := false
	for _, s := range all {
		name := strings.TrimPrefix(s.key, "BUNDLE_")
		line, ok := "", false
		if of, is := strings.CutPrefix(name, "MIRROR__"); is {
			line, _, ok = r.name(named{tool: "bundler", url: s.value, at: s.at})
			mirrored = mirrored || of == "ALL" || strings.Contains(of, "RUBYGEMS__ORG")
		} else if host := bundlerName(name); host != "" {
			line, ok = r.bundlerLogin(host, s)
		}
		if ok {
			lines = append(lines, s.key+`: "`+line+`"`)
		}
	}
	if !mirrored {
		r.standard("bundler")
	}
	if lines != nil {
		r.write(".bundle/config", append([]string{"---"}, lines...))
	}
}

// bundlerSettings are variables, then those of the file that no variable has.
func (r *reader) bundlerSettings() []setting {
	var all []setting
	for name, value := range r.env {
		if strings.HasPrefix(name, "BUNDLE_") && value != "" {
			all = append(all, setting{key: name, value: value, at: where{file: name}})
		}
	}
	slices.SortFunc(all, func(a, b setting) int { return strings.Compare(a.key, b.key) })
	file := path.Join(r.path("BUNDLE_USER_HOME", ".bundle"), "config")
	if named := r.env["BUNDLE_USER_CONFIG"]; named != "" {
		file = slashes(r.src, named)
	}
	text, at := r.read(file)
	for i, line := range strings.Split(text, "\n") {
		m := bundlerLine.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m != nil && !slices.ContainsFunc(all, func(s setting) bool { return s.key == m[1] }) {
			all = append(all, setting{key: m[1], value: m[2], at: where{at.file, i + 1}})
		}
	}
	return all
}

// bundlerName is the host that the name of a setting is for, "" for none: of
// build.GEM, local.GEM, path.system and gem.OPTION it is a setting of another kind.
func bundlerName(name string) string {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(strings.TrimPrefix(name, "https://"), "/")
	name = strings.ReplaceAll(strings.ReplaceAll(name, "___", "-"), "__", ".")
	labels := strings.Split(name, ".")
	switch {
	case !bundlerHost.MatchString(name), slices.Contains([]string{"build", "local", "path", "plugin", "plugins"}, labels[0]), labels[0] == "gem" && len(labels) == 2:
		return ""
	}
	return name
}

// bundlerLogin is user:password, or a token alone.
func (r *reader) bundlerLogin(host string, s setting) (string, bool) {
	p, l, err := parsePlace("https://" + s.value + "@" + host + "/")
	if err != nil || p.host != host || p.path != "" {
		r.note(s.at, "credential left out: it is not user:password as a URL has them")
		return "", false
	}
	l = r.hide("bundler", p, l, s.at)
	if l == (login{}) {
		return "", false
	}
	r.count("bundler", p)
	user, _, _ := strings.Cut(strings.TrimPrefix(p.url(l), "https://"), "@")
	return user, true
}
