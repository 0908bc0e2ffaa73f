package credential

import (
	"bytes"
	"strings"
)

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
		"expiry", "expires", "ttl", "at", "in", "version", "kind", "status", "state", "scope", "mode", "env", "param", "template", "source", "provider", "public", "enabled",
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
	for _, no := range []string{"primary", "foreign", "bucket", "sort", "partition", "cache", "hash", "range", "object", "websocket", "site", "host", "routing", "group", "index"} {
		if strings.HasSuffix(name, no+"key") {
			return nothing
		}
	}
	if strings.HasSuffix(name, "key") || strings.HasSuffix(name, "auth") {
		return key
	}
	return nothing
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
