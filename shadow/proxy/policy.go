package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
	"github.com/git-ftl/git-ftl/shadow/internal/needle"
)

// Mode is how much passes without being named.
type Mode string

// Modes.
const (
	Allow Mode = "allow" // what rules name and credentials are bound to; also ""
	None  Mode = "none"  // nothing at all
	Open  Mode = "open"  // any public host, beside what Allow lets pass
)

// Policy is all that decides what passes.
type Policy struct {
	Mode        Mode
	Rules       []Rule
	Credentials []shadow.Credential // bound hosts pass for requests that carry their shadow
}

// Rule lets requests to a host pass. On port 443 and 80 they are read, on others
// too where they are TLS or HTTP; anything else is passed on as raw TCP, if the
// rule names the port, has no methods and paths, and no other rule has that port.
type Rule struct {
	Host     string   // as in shadow.Binding, without port
	Port     int      // 0 is 443 and 80
	Methods  []string // upper case; none is any
	Paths    []string // prefixes that end at a segment; none is any
	Registry bool     // GET and HEAD only, no body, no credential of the sandbox's own
	Private  bool     // the host may have a private address: set it where the user named host and port
	Narrowed bool     // more paths of the host pass once the user allows it by name
}

// state is a policy made ready.
type state struct {
	mode        Mode
	rules       []Rule
	credentials []*credential
	shadows     *needle.Set // of every credential
	direct, via *http.Transport

	mu        sync.Mutex
	scrubbers map[string]*needle.Set // by names of the credentials bound
}

// credential is a shadow.Credential made ready.
type credential struct {
	shadow.Credential
	hosts  []Rule          // Host and Port only
	places map[string]bool // "auth", "header:x-api-key" …, names in lower case but of fields
	keys   *keySet         // of kind SigV4
}

func compile(policy Policy) (*state, error) {
	st := &state{mode: policy.Mode, scrubbers: map[string]*needle.Set{}}
	if st.mode == "" {
		st.mode = Allow
	}
	if !slices.Contains([]Mode{Allow, None, Open}, st.mode) {
		return nil, fmt.Errorf("mode %q is not known", policy.Mode)
	}
	for _, rule := range policy.Rules {
		host, ok := NormalHost(rule.Host)
		if !ok || rule.Port < 0 || rule.Port > 65535 {
			return nil, fmt.Errorf("host %q with port %d is not valid", rule.Host, rule.Port)
		}
		rule.Host = host
		st.rules = append(st.rules, rule)
	}
	if err := st.addCredentials(policy.Credentials); err != nil {
		return nil, err
	}
	pairKeys(st.credentials)
	st.shadows = shadowNeedles(st.credentials)
	return st, nil
}

// addCredentials also makes sure that a shadow stands for one value.
func (st *state) addCredentials(all []shadow.Credential) error {
	seen := map[string]string{}
	for _, c := range all {
		made, err := newCredential(c)
		if err != nil {
			return err
		}
		if other, ok := seen[c.Shadow]; ok {
			return fmt.Errorf("%s and %s have the same shadow", other, c.Name)
		}
		seen[c.Shadow] = c.Name
		st.credentials = append(st.credentials, made)
	}
	return nil
}

// Check says why a credential cannot be swapped as it is bound; nil where it can, or
// is bound nowhere. One that cannot makes a policy invalid.
func Check(c shadow.Credential) error {
	_, err := newCredential(c)
	return err
}

func newCredential(c shadow.Credential) (*credential, error) {
	if err := sound(c); err != nil {
		return nil, err
	}
	made := &credential{Credential: c, places: map[string]bool{}}
	for _, text := range c.Binding.Hosts {
		rest, wild := strings.CutPrefix(text, "*.")
		host, port, ok := splitHost(rest, 443)
		if !ok {
			return nil, fmt.Errorf("host %q of %s is not valid", text, c.Name)
		}
		if wild {
			host = "*." + host
		}
		made.hosts = append(made.hosts, Rule{Host: host, Port: port})
	}
	for _, place := range c.Binding.Places {
		made.places[placeKey(place)] = true
	}
	if len(made.places) == 0 {
		made.places["auth"] = true
	}
	return made, nil
}

// sound makes sure that a credential can be swapped as it is bound.
func sound(c shadow.Credential) error {
	inHeader := len(c.Binding.Places) == 0 || slices.ContainsFunc(c.Binding.Places, isHeaderPlace)
	switch {
	case len(c.Shadow) < shadow.MinLength:
		return fmt.Errorf("the shadow of %s is too short", c.Name)
	case len(c.Binding.Hosts) == 0:
		return nil
	case c.Real.IsZero():
		return fmt.Errorf("%s is bound and has no value", c.Name)
	case inHeader && strings.ContainsAny(c.Real.Reveal(), "\r\n\x00"):
		return fmt.Errorf("%s has more than one line and cannot be bound to a header", c.Name)
	}
	return nil
}

func isHeaderPlace(place string) bool {
	return place == "auth" || strings.HasPrefix(place, "header:")
}

func placeKey(place string) string {
	if name, ok := strings.CutPrefix(place, "header:"); ok {
		if strings.EqualFold(name, "Authorization") {
			return "auth"
		}
		return "header:" + strings.ToLower(name)
	}
	return place
}

