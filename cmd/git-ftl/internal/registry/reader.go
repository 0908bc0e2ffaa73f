package registry

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// Bounds on what is read.
const (
	maxFile  = 256 << 10 // bytes
	maxValue = 8 << 10   // bytes of one credential: more the proxy does not look for
	maxHosts = 256
	maxNotes = 100
)

// reader collects what the tools say.
type reader struct {
	src   Source
	home  string
	env   map[string]string
	named map[string][]place // of a host, the registries whose tools ask netrc
	out   Registries

	ofPip, ofUv indexes
}

// where is a place in the user's configuration.
type where struct {
	file string
	line int
}

func newReader(s Source) *reader {
	r := &reader{src: s, home: slashes(s, s.Home), env: map[string]string{}, named: map[string][]place{}}
	for _, e := range s.Env {
		name, value, _ := strings.Cut(e, "=")
		r.env[name] = value
	}
	return r
}

// slashes is a path with / between names.
func slashes(s Source, p string) string {
	if s.OS == "windows" {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// path is a file by a variable that may name it, or else below the home.
func (r *reader) path(variable string, below ...string) string {
	if p := r.env[variable]; p != "" {
		return slashes(r.src, p)
	}
	return path.Join(append([]string{r.home}, below...)...)
}

// configDir is where programs of that system keep their configuration.
func (r *reader) configDir() string {
	switch r.src.OS {
	case "windows":
		return r.path("APPDATA", "AppData", "Roaming")
	case "darwin":
		return path.Join(r.home, "Library", "Application Support")
	}
	return r.path("XDG_CONFIG_HOME", ".config")
}

// show is a path as notes name it.
func (r *reader) show(p string) string {
	if rest, ok := strings.CutPrefix(p, r.home+"/"); ok {
		return "~/" + rest
	}
	return p
}

func (r *reader) note(at where, text string) {
	n := Note{at.file, at.line, text}
	if len(r.out.Notes) < maxNotes && !slices.Contains(r.out.Notes, n) {
		r.out.Notes = append(r.out.Notes, n)
	}
}

// read is the content of a file with its place; nothing where there is none.
func (r *reader) read(p string) (string, where) {
	at := where{file: r.show(p)}
	f, err := r.src.Open(p)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.note(at, "cannot be read")
		}
		return "", at
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", at
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(data) > maxFile {
		r.note(at, "cannot be read, or is larger than 256 KiB")
		return "", at
	}
	return strings.TrimPrefix(string(data), "\ufeff"), at
}

// add takes a host in.
func (r *reader) add(h Host) {
	switch {
	case slices.Contains(r.out.Hosts, h):
	case len(r.out.Hosts) >= maxHosts:
		r.note(where{file: h.Tool}, "more than 256 registries: those behind are left out")
	default:
		r.out.Hosts = append(r.out.Hosts, h)
	}
}

// named is a registry that the user's configuration names.
type named struct {
	tool string
	url  string
	at   where
	trim []string // last segments of the path beside which the files are
}

// name takes a registry in. What it returns is the URL for the sandbox, with
// shadows; not ok where the registry does not count, which is said.
func (r *reader) name(n named) (string, place, bool) {
	p, l, err := parsePlace(n.url)
	if err != nil {
		r.note(n.at, err.Error())
		return "", p, false
	}
	root := p.without(n.trim...)
	r.count(n.tool, root)
	return p.url(r.hide(n.tool, root, l, n.at)), p, true
}

// count takes in the host of a registry, or the tool's own where it is that.
func (r *reader) count(tool string, p place) {
	h := Host{Tool: tool, Host: p.host, Port: p.port, PathPrefix: p.path, Private: true}
	if isStandard(p.host) && p.port == 443 {
		h.PathPrefix, h.Private = "", false
		r.beside(h)
	} else if r.asks(tool) {
		r.named[p.host] = append(r.named[p.host], p)
	}
	r.add(h)
}

// hide is a login with shadows; without what cannot be swapped.
func (r *reader) hide(tool string, p place, l login, at where) login {
	user, password := l.secret()
	if user {
		s, ok := r.shadow(holding{tool: tool, p: p, kind: shadow.Basic, value: l.user, at: at, what: "user"})
		if !ok {
			return login{}
		}
		l.user = s
	}
	if password {
		s, ok := r.shadow(holding{tool: tool, p: p, kind: shadow.Basic, value: l.password, at: at})
		if !ok {
			return login{}
		}
		l.password = s
	}
	return l
}

// holding is a real value that a tool sends to a registry.
type holding struct {
	tool  string
	p     place
	kind  shadow.Kind
	spot  string // "" is the Authorization header
	value string
	at    where
	what  string // "user" for the half of a login that is no password
}

// safeShadow can stand in a file of any format, quoted or not.
var safeShadow = lazyregexp.New(`^[A-Za-z0-9._-]{8,256}$`)

// shadow is what stands for a value: of a credential that is made, or of the one
// that the same tool's host already has for it.
func (r *reader) shadow(h holding) (string, bool) {
	if fault := h.fault(); fault != "" {
		r.note(h.at, "credential left out: "+fault)
		return "", false
	}
	for i, c := range r.out.Credentials {
		if h.is(c) {
			r.out.Credentials[i].Binding.Paths = widen(c.Binding.Paths, h.p.path)
			return c.Shadow, true
		}
	}
	c := shadow.Credential{Name: r.freeName(h), Real: shadow.NewSecret(h.value), Binding: h.binding()}
	if c.Shadow = r.src.Shadow(c.Name, h.value); !safeShadow.MatchString(c.Shadow) {
		c.Shadow = r.src.Shadow(c.Name, "")
	}
	_, err := c.Binding.Normal()
	told := len(h.value) >= shadow.MinLength && strings.Contains(c.Shadow, h.value)
	if err != nil || told || !safeShadow.MatchString(c.Shadow) || len(r.out.Credentials) >= maxHosts {
		r.note(h.at, "credential left out: no shadow can be made of it")
		return "", false
	}
	r.out.Credentials = append(r.out.Credentials, c)
	return c.Shadow, true
}

// fault is why a value cannot be swapped, "" where it can.
func (h holding) fault() string {
	switch {
	case h.p.scheme != "https":
		return "it would go over plain http, where nothing is swapped"
	case h.value == "":
		return "it is empty"
	case len(h.value) > maxValue || strings.ContainsFunc(h.value, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "it is too long, or has characters that no header can have"
	}
	return ""
}

// is reports whether a credential is of the same value, host and place.
func (h holding) is(c shadow.Credential) bool {
	b := h.binding()
	return c.Real.Reveal() == h.value && c.Binding.Kind == b.Kind && slices.Equal(c.Binding.Hosts, b.Hosts) && slices.Equal(c.Binding.Places, b.Places)
}

// binding is to exactly that host and path.
func (h holding) binding() shadow.Binding {
	b := shadow.Binding{Hosts: []string{hostPort(h.p.host, h.p.port)}, Places: []string{"auth"}, Methods: reading(), Kind: h.kind}
	if h.spot != "" {
		b.Places = []string{h.spot}
	}
	if h.p.path != "" {
		b.Paths = []string{h.p.path}
	}
	return b
}

// widen adds a path to those of a binding, where none is any.
func widen(paths []string, p string) []string {
	if len(paths) == 0 || p == "" {
		return nil
	}
	if slices.Contains(paths, p) {
		return paths
	}
	return append(paths, p)
}

// freeName is tool:host/path, with a number where that is another credential.
func (r *reader) freeName(h holding) string {
	base := h.tool + ":" + hostPort(h.p.host, h.p.port) + h.p.path
	if h.what != "" {
		base += "#" + h.what
	}
	name := base
	for i := 2; slices.ContainsFunc(r.out.Credentials, func(c shadow.Credential) bool { return c.Name == name }); i++ {
		name = base + "#" + strconv.Itoa(i)
	}
	return name
}

// write adds a file of lines for the sandbox; none where there are none.
func (r *reader) write(p string, lines []string) {
	if len(lines) > 0 {
		r.out.Files = append(r.out.Files, File{p, []byte(strings.Join(lines, "\n") + "\n")})
	}
}

// checkFiles leaves out a file that holds a real value after all: where one is
// also a user's name, or a part of a path.
func (r *reader) checkFiles() {
	r.out.Files = slices.DeleteFunc(r.out.Files, func(f File) bool {
		name := r.betrayed(f.Content)
		if name != "" {
			r.note(where{file: "~/" + f.Path}, "left out of the sandbox: the value of "+name+" stands in it in another place")
		}
		return name != ""
	})
}

// betrayed is the credential whose value a text holds. What a shadow has in common
// with a value is no secret.
func (r *reader) betrayed(text []byte) string {
	for _, c := range r.out.Credentials {
		text = bytes.ReplaceAll(text, []byte(c.Shadow), []byte(" "))
	}
	for _, c := range r.out.Credentials {
		for _, form := range shadow.Encodings(c.Real.Reveal()) {
			if len(form) >= shadow.MinLength && bytes.Contains(text, form) {
				return c.Name
			}
		}
	}
	return ""
}
