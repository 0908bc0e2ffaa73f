package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
)

// keptSecret is a real value that the user keeps somewhere, and how an agent is to
// use its shadow.
type keptSecret struct {
	name  string
	from  source
	place string // as of "git ftl auth bind"; "basic-user" and "basic-password" are of Basic, "token" has no scheme
	value string
}

// source is where the user keeps it: a new one is a case of secretWorld.keep.
type source string

const (
	inVault  source = "the vault"
	inHost   source = "a variable of the host"
	inEnv    source = ".env"
	inNested source = "api/.env.local"
	inNpmrc  source = ".npmrc"
	inNetrc  source = ".netrc"
	inPip    source = ".config/pip/pip.conf"
	inCargo  source = ".cargo/credentials.toml"
)

// keptSecrets are secrets of every kind, made new for each run: no file holds one,
// and no look at it can be from before.
func keptSecrets(t *testing.T) []keptSecret {
	t.Helper()
	r := func(n int) string { return randomText(t, n) }
	return []keptSecret{
		{"SHORT_8", inVault, "auth", r(8)},
		{"SHORT_11", inEnv, "header:x-short", r(11)},
		{"PLAIN_LOOKS", inEnv, "auth", "tangerine" + strings.Map(func(c rune) rune { return 'a' + c%26 }, r(6))}, // only the user's binding says that it is one
		{"LONG_4K", inVault, "auth", r(4096)},
		{"QUOTES", inVault, "header:x-quotes", `say "` + r(12) + `" or '` + r(6) + "'"},
		{"LINES", inVault, "json:lines", "first " + r(16) + "\nsecond " + r(16) + "\r\nthird " + r(16) + "\n"},
		{"DOLLARS", inEnv, "query:key", "pa$$w0rd$1${HOME}" + r(12)},
		{"UNICODE", inVault, "form:word", "пароль-鍵-ß-" + r(12) + "-\U0001f511"},
		{"PRIVATE_KEY", inEnv, "json:key", privateKey(t)},
		{"DATABASE_URL", inEnv, "json:dsn", "postgres://shop:" + r(16) + "@db.example.com:5432/shop"},
		{"ACCOUNT", inNested, "json:account", serviceAccount(t)},
		{"BASE64", inVault, "query:token", base64.StdEncoding.EncodeToString([]byte("\xfb\xff" + r(30)))},
		{"SPACES", inVault, "header:x-phrase", "correct horse " + r(8) + " battery " + r(8)},
		{"LIVE_KEY", inVault, "basic-user", "sk_" + "live_" + r(32)},
		{"FORGE_PAT", inNested, "auth", "gh" + "p_" + r(36)},
		{"SIGNED", inEnv, "auth", jwt(t)},
		{"IDENTIFIER", inVault, "header:x-id", uuid(t)},
		{"HEX", inEnv, "query:key", hex.EncodeToString([]byte(r(32)))},
		{"BACKSLASHES", inVault, "json:path", `C:\new\table\` + r(12) + `\"`},
		{"MARKUP", inVault, "form:markup", `<a href="&amp;">` + r(12) + "</a>"},
		{"PERCENTS", inVault, "form:percent", "100%\t%41%zz+" + r(12) + "&a=b"},
		{"ENV_PASSWORD", inNested, "basic-password", "hunter2-" + r(12)},
		{"HOST_TOKEN", inHost, "auth", r(40)},
		{"HOST_PHRASE", inHost, "header:x-of-host", `it's "` + r(16) + `" $HOME`},
		{"TOOL_NPM", inNpmrc, "auth", "npm" + "_" + r(36)},
		{"TOOL_NETRC", inNetrc, "basic-password", r(24)},
		{"TOOL_PIP", inPip, "basic-password", r(24)},
		{"TOOL_CARGO", inCargo, "token", "cio" + r(32)},
	}
}

// randomText is letters and digits, of which no eight repeat.
func randomText(t *testing.T, n int) string {
	t.Helper()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	raw := make([]byte, n)
	if _, err := rand.Read(raw); err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] = letters[int(raw[i])%len(letters)]
	}
	return string(raw)
}

func privateKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func serviceAccount(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "shop", "private_key_id": hex.EncodeToString([]byte(randomText(t, 20))),
		"private_key": privateKey(t), "client_email": "shop@shop.iam.example.com", "token_uri": "https://oauth2.example.com/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func jwt(t *testing.T) string {
	t.Helper()
	part := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{part([]byte(`{"alg":"HS256","typ":"JWT"}`)), part([]byte(`{"sub":"` + randomText(t, 20) + `"}`)), part([]byte(randomText(t, 32)))}, ".")
}

func uuid(t *testing.T) string {
	t.Helper()
	h := hex.EncodeToString([]byte(randomText(t, 16)))
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
