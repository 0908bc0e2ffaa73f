package registry

import (
	"path"
	"slices"
	"strings"
)

// pip reads its configuration: environment, user, system, the first of which that
// has a key counts. A key of install or download comes before that of global.
func (r *reader) pip() {
	c := pipConf{r: r}
	c.environment()
	for _, p := range c.paths() {
		c.file(p)
	}
	var lines []string
	if c.has("no-index") {
		lines = append(lines, "no-index = true")
		r.ofPip.main = true
	}
	index, ok := c.get("index-url")
	if urls := c.urls(index); len(urls) > 0 {
		lines = append(lines, "index-url = "+urls[0])
	}
	r.ofPip.main = r.ofPip.main || ok
	if !ok && !c.has("no-index") {
		r.standard("pip")
	}
	extra, _ := c.get("extra-index-url")
	lines = append(lines, pipList("extra-index-url", c.urls(extra))...)
	lines = append(lines, pipList("trusted-host", c.plain)...)
	if c.has("no-index") {
		r.ofPip.list = nil
	}
	if len(lines) > 0 {
		r.write(".config/pip/pip.conf", append([]string{"[global]"}, lines...))
	}
}

// pipList is a key with its values below it.
func pipList(key string, values []string) []string {
	if len(values) == 0 {
		return nil
	}
	return []string{key + " =\n    " + strings.Join(values, "\n    ")}
}

type pipConf struct {
	r        *reader
	settings []setting
	plain    []string // hosts of http, which pip reads only from where it is told to trust
}

// pipKeys are the keys that count.
func pipKeys() []string { return []string{"index-url", "extra-index-url", "no-index"} }

func (c *pipConf) environment() {
	for _, key := range pipKeys() {
		name := "PIP_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
		if value := c.r.env[name]; value != "" {
			c.settings = append(c.settings, setting{key: key, value: value, at: where{file: name}})
		}
	}
}

// paths are pip's files, that of the highest order first.
func (c *pipConf) paths() []string {
	r := c.r
	named := r.env["PIP_CONFIG_FILE"]
	if named == "/dev/null" || strings.EqualFold(named, "nul") {
		return nil
	}
	var all []string
	if named != "" {
		all = append(all, slashes(r.src, named))
	}
	if r.src.OS == "windows" {
		return append(all, path.Join(r.configDir(), "pip", "pip.ini"), path.Join(r.home, "pip", "pip.ini"), "C:/ProgramData/pip/pip.ini")
	}
	if r.src.OS == "darwin" {
		all = append(all, path.Join(r.configDir(), "pip", "pip.conf"))
	}
	all = append(all, path.Join(r.path("XDG_CONFIG_HOME", ".config"), "pip", "pip.conf"), path.Join(r.home, ".pip", "pip.conf"), "/etc/pip.conf")
	return append(all, "/etc/xdg/pip/pip.conf", "/Library/Application Support/pip/pip.conf")
}

func (c *pipConf) file(p string) {
	text, at := c.r.read(p)
	all := parseINI(text, at, true, func(at where) { c.r.note(at, "not a line of a pip.conf") })
	for _, section := range []string{"install", "download", "global"} {
		for _, s := range all {
			s.key = strings.ReplaceAll(strings.ToLower(s.key), "_", "-")
			if s.section == section && slices.Contains(pipKeys(), s.key) {
				c.settings = append(c.settings, s)
			}
		}
	}
}

func (c *pipConf) get(key string) (setting, bool) {
	for _, s := range c.settings {
		if s.key == key {
			return s, true
		}
	}
	return setting{}, false
}

// has reports whether a switch is on.
func (c *pipConf) has(key string) bool {
	s, _ := c.get(key)
	return slices.Contains([]string{"1", "true", "yes", "on", "y", "t"}, strings.ToLower(s.value))
}

// urls takes in each registry of a value, and gives them as the sandbox has them.
func (c *pipConf) urls(s setting) []string {
	var all []string
	for text := range strings.FieldsSeq(s.value) {
		url, p, ok := c.r.name(named{tool: "pip", url: text, at: s.at, trim: simple()})
		if !ok {
			continue
		}
		all = append(all, url)
		_, l, _ := parsePlace(text)
		c.r.ofPip.list = append(c.r.ofPip.list, indexAt(p, l))
		if p.scheme == "http" && !slices.Contains(c.plain, p.authority()) {
			c.plain = append(c.plain, p.authority())
		}
	}
	return all
}

// simple are the last segments of an index of Python packages: their files are
// beside it.
func simple() []string { return []string{"simple", "+simple"} }
