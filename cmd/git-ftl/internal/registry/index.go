package registry

import (
	"net/url"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/shadow"
)

// indexes are what one tool for Python has.
type indexes struct {
	list []Index
	last []Index // of uv, the one in the place of pypi.org
	main bool    // something is said of that one
}

// pypi is the public index, packaging.python.org/en/latest/guides/index-mirrors-and-caches.
const pypi = "https://pypi.org/simple/"

// indexAt is an index by its place. Over plain http nobody signs in.
func indexAt(p place, l login) Index {
	p.slash = true
	x := Index{URL: p.url(login{})}
	if p.scheme == "https" {
		x.sign(l)
	}
	return x
}

func (x *Index) sign(l login) {
	if l != (login{}) {
		x.User, x.Password = shadow.NewSecret(l.user), shadow.NewSecret(l.password)
	}
}

// add takes in an index of uv's. One that only serves packages which name it serves
// none here.
func (all *indexes) add(x uvIndex, p place, l login) {
	switch {
	case x.main:
		all.last = append(all.last, indexAt(p, l))
	case !x.explicit:
		all.list = append(all.list, indexAt(p, l))
	}
}

// python puts together which indexes have the packages for a program of Python:
// pip's, or uv's where only that names one in the place of pypi.org, which is asked
// where neither does.
func (r *reader) python() {
	switch {
	case r.ofPip.main:
		r.out.Indexes = r.ofPip.list
	case r.ofUv.main:
		r.out.Indexes = slices.Concat(r.ofUv.list, r.ofUv.last, r.ofPip.list)
	default:
		r.out.Indexes = slices.Concat([]Index{{URL: pypi}}, r.ofPip.list, r.ofUv.list)
	}
}

// signIn gives the indexes of a host the login of a netrc, where they have none.
func (r *reader) signIn(m machine) {
	for i := range r.out.Indexes {
		x := &r.out.Indexes[i]
		u, err := url.Parse(x.URL)
		if err == nil && u.Scheme == "https" && strings.EqualFold(u.Hostname(), m.host) && x.User.IsZero() && x.Password.IsZero() {
			x.sign(m.login)
		}
	}
}
