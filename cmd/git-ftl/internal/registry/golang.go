package registry

import (
	"path"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Shapes of what go's variables hold.
var (
	goPatterns = lazyregexp.New(`^[A-Za-z0-9./*?,\[\]_~^-]*$`)
	goSumDB    = lazyregexp.New(`^(off|[a-z0-9.-]+(\+[0-9a-f]+\+[A-Za-z0-9+/=]+)?)$`)
)

// goConf is go's configuration: the environment, then go env's file.
type goConf struct {
	r     *reader
	file  []setting
	lines []string
}

func (r *reader) golang() {
	c := &goConf{r: r}
	if p := r.path("GOENV"); r.env["GOENV"] == "" {
		c.load(path.Join(r.configDir(), "go", "env"))
	} else if r.env["GOENV"] != "off" {
		c.load(p)
	}
	c.proxies()
	for _, name := range []string{"GOPRIVATE", "GONOPROXY", "GONOSUMDB"} {
		s := c.get(name)
		switch {
		case s.value == "":
		case !goPatterns.MatchString(s.value):
			r.note(s.at, name+" left out: not a list of patterns")
		default:
			c.lines = append(c.lines, name+"="+s.value)
		}
	}
	if direct := c.get("GONOPROXY"); direct.value == "" && c.get("GOPRIVATE").value != "" {
		r.note(c.get("GOPRIVATE").at, "modules that GOPRIVATE names are fetched with git, which no registry is: only those in the module cache or in vendor/ are there")
	}
	c.sums()
	r.write(".config/go/env", c.lines)
}

func (c *goConf) load(p string) {
	text, at := c.r.read(p)
	for i, line := range strings.Split(text, "\n") {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r"), "=")
		if ok && strings.HasPrefix(name, "GO") {
			c.file = append(c.file, setting{key: name, value: value, at: where{at.file, i + 1}})
		}
	}
}

func (c *goConf) get(name string) setting {
	if value := c.r.env[name]; value != "" {
		return setting{key: name, value: value, at: where{file: name}}
	}
	for _, s := range c.file {
		if s.key == name {
			return s
		}
	}
	return setting{}
}

// proxies takes in the list of GOPROXY, whose commas and bars stay as they are.
func (c *goConf) proxies() {
	s := c.get("GOPROXY")
	if s.value == "" {
		c.r.standard("go")
		return
	}
	out, sign := "", ""
	for rest := s.value; rest != ""; {
		text, next := rest, ""
		if at := strings.IndexAny(rest, ",|"); at >= 0 {
			text, next, rest = rest[:at], rest[at:at+1], rest[at+1:]
		} else {
			rest = ""
		}
		if one, ok := c.proxy(strings.TrimSpace(text), s.at); ok {
			if out != "" {
				out += sign
			}
			out, sign = out+one, next
		}
	}
	if out != "" {
		c.lines = append(c.lines, "GOPROXY="+out)
	}
}

func (c *goConf) proxy(text string, at where) (string, bool) {
	switch {
	case text == "":
		return "", false
	case text == "direct" || text == "off":
		return text, true
	case !strings.Contains(text, "://"):
		text = "https://" + text
	}
	url, _, ok := c.r.name(named{tool: "go", url: text, at: at})
	return url, ok
}

// sums takes in GOSUMDB: off, a name, a name with its key, and a URL for it.
func (c *goConf) sums() {
	s := c.get("GOSUMDB")
	if s.value == "" {
		c.r.standard("gosum")
		return
	}
	words := strings.Fields(s.value)
	if len(words) == 0 || len(words) > 2 || !goSumDB.MatchString(words[0]) {
		c.r.note(s.at, "GOSUMDB left out: not off, and not a name with its key and URL")
		return
	}
	name, _, _ := strings.Cut(words[0], "+")
	switch {
	case name == "off":
	case len(words) == 2:
		url, _, ok := c.r.name(named{tool: "go", url: words[1], at: s.at})
		if !ok {
			return
		}
		words[1] = url
	default:
		if _, _, ok := c.r.name(named{tool: "go", url: "https://" + name, at: s.at}); !ok {
			return
		}
	}
	c.lines = append(c.lines, "GOSUMDB="+strings.Join(words, " "))
}
