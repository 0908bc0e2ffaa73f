package shadow

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// What every shadow holds, so that lint finds one wherever it turns up. An AWS
// access key id has 20 capital letters and digits: it holds MarkerUpper.
const (
	Marker      = "ftl_shadow_"
	MarkerUpper = "FTLSHADOW"
)

// Mint makes the shadows of one project. A shadow depends on key, project and
// name; the value gives nothing but its shape. Without the key nobody can guess
// one, or tell that two belong together.
type Mint struct {
	key     Secret
	project string
}

// NewMint takes a key of 32 bytes that stays the same for the user.
func NewMint(key Secret, project string) *Mint { return &Mint{key, project} }

// Shadow makes the shadow of a value: ftl_shadow_<name>_<32 hex digits>, behind
// the prefix by which clients know the provider ("sk-ant-"). In a URL only what
// is secret is replaced; a private key becomes a fresh one of its kind with the
// marker on a line behind it; a JSON document keeps its shape. An AWS access key
// id is AKIAFTLSHADOW and seven letters: SDKs check no more than the length and
// letters, and the id only names the key that signs.
func (m *Mint) Shadow(name, value string) string {
	switch {
	case isAccessKeyID(value):
		return value[:4] + MarkerUpper + base32.StdEncoding.EncodeToString(m.sum("id", name))[:7]
	case strings.HasPrefix(strings.TrimSpace(value), "-----BEGIN "):
		return m.pem(name, value)
	case strings.HasPrefix(strings.TrimSpace(value), "{"):
		return m.document(name, value)
	case strings.Contains(value, "://"):
		return m.url(name, value)
	case pairShape.MatchString(value):
		return m.pairs(name, value)
	}
	return providerPrefix(value) + m.token(name)
}

// token is a shadow without a shape.
func (m *Mint) token(name string) string {
	return Marker + strings.ToLower(safeName(name)) + "_" + hex.EncodeToString(m.sum("token", name)[:16])
}

// sum is a number that stands for project, name and purpose.
func (m *Mint) sum(purpose, name string) []byte {
	h := hmac.New(sha256.New, []byte(m.key.Reveal()))
	for _, part := range []string{purpose, m.project, name} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum(nil)
}

// stream is a supply of bytes that stands for project, name and purpose.
func (m *Mint) stream(purpose, name string, n int) []byte {
	out, err := hkdf.Expand(sha256.New, m.sum(purpose, name), purpose, n)
	if err != nil {
		return make([]byte, n) // never: callers take little
	}
	return out
}

// safeName keeps what is a letter, a digit or an underscore.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

func isAccessKeyID(value string) bool {
	if len(value) != 20 || !strings.HasPrefix(value, "AKIA") && !strings.HasPrefix(value, "ASIA") {
		return false
	}
	return strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// url replaces the password of a URL, a user that stands for one, and what in
// path and query is a secret by its looks. Where nothing is, it is the shadow of
// a word.
func (m *Mint) url(name, value string) string {
	parts := splitURL(value)
	replaced := false
	for i, p := range parts {
		if p.secret {
			parts[i].text, replaced = providerPrefix(p.text)+m.token(name), true
		}
	}
	if !replaced {
		return m.token(name)
	}
	return joinParts(parts)
}

// Part gives the one secret within a URL as programs send it by itself, such as the
// password of "https://user:password@host", with what stands for it in the URL's
// shadow. It is false where there is none or more than one.
func (m *Mint) Part(name, value string) (shadow string, real Secret, ok bool) {
	for _, p := range splitURL(value) {
		if !p.secret {
			continue
		}
		plain, err := url.PathUnescape(p.text)
		if err != nil {
			plain = p.text
		}
		if ok && plain != real.Reveal() {
			return "", Secret{}, false
		}
		shadow, real, ok = providerPrefix(p.text)+m.token(name), NewSecret(plain), true
	}
	return shadow, real, ok
}

// pairShape is a connection string such as "host=db password=x" or
// "AccountName=a;AccountKey=x".
var pairShape = lazyregexp.New(`^\s*[A-Za-z][A-Za-z _]*=[^;=]*([; ]\s*[A-Za-z][A-Za-z _]*=[^;]*)+;?\s*$`)

// pairs replaces the secret values of a connection string.
func (m *Mint) pairs(name, value string) string {
	between := ";"
	if !strings.Contains(value, between) {
		between = " "
	}
	pairs := strings.Split(value, between)
	replaced := false
	for i, pair := range pairs {
		key, v, ok := strings.Cut(pair, "=")
		if !ok && strings.TrimSpace(pair) != "" {
			return m.token(name) // a value with the separator in it: where does it end?
		}
		if !isPlain(strings.ReplaceAll(key, " ", "_"), v) {
			pairs[i], replaced = key+"="+m.token(name), true
		}
	}
	if !replaced {
		return m.token(name)
	}
	return strings.Join(pairs, between)
}

// document replaces in JSON every text that is secret by name or looks.
func (m *Mint) document(name, value string) string {
	var doc map[string]any
	if json.Unmarshal([]byte(value), &doc) != nil {
		return m.token(name)
	}
	replaced := false
	doc, _ = m.leaf(name, "", doc, &replaced).(map[string]any)
	out, err := json.Marshal(doc)
	if err != nil || !replaced {
		return m.token(name)
	}
	return string(out)
}

// leaf goes through a value of JSON. Its own key says whether a text is plain,
// since the name of the whole document says secret.
func (m *Mint) leaf(name, key string, v any, replaced *bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = m.leaf(name+"_"+key, key, inner, replaced)
		}
	case []any:
		for i, inner := range v {
			v[i] = m.leaf(name, key, inner, replaced)
		}
	case string:
		if !isPublicURL(v) && !isPlain(key, v) {
			*replaced = true
			return m.Shadow(name, v)
		}
	}
	return v
}

