package credential

import (
	"bytes"
	"strings"
)

// label is a name that has a word for a secret.
type label struct {
	start, end int
	plain      string // as simple makes it
	what       sense  // once promises has asked
}

func nameAt(text []byte, at, end int) label {
	start := at
	for start > 0 && at-start < nameMost && url.Has(text[start-1]) {
		start--
	}
	end += url.run(text[end:], nameMost)
	return label{start: start, end: end, plain: simple(text[start:end])}
}

// option reports whether the name is that of an option.
func (n *label) option(text []byte) bool {
	return text[n.start] == '-' && (n.start == 0 || text[n.start-1] <= ' ')
}

// inside reports whether the name is a part of another one, or says that its value
// is public.
func (n *label) inside(text []byte) bool {
	const public = "public "
	return partOfName(text[:n.start]) || bytes.EqualFold(text[max(0, n.start-len(public)):n.start], []byte(public))
}

// promises reports whether a secret is to be expected where a cursor is.
func (n *label) promises(text []byte, c cursor) bool {
	n.what = meaning(n.plain)
	return n.what != nothing && (n.what != password || takes(n.plain, c) && passes(text[n.start:n.end]))
}

// sense is what a name says of its value.
type sense uint8

const (
	nothing sense = iota
	secret
	key // perhaps of a map
	password
)

// simple is a name in lower case without what parts its words.
func simple(name []byte) string {
	out := make([]byte, 0, nameMost)
	for _, b := range bytes.ToLower(name) {
		if b != '_' && b != '-' && b != ' ' {
			out = append(out, b)
		}
	}
	return string(out)
}

// meaning tells what a simple name promises. A name that ends in what is said of a
// secret, such as its file or its length, promises none.
func meaning(name string) sense {
	for _, end := range []string{
		"id", "ids", "url", "uri", "name", "names", "type", "types", "path", "file", "files", "endpoint", "arn", "hash", "sum", "ref", "count", "length", "len",
		"size", "regex", "pattern", "field", "header", "prefix", "suffix", "format", "label", "title", "text", "message", "error", "policy", "class", "index",
		"expiry", "expires", "ttl", "edat", "esat", "esin", "version", "kind", "status", "state", "scope", "mode", "env", "param", "template", "source", "provider", "public", "enabled",
		"used", "changed", "visible", "required", "strength", "rule", "rules", "validator", "input", "hint", "prompt", "dialog", "date", "time", "age", "mgr", "manager", "handler", "encoder",
	} {
		if strings.HasSuffix(name, end) && !strings.HasSuffix(name, "pass"+end) && len(name) > len(end) {
			return nothing
		}
	}
	if name == "identifiedby" || strings.HasSuffix(name, "securestring") {
		return password
	}
	for _, no := range []string{
		"publickey", "publictoken", "tokenize", "bypass", "compass", "passthrough", "passive", "passport", "keyboard", "csrf", "xsrf",
		"sha1", "sha2", "sha5", "md5", "bcrypt", "scheme", "complexity", "nexttoken", "pagetoken", "continuationtoken", "requesttoken", "idempotency",
	} {
		if strings.Contains(name, no) {
			return nothing
		}
	}
	if strings.Contains(name, "passw") || strings.Contains(name, "passphrase") || strings.Contains(name, "pwd") || strings.HasSuffix(name, "pass") {
		return password
	}
	for _, yes := range []string{
		"secret", "token", "apikey", "accesskey", "authkey", "privatekey", "signingkey", "encryptionkey", "masterkey", "sharedkey", "accountkey", "credential", "creds",
	} {
		if strings.Contains(name, yes) {
			return secret
		}
	}
	if strings.HasSuffix(name, "key") && !ofTable(name) || strings.HasSuffix(name, "auth") {
		return key
	}
	return nothing
}

// ofTable reports whether a name is that of a key of a table, a cache or a site.
func ofTable(name string) bool {
	for _, of := range []string{"primary", "foreign", "bucket", "sort", "partition", "cache", "hash", "range", "object", "websocket", "site", "host", "routing", "group", "index"} {
		if strings.HasSuffix(name, of+"key") {
			return true
		}
	}
	return false
}

// opens reports whether a name says that even an id that could be public opens a
// service.
func opens(name string) bool {
	for _, yes := range []string{"secret", "apikey", "accesskey", "authkey", "privatekey", "accesstoken", "authtoken", "apitoken", "refreshtoken"} {
		if strings.Contains(name, yes) {
			return true
		}
	}
	return false
}

// numbered is a name without its number.
func numbered(name string) string { return strings.TrimRight(name, "0123456789") }

// takes reports whether what stands behind a name is its value, not the next word
// of a text or what a function of passwords looks at.
func takes(name string, c cursor) bool {
	return (!c.bare || noun(name)) && (c.text[c.from] != '(' || sets(name))
}

// sets reports whether a function of a name takes a password to set it, not to
// look at it.
func sets(name string) bool {
	for _, verb := range []string{"set", "with", "add", "use", "put", "new", "change", "update", "pass", "pwd"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}

// passes reports whether "pass" in a name is a word: not in "minipass" or
// "ModulePass".
func passes(name []byte) bool {
	before, ok := bytes.CutSuffix(bytes.ToLower(bytes.TrimRight(name, "0123456789")), []byte("pass"))
	if !ok || len(before) == 0 || !letter.Has(before[len(before)-1]) {
		return true
	}
	for _, of := range []string{"db", "user", "root", "admin", "my", "smtp", "mail", "ftp", "http", "proxy", "ldap", "redis", "sudo", "key", "store", "login", "auth", "bind", "api", "app", "sql", "ssh", "server", "client"} {
		if bytes.HasSuffix(before, []byte(of)) {
			return true
		}
	}
	return false
}

// noun reports whether a name is one of a password itself.
func noun(name string) bool {
	name = numbered(name)
	for _, end := range []string{"password", "passwd", "passphrase", "pass", "pwd", "identifiedby", "securestring"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
