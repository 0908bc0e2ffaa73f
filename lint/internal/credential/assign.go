package credential

import (
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// Bounds of a name and a value, in bytes.
const (
	nameMost  = 60
	valueMost = 256
)

// assignedHit judges the value of a name that has a word for a secret at
// text[at:end]: key = "value", "key": "value", <key>value</key>, --key value and
// what else assigns.
func assignedHit(text []byte, at, end int, class fileClass) (doc.Hit, bool) {
	n := nameAt(text, at, end)
	c := cursor{text: text, i: n.end, from: n.end, flag: n.option(text)}
	if !c.operator(at) || !n.promises(text, c) || n.inside(text) {
		return doc.Hit{}, false
	}
	quoted, ok := c.value()
	if !ok || !quoted && !c.flag && !c.unquoted(class, n.what, at) {
		return doc.Hit{}, false
	}
	value := text[c.from:c.i]
	if c.call && numbered(simple(value)) == numbered(n.plain) {
		return doc.Hit{}, false // a list of names
	}
	h, ok := judge(n.plain, n.what, value, class == settings && noun(n.plain) && c.whole(quoted))
	h.Start, h.End = c.from, c.i
	if h.Rule == "credential/password" && !quoted && c.peek() == ';' {
		h.Rule, h.Message = "credential/connection-string", "password in a connection string"
	}
	return h, ok
}

// judge judges a value. set says that a configuration gives it to a password: there
// it may be a word.
func judge(name string, what sense, value []byte, set bool) (doc.Hit, bool) {
	if placeholder(value) || simple(value) == name {
		return doc.Hit{}, false
	}
	h := doc.Hit{Severity: doc.Warn, Secret: true,
		Remedy: "read it from the environment, and keep it with git ftl auth set " + strings.ToUpper(name)}
	switch {
	case what == password && (hashed(value) || wordlike(value) && !(set && memorable(value))):
		return h, false
	case what == password:
		h.Rule, h.Message = "credential/password", "password"
	case what == key && !keyLike(name, value):
		return h, false
	case !random(value) && !(isUUID(value) && opens(name)) && !(strings.HasSuffix(name, "secret") && chosen(value)):
		return h, false
	default:
		h.Rule, h.Message = "credential/generic", "value of a name that says it is secret"
	}
	return h, true
}
