package proxy

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// spending is one request of a bound host, on its way from shadows to real values.
type spending struct {
	bound []*credential
	t     target
	r     *http.Request // a clone, which is changed
	used  map[*credential]bool
}

// spend swaps in a request for a bound host, which is changed. It passes only if
// shadows of credentials that are bound there, in the places that they are bound
// to, are its only credentials. Nothing was swapped where it is refused.
func spend(t target, bound []*credential, r *http.Request) ([]string, *refusal) {
	s := &spending{bound: bound, t: t, r: r, used: map[*credential]bool{}}
	if r.Header.Get("Upgrade") != "" {
		return nil, forbidden("a host with a credential is not for connections of another protocol")
	}
	steps := []func() *refusal{s.headers, s.query, s.body}
	if signed(r) {
		steps = []func() *refusal{s.otherHeaders, s.otherQuery, s.resign}
	}
	for _, step := range steps {
		if refused := step(); refused != nil {
			return nil, refused
		}
	}
	if len(s.used) == 0 {
		return nil, forbidden("the request carries no credential that is bound to " + t.host)
	}
	return s.names()
}

// names are those of the credentials used, if method and path are theirs.
func (s *spending) names() ([]string, *refusal) {
	var names []string
	for c := range s.used {
		if refused := fits(s.r, c.Binding.Methods, c.Binding.Paths); refused != nil {
			return nil, refused
		}
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names, nil
}

// headers swaps in the bound ones and refuses other credentials.
func (s *spending) headers() *refusal {
	for name, values := range s.r.Header {
		place := placeKey("header:" + name)
		if !s.listed(place) && !namesCredential(name) {
			continue
		}
		if len(values) != 1 {
			return forbidden("the header " + name + " is there more than once")
		}
		swapped, ok := s.header(place, values[0])
		if !ok {
			return s.foreign("header " + name)
		}
		s.r.Header[name] = []string{swapped}
	}
	return nil
}

func (s *spending) foreign(where string) *refusal {
	return forbidden("the " + where + " is not, as a whole, a credential that is bound there to " + s.t.host)
}

// quoted is a name from the sandbox in a text.
func quoted(name string) string { return strconv.Quote(clip(name, 40)) }

// listed reports whether any credential is bound to a place.
func (s *spending) listed(place string) bool {
	return slices.ContainsFunc(s.bound, func(c *credential) bool { return c.places[place] })
}

// take is the real value for a shadow in a place.
func (s *spending) take(place, value string) (string, bool) {
	for _, c := range s.bound {
		if value == c.Shadow && c.places[place] && c.Binding.Kind != shadow.SigV4 {
			s.used[c] = true
			return c.Real.Reveal(), true
		}
	}
	return "", false
}

var schemePattern = lazyregexp.New(`^([A-Za-z][A-Za-z0-9-]{0,31}) +(\S+)$`)

// header swaps a value, with a scheme before it or not.
func (s *spending) header(place, value string) (string, bool) {
	scheme, rest := "", value
	if m := schemePattern.FindStringSubmatch(value); m != nil {
		scheme, rest = m[1], m[2]
	}
	if strings.EqualFold(scheme, "Basic") {
		return s.basic(place, rest)
	}
	if scheme != "" {
		scheme += " "
	}
	if c := s.ofKind(place, rest, shadow.Basic); c != nil {
		return "", false
	}
	swapped, ok := s.take(place, rest)
	return scheme + swapped, ok
}

func (s *spending) ofKind(place, value string, kind shadow.Kind) *credential {
	for _, c := range s.bound {
		if c.Shadow == value && c.places[place] && c.Binding.Kind == kind {
			return c
		}
	}
	return nil
}

// basic swaps either half, or both.
func (s *spending) basic(place, encoded string) (string, bool) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", false
	}
	user, password, ok := strings.Cut(string(raw), ":")
	if !ok {
		return "", false
	}
	realUser, userOK := s.take(place, user)
	realPassword, passwordOK := s.take(place, password)
	switch {
	case userOK && passwordOK:
	case userOK && s.harmless(place, user, password):
		realPassword = password
	case passwordOK && s.harmless(place, password, user):
		realUser = user
	default:
		return "", false
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(realUser+":"+realPassword)), true
}

// harmless reports whether the half beside a shadow is no credential by itself:
// some services take a token as the user's name and ignore the password. Where
// the kind is Basic both halves are needed, so any will do.
func (s *spending) harmless(place, half, other string) bool {
	return s.ofKind(place, half, shadow.Basic) != nil || len(other) < 20 || mailPattern.MatchString(other)
}

var mailPattern = lazyregexp.New(`^[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,64}\.[A-Za-z]{2,}$`)

// query swaps in the bound fields and refuses other credentials.
func (s *spending) query() *refusal {
	out, refused := s.fields("query:", s.r.URL.RawQuery)
	if refused == nil {
		s.r.URL.RawQuery = out
	}
	return refused
}

// fields swaps in a query or a form, whose other fields stay byte for byte.
func (s *spending) fields(kind, raw string) (string, *refusal) {
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		name, value, ok := unescape(pair)
		if !ok && kind == "form:" && !s.lists(kind) {
			continue // curl calls any body a form
		}
		if !ok {
			return "", &refusal{status: http.StatusBadRequest, reason: "the query or form does not parse"}
		}
		place := kind + name
		if !s.listed(place) && !s.suspicious(name) {
			continue
		}
		swapped, ok := s.take(place, value)
		if !ok {
			return "", s.foreign("field " + quoted(name))
		}
		pairs[i] = url.QueryEscape(name) + "=" + url.QueryEscape(swapped)
	}
	return strings.Join(pairs, "&"), nil
}

// unescape reads one field of a query or form.
func unescape(pair string) (name, value string, ok bool) {
	name, value, _ = strings.Cut(pair, "=")
	name, nameErr := url.QueryUnescape(name)
	value, valueErr := url.QueryUnescape(value)
	return name, value, nameErr == nil && valueErr == nil
}

// suspicious reports whether a field of that name is a credential; "key" is one
// for Google alone.
func (s *spending) suspicious(name string) bool {
	name = strings.ToLower(name)
	return fieldPattern.MatchString(name) || name == "key" && strings.HasSuffix(s.t.host, ".googleapis.com")
}

var (
	headerPattern = lazyregexp.New(`(?i)(^|[-_])(auth|authorization|authentication|token|secret|credentials?|password|passwd|cookie|api[-_]?key|access[-_]?key|app[a-z]*[-_]key|private[-_]key|signature)2?$|^auth[-_]|apikey`)
	fieldPattern  = lazyregexp.New(`^(.*[_-])?(api[_-]?key|apikey|access[_-]?token|auth[_-]?token|oauth[_-]?token|private[_-]?token|job[_-]?token|client[_-]?secret|password|passwd|signature|credential|security-token)$|^(sig|token|auth|authorization)$`)
)

// namesCredential reports whether a header of that name is a credential.
func namesCredential(name string) bool { return headerPattern.MatchString(name) }

// anyCredential is the name of a header or field that is a credential, "" for none.
func anyCredential(r *http.Request) string {
	for name := range r.Header {
		if namesCredential(name) {
			return name
		}
	}
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || fieldPattern.MatchString(strings.ToLower(name)) {
			return "a field of the query"
		}
	}
	return ""
}