// NormalHost is the host of a Rule in the form that is compared: lower case, ASCII,
// an address in its shortest writing, every name of the loopback as localhost. It is
// false for what no rule can name.
func NormalHost(host string) (string, bool) {
	rest, below := strings.CutPrefix(host, "*.")
	name, ok := normalise(rest)
	if below {
		return "*." + name, ok
	}
	return localName(name), ok
}

// Ports are those that rules and bindings name beside the web's own: somebody has
// to listen on them inside of the sandbox.
func (p Policy) Ports() []int {
	var all []int
	for _, r := range p.Rules {
		all = append(all, r.Port)
	}
	for _, c := range p.Credentials {
		if made, err := newCredential(c); err == nil {
			for _, h := range made.hosts {
				all = append(all, h.Port)
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(port int) bool { return slices.Contains([]int{0, 80, 443, proxyPort}, port) })
}

// localName is the one name of this host's loopback.
func localName(host string) string {
	if isLoopback(host) {
		return "localhost"
	}
	return host
}

// names reports whether a rule's host is that one, or above it.
func (r Rule) names(host string) bool {
	host = localName(host)
	if suffix, ok := strings.CutPrefix(r.Host, "*"); ok {
		return strings.HasSuffix(host, suffix)
	}
	return r.Host == host
}

// Covers reports whether a rule is for a host and port.
func (r Rule) Covers(host string, port int) bool {
	return r.covers(target{host: host, port: port})
}

func (r Rule) covers(t target) bool {
	return r.names(t.host) && (r.Port == t.port || r.Port == 0 && (t.port == 443 || t.port == 80))
}

// private reports whether a host may have a private address.
func (st *state) private(t target) bool {
	return slices.ContainsFunc(st.rules, func(r Rule) bool { return (r.Private || isLocal(r.Host)) && r.covers(t) })
}

// bound are the credentials of a host and port.
func (st *state) bound(t target) []*credential {
	var found []*credential
	for _, c := range st.credentials {
		if slices.ContainsFunc(c.hosts, func(h Rule) bool { return h.covers(t) }) {
			found = append(found, c)
		}
	}
	return found
}

// isBound reports whether a host has a credential on any port.
func (st *state) isBound(host string) bool {
	return slices.ContainsFunc(st.credentials, func(c *credential) bool {
		return slices.ContainsFunc(c.hosts, func(h Rule) bool { return h.names(host) })
	})
}

// permit says why no rule lets a request pass; nil where one does.
func (st *state) permit(t target, r *http.Request) *refusal {
	var last *refusal
	for i := range st.rules {
		if !st.rules[i].covers(t) {
			continue
		}
		if last = st.rules[i].admits(r); last == nil {
			return nil
		}
	}
	switch {
	case st.mode == Open && !isLocal(t.host):
		return nil
	case last == nil:
		last = forbidden(t.host + " is not allowed")
	}
	last.hint = t.allowHint()
	return last
}

// narrowed reports whether a host serves more once the user allows it.
func (st *state) narrowed(t target) bool {
	return slices.ContainsFunc(st.rules, func(r Rule) bool { return r.Narrowed && r.covers(t) })
}

// admits compares a request with a rule for its host.
func (r Rule) admits(req *http.Request) *refusal {
	if r.Registry {
		if refused := fromRegistry(req); refused != nil {
			return refused
		}
	}
	return fits(req, r.Methods, r.Paths)
}

func fromRegistry(r *http.Request) *refusal {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return forbidden("a package registry is for reading: " + quoted(r.Method) + " does not pass")
	case r.ContentLength != 0 || len(r.TransferEncoding) != 0:
		return forbidden("a request to a package registry has no body")
	case r.Header.Get("Upgrade") != "":
		return forbidden("a package registry is not for connections of another protocol")
	}
	if name := anyCredential(r); name != "" {
		return forbidden("a credential of its own (" + name + ") does not pass to a package registry")
	}
	return nil
}

// fits compares a request with lists of methods and paths, where none is any.
func fits(r *http.Request, methods, paths []string) *refusal {
	if len(methods) != 0 && !slices.Contains(methods, r.Method) {
		return forbidden(quoted(r.Method) + " is not allowed there")
	}
	if len(paths) == 0 {
		return nil
	}
	if !plainPath(r.URL) {
		return forbidden("the path can be read in two ways")
	}
	if !slices.ContainsFunc(paths, func(p string) bool { return below(r.URL.Path, p) }) {
		return &refusal{status: http.StatusForbidden, reason: "the path is not among those allowed there", path: true}
	}
	return nil
}

// below reports whether a path is a prefix or goes on from it with a new segment.
func below(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(prefix, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// scoped is a package as npm asks for it. Read as one segment or as two it is
// below the same prefix.
var scoped = lazyregexp.New(`/(@[a-z0-9._~-]+)%2f([a-z0-9._~-]+)`)

// plainPath reports whether every server reads the same segments from a path.
func plainPath(u *url.URL) bool {
	raw := scoped.ReplaceAllString(strings.ToLower(u.EscapedPath()), "/$1/$2")
	if strings.Contains(u.Path, "//") || strings.ContainsAny(u.Path, "\\\x00%") || strings.Contains(raw, "%2f") || strings.Contains(raw, "%2e") {
		return false
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		name, _, _ := strings.Cut(segment, ";")
		if name == "." || name == ".." {
			return false
		}
	}
	return true
}