// isPublicURL reports whether a URL has nothing secret in it.
func isPublicURL(value string) bool {
	parts := splitURL(value)
	for _, p := range parts {
		if p.secret {
			return false
		}
	}
	return parts != nil
}

// part is a piece of a URL as it is written.
type part struct {
	text   string
	secret bool
}

func joinParts(parts []part) string {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.text)
	}
	return out.String()
}

// splitURL cuts a URL into pieces; nil where it is none. It works on the text
// itself, since passwords are often not escaped as they ought to be.
func splitURL(value string) []part {
	scheme, rest, ok := strings.Cut(value, "://")
	if !ok || scheme == "" || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") != "" || strings.ContainsAny(rest, "\r\n") {
		return nil
	}
	parts := []part{{text: scheme + "://"}}
	end := strings.IndexAny(rest, "/?#")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 && userinfo(rest, at, end) {
		parts = append(parts, splitUser(rest[:at])...)
		parts = append(parts, part{text: "@"})
		rest = rest[at+1:]
		end = strings.IndexAny(rest, "/?#")
	}
	if end < 0 {
		return append(parts, part{text: rest})
	}
	parts = append(parts, part{text: rest[:end]})
	return append(parts, splitPath(rest[end:])...)
}

// userinfo reports whether the last @ ends a user and password: it stands before
// the path, or the text before the path is no host and port, as a password with
// a slash in it leaves it.
func userinfo(rest string, at, end int) bool {
	if end < 0 || at < end {
		return true
	}
	host, port, ok := strings.Cut(rest[:end], ":")
	return ok && (strings.Trim(port, "0123456789") != "" || host == "")
}

func splitUser(user string) []part {
	name, password, ok := strings.Cut(user, ":")
	if !ok || password == "" {
		return []part{{text: name, secret: !isPlain("user", name)}, {text: strings.TrimPrefix(user, name)}}
	}
	return []part{{text: name + ":"}, {text: password, secret: true}}
}

// splitPath looks at each piece between / ? & = and #.
func splitPath(text string) []part {
	var parts []part
	before := ""
	for text != "" {
		end := strings.IndexAny(text, "/?&=#;")
		if end < 0 {
			end = len(text)
		}
		piece := text[:end]
		if plain, err := url.QueryUnescape(piece); piece != "" {
			named := before != "" && secretName(before) && piece != before
			parts = append(parts, part{text: piece, secret: err != nil || looksRandom(plain) || named && !isNumber(plain) && plain != "true" && plain != "false"})
		}
		before = ""
		if end < len(text) {
			if text[end] == '=' {
				before = piece
			}
			parts = append(parts, part{text: text[end : end+1]})
			end++
		}
		text = text[end:]
	}
	return parts
}
