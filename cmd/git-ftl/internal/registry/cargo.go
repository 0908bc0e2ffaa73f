package registry

import (
	"encoding/base64"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// cargoConf is cargo's configuration: environment, config.toml, credentials.toml.
type cargoConf struct {
	r          *reader
	registries []*cargoTable
	sources    []*cargoTable
	config     []string
	secrets    []string
}

// cargoTable is [registries.NAME] or [source.NAME].
type cargoTable struct {
	name    string
	values  map[string]setting
	carried bool
}

var (
	cargoName   = lazyregexp.New(`^[A-Za-z0-9_-]+$`)
	cargoScheme = lazyregexp.New(`^([A-Za-z][A-Za-z0-9-]{0,31}) +(\S+)$`)
)

// cargo reads configuration and tokens. The token of crates.io itself is left
// out, which nobody needs for reading.
func (r *reader) cargo() {
	c := &cargoConf{r: r}
	c.environment()
	home := r.path("CARGO_HOME", ".cargo")
	for _, name := range []string{"config", "config.toml", "credentials", "credentials.toml"} {
		c.file(path.Join(home, name))
	}
	for _, t := range c.registries {
		c.registry(t)
	}
	c.replacements()
	if crates := find(c.sources, "crates-io"); crates == nil || crates.values["replace-with"].value == "" {
		r.standard("cargo")
	}
	if c.secrets != nil { // without it cargo signs in nowhere
		c.config = append(c.config, "[registry]", `global-credential-providers = ["cargo:token"]`)
	}
	r.write(".cargo/config.toml", c.config)
	r.write(".cargo/credentials.toml", c.secrets)
}

func find(all []*cargoTable, name string) *cargoTable {
	for _, t := range all {
		if t.name == name {
			return t
		}
	}
	return nil
}

// set notes a value that none before it has said.
func (c *cargoConf) set(list *[]*cargoTable, name, key string, s setting) {
	t := find(*list, name)
	if t == nil {
		t = &cargoTable{name: name, values: map[string]setting{}}
		*list = append(*list, t)
	}
	if t.values[key].value == "" {
		t.values[key] = s
	}
}

// environment reads CARGO_REGISTRIES_NAME_INDEX and _TOKEN.
func (c *cargoConf) environment() {
	var names []string
	for name := range c.r.env {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, "CARGO_REGISTRIES_")
		if !ok {
			continue
		}
		for _, key := range []string{"INDEX", "TOKEN"} {
			if table, ok := strings.CutSuffix(rest, "_"+key); ok {
				table = strings.ReplaceAll(strings.ToLower(table), "_", "-")
				c.set(&c.registries, table, strings.ToLower(key), setting{value: c.r.env[name], at: where{file: name}})
			}
		}
	}
}

func (c *cargoConf) file(p string) {
	text, at := c.r.read(p)
	entries, line := parseTOML(text)
	if line > 0 {
		c.r.note(where{at.file, line}, "not TOML that can be read here: the file is left out")
	}
	for _, e := range entries {
		if len(e.path) != 3 || len(e.values) != 1 {
			continue
		}
		s := setting{value: e.values[0], at: where{at.file, e.line}}
		switch e.path[0] {
		case "registries":
			c.set(&c.registries, c.known(e.path[1]), e.path[2], s)
		case "source":
			c.set(&c.sources, e.path[1], e.path[2], s)
		}
	}
}

// known is the name by which a registry is there already: variables have bars for
// dashes.
func (c *cargoConf) known(name string) string {
	for _, t := range c.registries {
		if strings.EqualFold(strings.ReplaceAll(t.name, "_", "-"), strings.ReplaceAll(name, "_", "-")) {
			return t.name
		}
	}
	return name
}

// index takes in the URL of an index, which is read over https only where it is
// sparse: an index in git is a repository.
func (c *cargoConf) index(s setting) (string, place, bool) {
	url, ok := strings.CutPrefix(s.value, "sparse+")
	if !ok {
		c.r.note(s.at, "index left out: only sparse ones, sparse+https://, are read without git")
		return "", place{}, false
	}
	url, p, ok := c.r.name(named{tool: "cargo", url: url, at: s.at, trim: []string{"index"}})
	return "sparse+" + url, p, ok
}

func (c *cargoConf) registry(t *cargoTable) {
	index, token := t.values["index"], t.values["token"]
	if index.value == "" || !cargoName.MatchString(t.name) {
		if token.value != "" {
			c.r.note(token.at, "credential left out: no index says where it is for")
		}
		return
	}
	url, p, ok := c.index(index)
	if !ok {
		return
	}
	t.carried = true
	c.config = append(c.config, "[registries."+t.name+"]", `index = "`+url+`"`)
	if token.value == "" {
		return
	}
	if s, ok := c.token(p.without("index"), token); ok {
		c.secrets = append(c.secrets, "[registries."+t.name+"]", `token = "`+s+`"`)
	}
}

// token is what cargo sends as it is in the Authorization header, with a scheme
// or without one.
func (c *cargoConf) token(p place, s setting) (string, bool) {
	scheme, value := "", s.value
	if m := cargoScheme.FindStringSubmatch(value); m != nil {
		scheme, value = m[1]+" ", m[2]
	}
	if !strings.EqualFold(scheme, "Basic ") {
		text, ok := c.r.shadow(holding{tool: "cargo", p: p, kind: shadow.Replace, value: value, at: s.at})
		return scheme + text, ok
	}
	raw, err := base64.StdEncoding.DecodeString(value)
	user, password, ok := strings.Cut(string(raw), ":")
	if err != nil || !ok {
		c.r.note(s.at, "credential left out: it is not base64 of a user and a password")
		return "", false
	}
	l := c.r.hide("cargo", p, login{user, password}, s.at)
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.user+":"+l.password)), l != login{}
}

// replacements writes the sources in the place of others.
func (c *cargoConf) replacements() {
	urls := map[string]string{}
	for _, t := range c.sources {
		if s := t.values["registry"]; s.value != "" && cargoName.MatchString(t.name) {
			urls[t.name], _, t.carried = c.index(s)
		}
	}
	for _, t := range c.sources {
		lines := []string{"[source." + t.name + "]"}
		if t.carried {
			lines = append(lines, `registry = "`+urls[t.name]+`"`)
		}
		with := t.values["replace-with"]
		if with.value != "" && !c.isCarried(with.value) {
			c.r.note(with.at, "source left out: what stands in its place is no registry that can be read here")
			continue
		}
		if with.value != "" {
			lines = append(lines, `replace-with = "`+with.value+`"`)
		}
		if len(lines) > 1 && cargoName.MatchString(t.name) {
			c.config = append(c.config, lines...)
		}
	}
}

// isCarried reports whether the sandbox has a source or registry of that name.
func (c *cargoConf) isCarried(name string) bool {
	for _, t := range append(append([]*cargoTable(nil), c.sources...), c.registries...) {
		if t.name == name && cargoName.MatchString(name) && (t.carried || t.values["replace-with"].value != "") {
			return true
		}
	}
	return false
}
