package credential

import (
	"bytes"
	"strings"
)

// placeholder reports whether a value stands for another one, or is a word of
// documentation.
func placeholder(value []byte) bool {
	if len(value) < 6 || bytes.ContainsAny(value, " \t{}<>") || bytes.IndexByte([]byte("$%#@!&*(:?"), value[0]) >= 0 && !alnum.Has(value[0]) && templated(value) {
		return true
	}
	for _, source := range []string{"arn:", "file:", "env:", "fd:", "//", "ssh-", "MFkwEw", "MIIBIjAN", "MIICIjAN", "MIGfMA0G", "MCowBQYDK2"} {
		if bytes.HasPrefix(value, []byte(source)) {
			return true
		}
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

// templated reports whether a value that begins with a sign is a variable, or a
// path below one: $NAME, %NAME%, #name, @name, &anchor, *alias, $HOME/x. Of those
// with digits only names in capitals count: the others may be passwords. Signs on
// both sides of a word mark one as well: ###PASSWORD###, *REMOVED*.
func templated(value []byte) bool {
	if value[0] == '(' || value[0] == '*' || value[0] == '?' {
		return true
	}
	rest := bytes.TrimRight(value[1:], "%$)")
	n := word.run(rest, len(rest))
	if n > 0 && n < len(rest) && value[0] == '$' && (slash | dot).Has(rest[n]) {
		return true
	}
	inner := bytes.Trim(value, "#*@%_")
	if len(inner) < len(value) && value[len(value)-1] == value[0] && (upper|digit|under|dash).run(bytes.ReplaceAll(inner, []byte("*"), []byte("_")), len(inner)) == len(inner) {
		return true
	}
	return n == len(rest) && (!bytes.ContainsAny(rest, "0123456789") || bytes.IndexByte(rest, '_') > 0 && (upper|digit|under).run(rest, n) == n)
}

// hashed reports whether a value is the hash of a password, as crypt(3), Django
// and LDAP write it: $2b$12$…, pbkdf2_sha256$…, {SSHA}…
func hashed(value []byte) bool {
	scheme, rest, ok := bytes.Cut(bytes.TrimPrefix(value, []byte("$")), []byte("$"))
	return ok && (lowerAlnum|under|dash).run(scheme, len(scheme)) == len(scheme) && len(rest) > 12 && bytes.IndexByte(rest, '$') > 0
}

// memorable reports whether a value is a word in small letters as people take for
// a password, not one that says what a password is or where it is.
func memorable(value []byte) bool {
	if len(value) < 6 || len(value) > 32 || (lower|under|dash).run(value, len(value)) < len(value) || bytes.Count(value, []byte("-"))+bytes.Count(value, []byte("_")) > 2 {
		return false
	}
	low := string(value)
	if strings.ContainsAny(low, "_-") {
		for _, w := range []string{"pass", "secret", "key", "token", "file", "env", "ref", "field", "name", "user", "cred", "pwd"} {
			if strings.Contains(low, w) {
				return false
			}
		}
	}
	switch low {
	case "string", "required", "optional", "hidden", "prompt", "varchar", "disabled", "enabled", "plaintext", "default", "manual", "static", "random", "generate", "generated",
		"encrypted", "hashed", "invalid", "missing", "unchanged", "nullable", "password", "passwd", "integer", "object", "boolean", "always", "never", "prohibit-password", "without-password",
		"forced-commands-only", "sufficient", "requisite", "include", "vault", "keyring", "keychain", "stdin", "inherit", "method", "sensitive":
		return false
	}
	return true
}

// keyLike reports whether the value of a key is a secret rather than what a map, a
// test of a cipher or a benchmark is about.
func keyLike(name string, value []byte) bool {
	body := bytes.TrimRight(value, "=")
	return len(value) >= 20 && !bytes.ContainsAny(body, ".=") && (len(name) > len("b64key") || anyHex.run(body, len(body)) < len(body))
}

// chosen reports whether a short value is no word: letters and digits go up and
// down in it, or signs stand among them.
func chosen(value []byte) bool {
	changes, digits, _ := mixture(value)
	return len(value) >= 8 && !wordlike(value) && bytes.IndexByte(value, '-') < 0 && bytes.IndexByte(value, '/') < 0 && (digits > 1 && changes > 2 || changes > 3)
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
	if len(value) > 100 || value[len(value)-1] == ':' || bytes.ContainsAny(value, "()[]\\,;") || bytes.Count(value, []byte("|")) > 1 || bytes.Count(value, []byte("/")) > 1 {
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
