package registry

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// npmrc is npm's configuration: environment, user, global, the first of which
// that says something counts.
type npmrc struct {
	r        *reader
	settings []setting
	places   []place // registries that are named
	logins   []*npmLogin
	lines    []string
}

// npmLogin is what one registry's keys say together.
type npmLogin struct {
	p                           place
	at                          where
	token, auth, user, password string
}

// Keys of an npmrc that count.
var (
	npmScope = lazyregexp.New(`^@[a-z0-9._~-]+:registry$`)
	npmAuth  = lazyregexp.New(`^//([^\s]*?)/?:(_authToken|_auth|username|_password|certfile|keyfile|tokenHelper)$`)
	npmBare  = lazyregexp.New(`^(_authToken|_auth|username|_password)$`)
	npmVar   = lazyregexp.New(`(\\*)\$\{([^${}?]+)(\?)?\}`)
)

func (r *reader) npm() {
	n := &npmrc{r: r}
	n.environment()
	user := r.path("", ".npmrc")
	if named := n.get("userconfig").value; named != "" {
		user = slashes(r.src, named)
	}
	n.file(user)
	for _, p := range n.global() {
		n.file(p)
	}
	n.registries()
	n.credentials()
	r.write(".npmrc", n.lines)
}

// environment reads npm_config_ variables, whose names have any case.
func (n *npmrc) environment() {
	const prefix = "npm_config_"
	var all []setting
	for name, value := range n.r.env {
		if len(name) <= len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) || value == "" {
			continue
		}
		key := name[len(prefix):]
		if !strings.HasPrefix(key, "//") {
			key = strings.ToLower(key[:1] + strings.ReplaceAll(key[1:], "_", "-"))
			key = strings.Replace(key, "_authtoken", "_authToken", 1)
		}
		all = append(all, setting{key: key, value: value, at: where{file: name}})
	}
	slices.SortFunc(all, func(a, b setting) int { return strings.Compare(a.at.file, b.at.file) })
	n.add(all)
}

// add takes settings in that none before says otherwise.
func (n *npmrc) add(all []setting) {
	for _, s := range all {
		if !slices.ContainsFunc(n.settings, func(o setting) bool { return o.key == s.key }) {
			n.settings = append(n.settings, s)
		}
	}
}

func (n *npmrc) file(p string) {
	text, at := n.r.read(p)
	all := parseINI(text, at, false, func(where) {}) // a key alone means true and is none that counts
	all = slices.DeleteFunc(all, func(s setting) bool { return s.section != "" })
	for i := range all {
		all[i].key = n.expand(iniText(all[i].key))
		all[i].value = n.expand(iniText(all[i].value))
	}
	n.add(lastOnes(all))
}

// lastOnes are the settings of a file without those that a later line replaces.
func lastOnes(all []setting) []setting {
	last := map[string]int{}
	for i, s := range all {
		last[s.key] = i
	}
	var out []setting
	for i, s := range all {
		if last[s.key] == i {
			out = append(out, s)
		}
	}
	return out
}

// global is where npm's own prefix may be; the prefix of the node that the user
// runs is known to that alone.
func (n *npmrc) global() []string {
	if p := n.get("globalconfig").value; p != "" {
		return []string{slashes(n.r.src, p)}
	}
	var all []string
	for _, prefix := range []string{n.get("prefix").value, n.r.env["PREFIX"]} {
		if prefix != "" {
			all = append(all, path.Join(slashes(n.r.src, prefix), "etc", "npmrc"))
		}
	}
	if n.r.src.OS == "windows" {
		return append(all, path.Join(n.r.configDir(), "npm", "etc", "npmrc"))
	}
	return append(all, "/usr/local/etc/npmrc", "/opt/homebrew/etc/npmrc", "/usr/etc/npmrc", "/etc/npmrc")
}

func (n *npmrc) get(key string) setting {
	for _, s := range n.settings {
		if s.key == key {
			return s
		}
	}
	return setting{}
}

// expand puts variables in as npm does: an unknown one stays, but for ${NAME?}.
func (n *npmrc) expand(text string) string {
	return npmVar.ReplaceAllStringFunc(text, func(found string) string {
		m := npmVar.FindStringSubmatch(found)
		if len(m[1])%2 == 1 {
			return found[(len(m[1])+1)/2:]
		}
		value, ok := n.r.env[m[2]]
		if !ok && m[3] == "" {
			value = found[len(m[1]):]
		}
		return m[1][len(m[1])/2:] + value
	})
}

// iniText reads a key or value as npm's ini package does: in quotes, or up to a
// ; or # that no backslash is before.
func iniText(text string) string {
	if len(text) > 1 && text[0] == '\'' && strings.HasSuffix(text, "'") {
		text = text[1 : len(text)-1]
	}
	if len(text) > 1 && text[0] == '"' && strings.HasSuffix(text, `"`) {
		var s string
		if json.Unmarshal([]byte(text), &s) == nil {
			return s
		}
		return text
	}
	return strings.TrimSpace(iniBare(text))
}

