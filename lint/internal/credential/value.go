package credential

import (
	"bytes"
	"strings"
)

// placeholder reports whether a value stands for another one, or is a word of
// documentation.
func placeholder(value []byte) bool {
	if len(value) < 6 || bytes.ContainsAny(value, " \t{}<>") || bytes.IndexByte([]byte("$%#@!&*("), value[0]) >= 0 && !alnum.Has(value[0]) && templated(value) {
		return true
	}
	if bytes.Contains(value, []byte("://")) || bytes.Contains(value, []byte("$(")) || bytes.Contains(value, []byte("...")) || bytes.Contains(value, []byte("%s")) {
		return true
	}
	low := strings.ToLower(string(value))
	for _, w := range []string{
		"example", "placeholder", "changeme", "change_me", "change-me", "your", "xxxx", "dummy", "sample", "redacted", "replace", "insert", "todo", "fake", "mock",
		"process.env", "os.environ", "getenv", "env.", "config.", "secrets.", "undefined", "null", "none", "true", "false", "ftl_shadow_", "notasecret", "not-a-secret",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return regular(value)
}

// templated reports whether a value that begins with a sign is a variable: $NAME,
// %NAME%, #name, @name, &anchor, *alias.
func templated(value []byte) bool {
	rest := bytes.TrimRight(value[1:], "%$)")
	if value[0] == '(' {
		return true
	}
	return word.run(rest, len(rest)) == len(rest) && digit.run(rest, len(rest)) == 0 && !bytes.ContainsAny(rest, "0123456789")
}

// random reports whether a value looks drawn: long enough, of one alphabet, its
// letters, cases and digits mixed all through.
func random(value []byte) bool {
	n := len(value)
	if n < 16 || n > 300 || (token|equals|dot).run(value, n) < n || isUUID(value) {
		return false
	}
	changes, digits, letters := mixture(value)
	if digits < 2 || letters == 0 || changes*5 < n || bytes.Count(value, []byte("/")) > n/12 || bytes.Count(value, []byte(".")) > 2 {
		return false
	}
	if anyHex.run(value, n) == n {
		return entropy(value) > 2.9
	}
	return entropy(value) > 3.4
}

// mixture counts digits and letters, and how often a value goes from one family to
// another.
func mixture(value []byte) (changes, digits, letters int) {
	var last Class
	for _, b := range value {
		c := family(b)
		switch c {
		case 0:
			continue
		case digit:
			digits++
		default:
			letters++
		}
		if last != 0 && c != last {
			changes++
		}
		last = c
	}
	return changes, digits, letters
}

// family is the kind of a letter or digit: lower, upper or digit; 0 for a sign.
func family(b byte) Class {
	c := classOf(b)
	for _, f := range [...]Class{lower, upper, digit} {
		if c&f != 0 {
			return f
		}
	}
	return 0
}

func isUUID(value []byte) bool { return len(value) == 36 && uuid().match(value) == 36 }

// wordlike reports whether a password is rather a name, a message or a path: it
// has letters only, or is made of words.
func wordlike(value []byte) bool {
	if len(value) > 100 || value[len(value)-1] == ':' || bytes.ContainsAny(value, "()[]\\,;") {
		return true
	}
	letters, digits, signs, joints := 0, 0, 0, 0
	for _, b := range value {
		switch {
		case letter.Has(b):
			letters++
		case digit.Has(b):
			digits++
		case (under | dash | dot | slash).Has(b):
			joints++
		case b <= ' ' || b >= 0x7f:
			return true
		default:
			signs++
		}
	}
	switch {
	case signs > 0:
		return false
	case letters == 0 || digits == 0:
		return true
	}
	// user.password2, db-password-key1, path/to/key1.pem
	return digits == 1 && bytes.ContainsAny(value, "./") || joints > 1 && digits < 4
}
