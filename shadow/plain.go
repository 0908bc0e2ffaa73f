package shadow

import (
	"math"
	"net/netip"
	"strings"
	"unicode"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// Words of names, between underscores. A name that holds one of secretWords is
// of a secret unless its last word says that it is about one; one that ends with
// a word of secretEnds is, too.
var (
	secretWords = lazyregexp.New(`^(PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|CREDENTIALS?|APIKEY|PRIVATE)$`)
	secretEnds  = lazyregexp.New(`(PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PW|SECRET|TOKEN|CREDENTIALS?|KEY|KEYS|PIN|SALT|PEPPER|DSN|AUTH|COOKIE|PAT|WEBHOOK|CERT|BEARER|SIGNATURE|JWT)$`)
	aboutEnds   = lazyregexp.New(`^(URL|URI|HOST|PORT|TTL|EXPIRY|EXPIRES|EXPIRATION|LENGTH|SIZE|COUNT|MIN|MAX|LIMIT|ENABLED|TYPE|FILE|PATH|NAME|ALGORITHM|ALG|ISSUER|AUDIENCE|HEADER|PREFIX|REGION|MODE|DAYS|HOURS|MINUTES|SECONDS|TIMEOUT|USER|USERNAME|EMAIL|DOMAIN)$`)
	nameEnds    = lazyregexp.New(`(^|_)(NAME|HOST|HOSTNAME|REGION|ENV|ENVIRONMENT|MODE|LEVEL|BUCKET|DATABASE|DB|SCHEMA|PROJECT|CLUSTER|ZONE|LOCALE|LANG|TZ|TIMEZONE|USER|USERNAME|MODEL|TAG|VERSION|IMAGE|FORMAT|THEME|QUEUE|TOPIC|TABLE|DIALECT|DRIVER|TYPE)$`)
	camel       = lazyregexp.New(`([a-z0-9])([A-Z])`)
)

// Shapes of values that are no secrets.
var (
	numberShape  = lazyregexp.New(`^[+-]?[0-9]+([.,_][0-9]+)*(ns|us|ms|s|m|h|d|w|[kKMGT]i?[bB]?|%)?$`)
	hostShape    = lazyregexp.New(`^(localhost|([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}\.?)(:[0-9]{1,5})?$`)
	emailShape   = lazyregexp.New(`^[A-Za-z0-9._+-]{1,64}@([a-z0-9-]+\.)+[a-z]{2,24}$`)
	regionShape  = lazyregexp.New(`^[a-z]{2,}(-[a-z]+)+-?[0-9]{1,2}[a-z]?$`)
	versionShape = lazyregexp.New(`^v?[0-9]+(\.[0-9]+){1,3}(-[a-z]+[.0-9]*)?$`)
	wordShape    = lazyregexp.New(`^[A-Za-z]+([ _.:/-][A-Za-z]+)*$`)
	nameShape    = lazyregexp.New(`^[A-Za-z]+[0-9]{0,4}([ _.:/-]([A-Za-z]+[0-9]{0,4}|[0-9.]{1,6}))*$`)
	pathShape    = lazyregexp.New(`^(~?/|\.{1,2}/|[A-Za-z]:[\\/])[^\x00-\x1f]*$|^[a-z0-9_.-]+(/[a-z0-9_.-]+)+$`)
	uuidShape    = lazyregexp.New(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	runShape     = lazyregexp.New(`[A-Za-z0-9]{16,}`)
)

// shortWord is the length in bytes from which words without digits may be a
// passphrase.
const shortWord = 16

// Plain reports whether a value is no secret by its name and looks, a URL without
// a password in it among others.
func Plain(name, value string) bool { return isPlain(name, value) }

// isPlain reports whether a value is no secret: empty, boolean, number, host,
// address, region, path, e-mail, short word, or a list of these. Of a name that
// says secret only empty and boolean ones are.
func isPlain(name, value string) bool {
	value = strings.TrimSpace(value)
	switch {
	case value == "" || isBoolean(value):
		return true
	case secretName(name):
		return false
	case isPlainItem(name, value):
		return true
	}
	items := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
	for _, item := range items {
		if !isPlainItem(name, item) {
			return false
		}
	}
	return len(items) > 1 && len(value) <= 200 && strings.ContainsAny(value, ",;")
}

func isPlainItem(name, value string) bool {
	switch {
	case looksRandom(value):
		return false
	case isBoolean(value), isNumber(value), isAddress(value), isPublicURL(value):
		return true
	case nameEnds.MatchString(upperName(name)) && len(value) <= 64 && nameShape.MatchString(value):
		return true
	}
	return isNamedPlace(value) || len(value) < shortWord && wordShape.MatchString(value) || len(value) < MinLength && nameShape.MatchString(value)
}

func isNamedPlace(value string) bool {
	return hostShape.MatchString(value) || emailShape.MatchString(value) || regionShape.MatchString(value) || versionShape.MatchString(value) || pathShape.MatchString(value)
}

func isBoolean(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "yes", "no", "on", "off", "null", "none", "undefined":
		return true
	}
	return false
}

// isNumber takes numbers as programs are configured with: up to 15 digits, since
// longer ones are ids and card numbers.
func isNumber(value string) bool { return len(value) <= 15 && numberShape.MatchString(value) }

func isAddress(value string) bool {
	if _, err := netip.ParseAddr(value); err == nil {
		return true
	}
	if _, err := netip.ParsePrefix(value); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(value)
	return err == nil
}

// upperName brings apiKey, api-key and API_KEY to one form.
func upperName(name string) string {
	return strings.ToUpper(camel.ReplaceAllString(safeName(name), "${1}_${2}"))
}

// secretName reports whether a name says that its value is a secret.
func secretName(name string) bool {
	words := strings.FieldsFunc(upperName(name), func(r rune) bool { return r == '_' })
	if len(words) == 0 {
		return false
	}
	last := strings.TrimRight(words[len(words)-1], "0123456789")
	if last == "" && len(words) > 1 {
		last = words[len(words)-2]
	}
	if aboutEnds.MatchString(last) {
		return false
	}
	if strings.HasSuffix(upperName(name), "KEY_ID") {
		return true // the half of an AWS key by which the other one is found
	}
	for _, w := range words {
		if secretWords.MatchString(w) {
			return true
		}
	}
	return secretEnds.MatchString(last)
}

// looksRandom reports whether a text holds what a generator of keys makes: a run
// of 16 or more letters and digits of several kinds, or a UUID.
func looksRandom(value string) bool {
	if uuidShape.MatchString(value) {
		return true
	}
	for _, run := range runShape.FindAllString(value, -1) {
		if isMixed(run) && entropy(run) >= 2.8 {
			return true
		}
	}
	return len(value) >= 20 && kinds(value) == 3 && !strings.ContainsAny(value, " /\\") && entropy(value) >= 3.5
}

// isMixed reports whether a run changes between letters and digits or from small
// to capital letters more often than names do.
func isMixed(run string) bool {
	changes := 0
	for i := 1; i < len(run); i++ {
		a, b := rune(run[i-1]), rune(run[i])
		if unicode.IsDigit(a) != unicode.IsDigit(b) || unicode.IsLower(a) && unicode.IsUpper(b) {
			changes++
		}
	}
	return changes >= 3 && changes*8 >= len(run)
}

// kinds counts which of small letters, capital letters and digits there are.
func kinds(value string) int {
	n := 0
	for _, in := range []func(rune) bool{unicode.IsLower, unicode.IsUpper, unicode.IsDigit} {
		if strings.ContainsFunc(value, in) {
			n++
		}
	}
	return n
}

// entropy is Shannon's, in bits a byte.
func entropy(value string) float64 {
	var count [256]int
	for i := range len(value) {
		count[value[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// providerPrefix is the beginning by which clients, and people, know a key.
func providerPrefix(value string) string {
	for _, p := range providerPrefixes() {
		if strings.HasPrefix(value, p) && len(value) > len(p) {
			return p
		}
	}
	return ""
}

// providerPrefixes lists prefixes that the providers document, longer ones first
// where one begins another.
func providerPrefixes() []string {
	return []string{
		"sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-", "sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-",
		"sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "whsec_",
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-",
		"npm_", "pypi-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe.xoxp-", "xoxe-", "xapp-", "SG.", "hf_", "gsk_", "AIza", "ya29.",
		"sntrys_", "sntryu_", "dop_v1_", "shpat_", "shpss_", "sbp_", "sb_secret_", "r8_", "pplx-", "nvapi-", "xai-", "lin_api_", "dapi",
		"key-", "re_", "secret_", "ntn_", "fo1_", "rnd_", "dckr_pat_", "CFPAT-", "FlyV1 ", "tskey-auth-", "vercel_blob_rw_",
	}
}
