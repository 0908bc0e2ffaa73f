package registry

import (
	"encoding/xml"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// mavenSettings is what of a settings.xml counts, by
// maven.apache.org/settings.html.
type mavenSettings struct {
	XMLName  xml.Name       `xml:"settings"`
	Servers  []mavenServer  `xml:"servers>server,omitempty"`
	Mirrors  []mavenMirror  `xml:"mirrors>mirror,omitempty"`
	Profiles []mavenProfile `xml:"profiles>profile,omitempty"`
	Active   []string       `xml:"activeProfiles>activeProfile,omitempty"`
}

type mavenMirror struct {
	ID      string `xml:"id"`
	Of      string `xml:"mirrorOf"`
	URL     string `xml:"url"`
	Blocked bool   `xml:"blocked,omitempty"`
}

type mavenServer struct {
	ID       string        `xml:"id"`
	Username string        `xml:"username,omitempty"`
	Password string        `xml:"password,omitempty"`
	Headers  []mavenHeader `xml:"configuration>httpHeaders>property,omitempty"`
}

type mavenHeader struct {
	Name  string `xml:"name"`
	Value string `xml:"value"`
}

type mavenProfile struct {
	ID           string            `xml:"id"`
	ByDefault    bool              `xml:"activation>activeByDefault,omitempty"`
	Repositories []mavenRepository `xml:"repositories>repository,omitempty"`
	Plugins      []mavenRepository `xml:"pluginRepositories>pluginRepository,omitempty"`
}

type mavenRepository struct {
	ID        string       `xml:"id"`
	URL       string       `xml:"url"`
	Releases  *mavenPolicy `xml:"releases"`
	Snapshots *mavenPolicy `xml:"snapshots"`
}

type mavenPolicy struct {
	Enabled string `xml:"enabled,omitempty"`
}

var (
	mavenEnv       = lazyregexp.New(`\$\{env\.([^}]*)\}`)
	mavenEncrypted = lazyregexp.New(`\{.+\}\s*$`)
	headerName     = lazyregexp.New(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)
)

// mavenConf goes through a settings.xml.
type mavenConf struct {
	r       *reader
	at      where
	places  map[string][]place // by id
	central bool               // something stands in the place of Maven Central
}

func (r *reader) maven() {
	c := &mavenConf{r: r, places: map[string][]place{}}
	in := c.load(path.Join(r.home, ".m2", "settings.xml"))
	out := mavenSettings{XMLName: xml.Name{Local: "settings"}, Active: in.Active}
	out.Mirrors = c.mirrors(in.Mirrors)
	for _, p := range in.Profiles {
		p.Repositories, p.Plugins = c.repositories(p.Repositories), c.repositories(p.Plugins)
		if p.Repositories != nil || p.Plugins != nil {
			out.Profiles = append(out.Profiles, p)
		}
	}
	for i, s := range in.Servers {
		if s, ok := c.server(s, "server "+strconv.Itoa(i+1)); ok {
			out.Servers = append(out.Servers, s)
		}
	}
	if !c.central {
		r.standard("maven")
	}
	if data, err := xml.MarshalIndent(out, "", "  "); err == nil && (out.Mirrors != nil || out.Profiles != nil) {
		r.write(".m2/settings.xml", []string{string(data)})
	}
}

// load reads a settings.xml; of one that does not parse nothing counts.
func (c *mavenConf) load(p string) mavenSettings {
	var in mavenSettings
	text, at := c.r.read(p)
	c.at = at
	if text == "" {
		return in
	}
	if err := xml.Unmarshal([]byte(text), &in); err != nil {
		var fault *xml.SyntaxError
		if errors.As(err, &fault) {
			at.line = fault.Line
		}
		c.r.note(at, "not a settings.xml that can be read: the file is left out")
		return mavenSettings{}
	}
	return in
}

// expand puts variables in; not ok where one is not set.
func (c *mavenConf) expand(text string) (string, bool) {
	ok := true
	out := mavenEnv.ReplaceAllStringFunc(strings.TrimSpace(text), func(found string) string {
		value, set := c.r.env[mavenEnv.FindStringSubmatch(found)[1]]
		ok = ok && set
		return value
	})
	return out, ok && !strings.Contains(out, "${")
}

// name takes in the registry of an id.
func (c *mavenConf) name(id, text string) (string, bool) {
	text, ok := c.expand(text)
	if !ok {
		c.r.note(c.at, "registry left out: its URL names a variable that is not set")
		return "", false
	}
	url, p, ok := c.r.name(named{tool: "maven", url: text, at: c.at})
	if ok {
		c.places[id] = append(c.places[id], p)
	}
	return url, ok
}

func (c *mavenConf) mirrors(all []mavenMirror) []mavenMirror {
	var out []mavenMirror
	for _, m := range all {
		c.central = c.central || mirrorsCentral(m.Of)
		if m.Blocked {
			continue // it is there to be in the way
		}
		url, ok := c.name(m.ID, m.URL)
		if ok {
			m.URL = url
			out = append(out, m)
		}
	}
	return out
}

// mirrorsCentral reads the list of a mirrorOf.
func mirrorsCentral(of string) bool {
	words := strings.FieldsFunc(of, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
	if slices.Contains(words, "!central") {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { return w == "central" || w == "*" || w == "external:*" })
}

func (c *mavenConf) repositories(all []mavenRepository) []mavenRepository {
	var out []mavenRepository
	for _, m := range all {
		url, ok := c.name(m.ID, m.URL)
		c.central = c.central || m.ID == "central"
		if ok {
			m.URL = url
			out = append(out, m)
		}
	}
	return out
}

// server is what signs in at the registries of its id.
func (c *mavenConf) server(s mavenServer, which string) (mavenServer, bool) {
	user, okUser := c.expand(s.Username)
	password, okPassword := c.expand(s.Password)
	fault := ""
	switch {
	case len(c.places[s.ID]) == 0:
		fault = "no mirror and no repository here has its id"
	case !okUser || !okPassword:
		fault = "it names a variable that is not set"
	case mavenEncrypted.MatchString(password):
		fault = "it is encrypted with a key of Maven's own"
	}
	if fault != "" {
		c.r.note(c.at, which+" left out: "+fault)
		return s, false
	}
	out := mavenServer{ID: s.ID}
	for i, p := range c.places[s.ID] {
		if i > 0 && p.authority() != c.places[s.ID][0].authority() {
			c.r.note(c.at, which+" signs in at the first host of its id only")
			continue
		}
		l := c.r.hide("maven", p, login{user, password}, c.at)
		out.Username, out.Password = l.user, l.password
		out.Headers = c.headers(p, s.Headers)
	}
	return out, out.Username+out.Password != "" || out.Headers != nil
}

// headers are those that a server wants, such as Private-Token.
func (c *mavenConf) headers(p place, all []mavenHeader) []mavenHeader {
	var out []mavenHeader
	for _, h := range all {
		value, ok := c.expand(h.Value)
		name := strings.TrimSpace(h.Name)
		if !ok || !headerName.MatchString(name) {
			c.r.note(c.at, "header of a server left out: not a name with a value")
			continue
		}
		scheme := ""
		spot := "header:" + strings.ToLower(name)
		if strings.EqualFold(name, "Authorization") {
			spot = ""
			if m := cargoScheme.FindStringSubmatch(value); m != nil && !strings.EqualFold(m[1], "Basic") {
				scheme, value = m[1]+" ", m[2]
			}
		}
		if s, ok := c.r.shadow(holding{tool: "maven", p: p, kind: shadow.Replace, spot: spot, value: value, at: c.at}); ok {
			out = append(out, mavenHeader{name, scheme + s})
		}
	}
	return out
}
