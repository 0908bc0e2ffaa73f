package proxy

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
	"github.com/git-ftl/git-ftl/shadow"
)

// unspent looks for the shadow of a secret that is bound nowhere yet, as the
// credential of a request to a host that has none: whoever sent it needs the
// secret to be bound there, and a host that is merely allowed would not help.
func (x *exchange) unspent(r *http.Request, refused *refusal) {
	if !x.t.secure {
		return
	}
	for _, c := range x.st.credentials {
		place, ok := c.standsIn(r)
		name, _, _ := strings.Cut(c.Name, " ") // behind it is the file that says so
		if len(c.hosts) > 0 || !ok || !variableName.MatchString(name) {
			continue
		}
		x.d.Hint = "git ftl auth bind " + name + " --host " + strings.TrimSuffix(x.t.address(), ":443") + inFlag(name, place)
		if refused != nil {
			refused.reason += ", and the request has the shadow of " + name + ", which is bound to no host"
			refused.hint = x.d.Hint
		}
		return
	}
}

// What can stand in a command that a person copies: names come from the sandbox.
var (
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plainName    = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)
)

// inFlag is what a binding needs to be told of a place: nothing of one that it has
// anyway.
func inFlag(name, place string) string {
	known, _, _ := shadow.Known(name)
	if place == "auth" && len(known.Places) == 0 || slices.Contains(known.Places, place) {
		return ""
	}
	return " --in " + place
}

// standsIn finds the shadow as a whole credential, and says in which place.
func (c *credential) standsIn(r *http.Request) (string, bool) {
	for name, values := range r.Header {
		if !plainName.MatchString(name) || !c.isWhole(strings.Join(values, "\n")) {
			continue
		}
		return placeKey("header:" + name), true
	}
	query, _ := url.ParseQuery(r.URL.RawQuery)
	for name, values := range query {
		if plainName.MatchString(name) && len(values) == 1 && values[0] == c.Shadow {
			return "query:" + name, true
		}
	}
	return "", false
}

// isWhole reports whether a header is the shadow, behind a scheme or not, or has
// it as one half of Basic.
func (c *credential) isWhole(value string) bool {
	m := schemePattern.FindStringSubmatch(value)
	if m == nil || !strings.EqualFold(m[1], "Basic") {
		return value == c.Shadow || m != nil && m[2] == c.Shadow
	}
	raw, _ := base64.StdEncoding.DecodeString(m[2])
	user, password, _ := strings.Cut(string(raw), ":")
	return user == c.Shadow || password == c.Shadow
}
