package registry

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// place is where a registry is: its URL without user and password.
type place struct {
	scheme string // https or http
	host   string // lower case; of IPv6 in brackets
	port   int
	path   string // "" or /a/b
	slash  bool   // a slash follows
}

// login is what a URL or a file has to sign in with.
type login struct{ user, password string }

// pathPattern leaves out what a rule cannot name, and what files of several
// formats would need to quote.
var pathPattern = lazyregexp.New(`^(/[A-Za-z0-9._~+:=,!-]+|/@[A-Za-z0-9._~+:=,!-]+)*$`)

// Faults of a URL. None of them says what the URL is.
var (
	errURL    = errors.New("not taken over: no URL that begins with https:// or http://")
	errHost   = errors.New("not taken over: the URL has no host that a rule can name")
	errPath   = errors.New("not taken over: the URL's path has characters that a rule cannot name")
	errSecret = errors.New("not taken over: the URL's path looks like a token, which can only be swapped in a header")
)

// parsePlace reads a URL. Query and fragment belong to no registry and are left
// out; an @ in them or in the path may end a password that nobody escaped.
func parsePlace(text string) (place, login, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "" {
		return place{}, login{}, errURL
	}
	p := place{scheme: u.Scheme}
	if err := p.setHost(u); err != nil {
		return place{}, login{}, err
	}
	if err := p.setPath(u); err != nil {
		return place{}, login{}, err
	}
	l := login{}
	if u.User != nil {
		l.user = u.User.Username()
		l.password, _ = u.User.Password()
	}
	return p, l, nil
}

func (p *place) setHost(u *url.URL) error {
	p.host, p.port = strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), 443
	if p.scheme == "http" {
		p.port = 80
	}
	if strings.Contains(p.host, ":") {
		p.host = "[" + p.host + "]"
	}
	if text := u.Port(); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return errHost
		}
		p.port = int(n)
	}
	binding := shadow.Binding{Hosts: []string{hostPort(p.host, p.port)}}
	if _, err := binding.Normal(); err != nil || strings.ContainsAny(u.Hostname(), "[]") || !isName(p.host) || strings.Contains(u.RawQuery+u.Fragment, "@") {
		return errHost
	}
	return nil
}

// isName reports whether a host is an address or a name that is read in one way:
// the proxy takes no policy with another.
func isName(host string) bool {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.Zone() == ""
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	long := slices.ContainsFunc(labels, func(l string) bool { return l == "" || l == "*" || len(l) > 63 })
	return !long && len(host) <= 253 && (last[0] < '0' || last[0] > '9')
}

func (p *place) setPath(u *url.URL) error {
	p.path, p.slash = strings.TrimRight(u.Path, "/"), strings.HasSuffix(u.Path, "/")
	segments := strings.Split(p.path, "/")
	if u.RawPath != "" || !pathPattern.MatchString(p.path) || slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return errPath
	}
	if looksSecret(p.path) {
		return errSecret
	}
	return nil
}

// looksSecret asks the reader of env files, which knows the looks of secrets.
func looksSecret(path string) bool {
	lines := shadow.ParseEnv([]byte("URL='https://h.test" + path + "'\n"))
	return len(lines) != 1 || !lines[0].Plain
}

// hostPort is a host as a binding names it.
func hostPort(host string, port int) string {
	if port == 443 {
		return host
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
}

// authority is host and port as a URL has them.
func (p place) authority() string {
	if p.scheme == "http" && p.port == 80 {
		return p.host
	}
	if p.scheme == "http" || p.port != 443 {
		return net.JoinHostPort(strings.Trim(p.host, "[]"), strconv.Itoa(p.port))
	}
	return p.host
}

// url is the place as a URL, with a login where there is one.
func (p place) url(l login) string {
	user := ""
	switch {
	case l.password != "":
		user = url.UserPassword(l.user, l.password).String() + "@"
	case l.user != "":
		user = url.User(l.user).String() + "@"
	}
	return p.scheme + "://" + user + p.authority() + p.tail()
}

// tail is the path as it was written.
func (p place) tail() string {
	if p.slash {
		return p.path + "/"
	}
	return p.path
}

// without takes the last segment off the path where it is one of those: an index
// is there, and its files beside it.
func (p place) without(last ...string) place {
	at := strings.LastIndexByte(p.path, '/')
	if at >= 0 && slices.Contains(last, p.path[at+1:]) {
		p.path = p.path[:at]
	}
	return p
}

// secret reports which halves of a login are to be hidden: the password, a user
// that stands alone, and one that is too long for a name.
func (l login) secret() (user, password bool) {
	return l.user != "" && (l.password == "" || len(l.user) >= maxName && !mailPattern.MatchString(l.user)), l.password != ""
}

// maxName is the length in bytes from which a user may be a token; the proxy
// draws the line there, too.
const maxName = 20

var mailPattern = lazyregexp.New(`^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,64}\.[A-Za-z]{2,}$`)
