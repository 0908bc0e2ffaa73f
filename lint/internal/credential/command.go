package credential

import (
	"bytes"

	"github.com/git-ftl/git-ftl/lint/internal/doc"
)

// commandMost is how far before an option its command may stand.
const commandMost = 200

// userHit judges what follows -u or --user of a client of HTTP: user:password.
func userHit(text []byte, at, end int) (doc.Hit, bool) {
	c := cursor{text: text, i: end}
	c.skip(" =", 4)
	if _, ok := c.value(); !ok || !inCommand(text, at, "curl", "wget") {
		return doc.Hit{}, false
	}
	user, pass, ok := bytes.Cut(text[c.from:c.i], []byte(":"))
	if !ok || bytes.HasPrefix(pass, []byte("//")) || bytes.EqualFold(user, pass) || unlikely(pass) {
		return doc.Hit{}, false
	}
	return commandHit(c.i-len(pass), c.i), true
}

// passHit judges what follows -p of a command that takes a password there.
func passHit(text []byte, at, end int) (doc.Hit, bool) {
	c := cursor{text: text, i: end}
	c.skip(" ", 4)
	if _, ok := c.value(); !ok || !inCommand(text, at, "sshpass", "docker login", "podman login", "mysql", "mariadb", "psexec") {
		return doc.Hit{}, false
	}
	if pass := text[c.from:c.i]; wordlike(pass) || unlikely(pass) {
		return doc.Hit{}, false
	}
	return commandHit(c.from, c.i), true
}

// inCommand reports whether one of some commands stands before an option.
func inCommand(text []byte, at int, commands ...string) bool {
	line := text[max(0, at-commandMost):at]
	for _, name := range commands {
		if bytes.Contains(line, []byte(name)) {
			return true
		}
	}
	return false
}

// unlikely reports whether a password is a placeholder, or too little for one.
func unlikely(pass []byte) bool {
	return len(pass) < 3 || stock(pass) || len(pass) >= 6 && placeholder(pass) || len(pass) < 6 && digit.run(pass, len(pass)) == len(pass)
}

func commandHit(start, end int) doc.Hit {
	return doc.Hit{Rule: "credential/command-line", Severity: doc.Warn, Start: start, End: end, Secret: true, Message: "password in a command line",
		Remedy: "read it from the environment, or from a file that only its owner reads"}
}

// argumentsMost bounds the arguments of a call.
const argumentsMost = 300

// loginHit judges the last literal of a call that takes a user and a password:
// login("user", "password").
func loginHit(text []byte, end int) (doc.Hit, bool) {
	limit := min(len(text), end+argumentsMost)
	c := cursor{text: text[:limit], i: end}
	from, to, count := 0, 0, 0
	for c.i < limit && c.text[c.i] != ')' && c.text[c.i] != ';' {
		if !isQuote(c.text[c.i]) {
			c.i++
			continue
		}
		q := c.text[c.i]
		if c.i++; !c.quoted(q) {
			return doc.Hit{}, false
		}
		from, to = c.from, c.i
		count++
		c.i++
	}
	if count < 2 || c.i == limit {
		return doc.Hit{}, false
	}
	pass := text[from:to]
	if len(pass) < 6 || stock(pass) || placeholder(pass) || wordlike(pass) {
		return doc.Hit{}, false
	}
	h := commandHit(from, to)
	h.Rule, h.Message = "credential/password", "password of a call that logs in"
	return h, true
}
