package registry

import (
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// uvIndex is one index of uv.
type uvIndex struct {
	name     string
	url      string
	main     bool // in the place of pypi.org
	explicit bool // only for packages that name it
	at       where
}

// uvName is a name that uv takes.
var uvName = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

// uv reads environment, user and system configuration. It reads no pip.conf.
func (r *reader) uv() {
	all := r.uvEnvironment()
	for _, p := range r.uvPaths() {
		all = append(all, r.uvFile(p)...)
	}
	var lines []string
	main := false
	for _, x := range all {
		if x.main && main {
			continue
		}
		main = main || x.main
		r.ofUv.main = main // also where it cannot be read: it is not the public one
		lines = append(lines, r.uvLines(x)...)
	}
	if !main {
		r.standard("uv")
	}
	r.write(".config/uv/uv.toml", lines)
}

// uvPaths are uv's files, that of the highest order first.
func (r *reader) uvPaths() []string {
	switch named := r.env["UV_CONFIG_FILE"]; {
	case r.env["UV_NO_CONFIG"] != "":
		return nil
	case named != "":
		return []string{slashes(r.src, named)}
	case r.src.OS == "windows":
		return []string{path.Join(r.configDir(), "uv", "uv.toml"), "C:/ProgramData/uv/uv.toml"}
	}
	return []string{path.Join(r.path("XDG_CONFIG_HOME", ".config"), "uv", "uv.toml"), "/etc/uv/uv.toml", "/etc/xdg/uv/uv.toml"}
}

// uvLines takes an index in and writes it for the sandbox.
func (r *reader) uvLines(x uvIndex) []string {
	p, l, err := parsePlace(x.url)
	if err != nil {
		r.note(x.at, err.Error())
		return nil
	}
	root := p.without(simple()...)
	r.count("uv", root)
	upper := "UV_INDEX_" + strings.Map(upperOrBar, x.name)
	if password := r.env[upper+"_PASSWORD"]; x.name != "" && password != "" {
		l = login{r.env[upper+"_USERNAME"], password}
		x.at = where{file: upper + "_PASSWORD"}
	}
	r.ofUv.add(x, p, l)
	lines := []string{"[[index]]", `url = "` + p.url(r.hide("uv", root, l, x.at)) + `"`}
	if uvName.MatchString(x.name) {
		lines = append(lines, `name = "`+x.name+`"`)
	}
	if x.main {
		lines = append(lines, "default = true")
	}
	if x.explicit && x.name != "" {
		lines = append(lines, "explicit = true")
	}
	return lines
}

// upperOrBar is a letter of a name as variables have it.
func upperOrBar(c rune) rune {
	switch {
	case c >= 'a' && c <= 'z':
		return c - 'a' + 'A'
	case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return c
	}
	return '_'
}

// uvEnvironment reads the variables, whose indexes may be name=url.
func (r *reader) uvEnvironment() []uvIndex {
	var all []uvIndex
	for _, v := range []struct {
		name string
		main bool
	}{{"UV_DEFAULT_INDEX", true}, {"UV_INDEX_URL", true}, {"UV_INDEX", false}, {"UV_EXTRA_INDEX_URL", false}} {
		for text := range strings.FieldsSeq(r.env[v.name]) {
			x := uvIndex{url: text, main: v.main, at: where{file: v.name}}
			if name, url, ok := strings.Cut(text, "="); ok && uvName.MatchString(name) {
				x.name, x.url = name, url
			}
			all = append(all, x)
		}
	}
	return all
}

func (r *reader) uvFile(p string) []uvIndex {
	text, at := r.read(p)
	entries, line := parseTOML(text)
	if line > 0 {
		r.note(where{at.file, line}, "not TOML that can be read here: the file is left out")
		return nil
	}
	var all []uvIndex
	tables := map[string]int{} // number of a table in the list -> index in all, from 1
	for _, e := range entries {
		here := where{at.file, e.line}
		switch key := strings.TrimPrefix(strings.Join(e.path, "/"), "pip/"); {
		case key == "index-url" || key == "extra-index-url":
			for _, url := range e.values {
				all = append(all, uvIndex{url: url, main: key == "index-url", at: here})
			}
		case len(e.path) == 3 && e.path[0] == "index" && len(e.values) == 1:
			if tables[e.path[1]] == 0 {
				all = append(all, uvIndex{at: here})
				tables[e.path[1]] = len(all)
			}
			all[tables[e.path[1]]-1].set(e.path[2], e.values[0])
		}
	}
	return all
}

func (x *uvIndex) set(key, value string) {
	switch key {
	case "name":
		x.name = value
	case "url":
		x.url = value
	case "default":
		x.main = value == "true"
	case "explicit":
		x.explicit = value == "true"
	}
}
