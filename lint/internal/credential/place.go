package credential

import (
	"bytes"
	b64 "encoding/base64"
	"strings"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// authorityMost bounds the part of a URL before its path.
const authorityMost = 300

// urlHit judges the authority behind "://": user:password@host.
func urlHit(text []byte, at int) (doc.Hit, bool) {
	from := at + len("://")
	window := text[from:min(len(text), from+authorityMost)]
	if i := bytes.IndexAny(window, "/?# \t\r\n\"'`<>\\|)]"); i >= 0 {
		window = window[:i]
	}
	host := bytes.LastIndexByte(window, '@')
	if host < 0 || at == 0 || !alnum.Has(text[at-1]) || reserved(window[host+1:]) {
		return doc.Hit{}, false
	}
	user, pass, both := bytes.Cut(window[:host], []byte(":"))
	start := from + len(user) + 1
	if !both {
		pass, start = user, from
		if !random(pass) {
			return doc.Hit{}, false
		}
	}
	if len(pass) < 3 || bytes.EqualFold(user, pass) && both || stock(pass) || len(pass) >= 6 && placeholder(pass) {
		return doc.Hit{}, false
	}
	return doc.Hit{Rule: "credential/url", Severity: doc.Warn, Start: start, End: from + host, Secret: true, Message: "password in a URL",
		Remedy: "read the URL or its password from the environment"}, true
}

// reserved reports whether a host can be nobody's (RFC 2606), or is left out.
func reserved(host []byte) bool {
	name, _, _ := strings.Cut(strings.ToLower(string(host)), ":")
	if len(name) == 0 || strings.ContainsAny(name, "${}%<") {
		return true
	}
	for _, end := range []string{"example.com", "example.org", "example.net", ".example", ".test", ".invalid"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// stock reports whether a password is the word that documents put in its place.
func stock(pass []byte) bool {
	if bytes.HasPrefix(pass, []byte("[")) || bytes.ContainsAny(pass, "${}<>*%") && !bytes.ContainsAny(pass, "0123456789") || bytes.Contains(pass, []byte("{")) || bytes.HasPrefix(pass, []byte("$")) {
		return true
	}
	switch strings.ToLower(string(pass)) {
	case "pass", "password", "passwd", "pwd", "pw", "secret", "token", "user", "username", "xxx", "xxxx", "yyy", "zzz", "foo", "bar", "baz", "changeme", "test", "abc", "api_key", "key":
		return true
	}
	return false
}

// headerHit judges what follows "Bearer ", "Basic " or "Authorization".
func headerHit(text []byte, end int) (doc.Hit, bool) {
	c := cursor{text: text, i: end}
	scheme := strings.ToLower(string(text[max(0, end-6):end]))
	if text[end-1] != ' ' {
		c.skip("\"'\\:=, \t", 8)
		word := c.i
		c.i += letter.run(text[c.i:], 12)
		scheme = strings.ToLower(string(text[word:c.i])) + " "
		if c.skip(" ", 1) == 0 {
			return doc.Hit{}, false
		}
	}
	start := c.i
	n := (token | equals | dot).run(text[start:], valueMost)
	value := text[start : start+n]
	if placeholder(value) || !random(value) && !(strings.HasSuffix(scheme, "basic ") && basic(value)) {
		return doc.Hit{}, false
	}
	return doc.Hit{Rule: "credential/authorization", Severity: doc.Warn, Start: start, End: start + n, Secret: true, Message: "credential in an Authorization header",
		Remedy: "read it from the environment"}, true
}

// basic reports whether a value is the base64 of a user and a password.
func basic(value []byte) bool {
	out, err := b64.StdEncoding.DecodeString(string(value))
	if err != nil {
		return false
	}
	user, pass, ok := bytes.Cut(out, []byte(":"))
	for _, b := range out {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return ok && len(pass) >= 3 && !stock(pass) && !bytes.EqualFold(user, pass)
}

// dataSourceHit judges user:password@tcp(host:port)/name, as drivers of MySQL in
// Go read it.
func dataSourceHit(text []byte, at int) (doc.Hit, bool) {
	start := at
	for start > 0 && at-start < 100 && text[start-1] > ' ' && bytes.IndexByte([]byte(":\"'`=/"), text[start-1]) < 0 {
		start--
	}
	pass := text[start:at]
	if start == 0 || text[start-1] != ':' || len(pass) < 3 || stock(pass) || len(pass) >= 6 && placeholder(pass) {
		return doc.Hit{}, false
	}
	return doc.Hit{Rule: "credential/connection-string", Severity: doc.Warn, Start: start, End: at, Secret: true, Message: "password in a connection string",
		Remedy: "read the connection string from the environment"}, true
}