func iniBare(text string) string {
	var out strings.Builder
	for i := 0; i < len(text) && text[i] != ';' && text[i] != '#'; i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`\;#`, text[i+1]) >= 0 {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// registries takes in the default one and those of scopes.
func (n *npmrc) registries() {
	main := false
	for _, s := range n.settings {
		if s.key != "registry" && !npmScope.MatchString(s.key) {
			continue
		}
		url, p, ok := n.r.name(named{tool: "npm", url: s.value, at: s.at})
		main = main || s.key == "registry" // one that cannot be read is not the public one
		if ok {
			n.places = append(n.places, p)
			n.lines = append(n.lines, s.key+"="+url)
		}
	}
	if !main {
		n.r.standard("npm")
	}
}

// credentials takes in what is keyed to a host, and what has no key as that of
// the default registry.
func (n *npmrc) credentials() {
	for _, s := range n.settings {
		switch m := npmAuth.FindStringSubmatch(s.key); {
		case m != nil:
			n.keyed(m[1], m[2], s)
		case npmBare.MatchString(s.key):
			n.bare(s)
		}
	}
	for _, l := range n.logins {
		n.login(l)
	}
}

// keyed notes a setting for a host and path. The scheme is that of the registry
// there.
func (n *npmrc) keyed(location, key string, s setting) {
	scheme := "https"
	for _, p := range n.places {
		if p.scheme == "http" && (location == p.authority() || strings.HasPrefix(location, p.authority()+"/")) {
			scheme = "http"
		}
	}
	p, _, err := parsePlace(scheme + "://" + location + "/")
	switch {
	case err != nil:
		n.r.note(s.at, err.Error())
	case key == "certfile" || key == "keyfile":
		n.r.note(s.at, "client certificate left out: nothing but headers is swapped")
	case key == "tokenHelper":
		n.r.note(s.at, "token helper left out: no program is run")
	default:
		n.of(p, s.at).set(key, s.value)
	}
}

func (n *npmrc) bare(s setting) {
	url := n.get("registry").value
	if url == "" {
		url = "https://registry.npmjs.org/"
	}
	if p, _, err := parsePlace(url); err == nil {
		n.of(p, s.at).set(s.key, s.value)
	}
}

// of is the login of a place.
func (n *npmrc) of(p place, at where) *npmLogin {
	p.slash = true
	for _, l := range n.logins {
		if l.p == p {
			return l
		}
	}
	n.logins = append(n.logins, &npmLogin{p: p, at: at})
	return n.logins[len(n.logins)-1]
}

func (l *npmLogin) set(key, value string) {
	field := map[string]*string{"_authToken": &l.token, "_auth": &l.auth, "username": &l.user, "_password": &l.password}[key]
	if *field == "" { // a key with a host comes first
		*field = value
	}
}

// login writes the lines of one registry, by npm's own order: token, _auth, then
// user and password.
func (n *npmrc) login(l *npmLogin) {
	if npmVar.MatchString(l.token + l.auth + l.password) {
		n.r.note(l.at, "credential left out: it names a variable that is not set")
		return
	}
	key := "//" + l.p.authority() + l.p.tail() + ":"
	in, ok := l.basic()
	if !ok {
		n.r.note(l.at, "credential left out: it is not base64 of a user and a password")
		return
	}
	line := ""
	for _, p := range n.below(l.p) { // one credential: the same value at the same host
		if l.token != "" {
			if s, ok := n.r.shadow(holding{tool: "npm", p: p, kind: shadow.Replace, value: l.token, at: l.at}); ok {
				line = key + "_authToken=" + s
			}
		} else if in := n.r.hide("npm", p, in, l.at); in != (login{}) {
			line = key + "_auth=" + base64.StdEncoding.EncodeToString([]byte(in.user+":"+in.password))
		}
		if line != "" {
			n.r.count("npm", p)
		}
	}
	if line != "" {
		n.lines = append(n.lines, line)
	}
}

// below are the registries that a key is for: those that are named below it, else
// the place that it names itself.
func (n *npmrc) below(key place) []place {
	var all []place
	for _, p := range n.places {
		if p.scheme == key.scheme && p.authority() == key.authority() && strings.HasPrefix(p.path+"/", key.path+"/") {
			all = append(all, p)
		}
	}
	if all == nil {
		return []place{key}
	}
	return all
}

// basic is user and password, which npm keeps in base64.
func (l *npmLogin) basic() (login, bool) {
	if l.token != "" {
		return login{}, true
	}
	if l.auth != "" {
		raw, err := base64.StdEncoding.DecodeString(l.auth)
		user, password, ok := strings.Cut(string(raw), ":")
		return login{user, password}, err == nil && ok && user+password != ""
	}
	raw, err := base64.StdEncoding.DecodeString(l.password)
	return login{l.user, string(raw)}, err == nil && len(raw) > 0
}
