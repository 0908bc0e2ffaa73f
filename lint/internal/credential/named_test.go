package credential_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-ftl/git-ftl/lint/internal/corpus"
	"github.com/git-ftl/git-ftl/lint/internal/credential"
	"github.com/git-ftl/git-ftl/lint/internal/doc"
	"github.com/git-ftl/git-ftl/snapshot/git"
)

func TestNamedValues(t *testing.T) {
	const value = "q7Zt2LmK9xWv4RbN8sYd"
	const pass = "m1lk&h0ney"
	generic, password := "credential/generic warn "+value, "credential/password warn "+pass
	for _, test := range []struct {
		name, path, text string
		want             []string
	}{
		{"unquoted in settings", "a.env", "CLIENT_SECRET=" + value, []string{generic}},
		{"unquoted in code", "a.go", "secret = " + value, nil},
		{"quoted in code", "a.go", `secret := "` + value + `"`, []string{generic}},
		{"typed in code", "a.go", `const secret string = "` + value + `"`, []string{generic}},
		{"compared", "a.go", `if secret == "` + value + `" {`, nil},
		{"argument", "a.go", `os.Setenv("API_TOKEN", "` + value + `")`, []string{generic}},
		{"name of something else", "a.go", `secretName := "` + value + `"`, nil},
		{"public", "a.go", `publicKey := "` + value + `"`, nil},
		{"no digits", "a.go", `secret := "abcdefghijkLMNOPQRSTUV"`, nil},
		{"words", "a.yaml", "secret: my-service-account-key-2024", nil},
		{"UUID", "a.yaml", "token: 0b8d8a3c-6f1e-4a57-9c52-7d1f3e2b9a64", nil},
		{"path", "a.yaml", "credentials: /etc/app/keys1/service2/token3/x", nil},
		{"lock file", "yarn.lock", "token: " + value, nil},
		{"vendored", "vendor/a/b.go", `secret := "` + value + `"`, nil},
		{"long line", "a.js", strings.Repeat("x;", 1100) + `secret="` + value + `";` + strings.Repeat("x;", 1100), nil},
		{"password in JSON", "a.json", `{"db": {"password": "` + pass + `"}}`, []string{password}},
		{"password of letters", "a.json", `{"password": "Password"}`, nil},
		{"password from a variable", "a.yaml", "password: ${DB_PASSWORD1}", nil},
		{"password as an option", "a.sh", "tool --password " + pass + " x", []string{password}},
		{"message", "a.go", `errPassword := "password: needs 8 characters"`, nil},
		{"URL", "a.md", "ftp://joe:" + pass + "@files.internal/", []string{"credential/url warn " + pass}},
		{"URL vendored", "vendor/a.go", "ftp://joe:" + pass + "@files.internal/", []string{"credential/url info " + pass}},
		{"URL of documents", "a.md", "ftp://joe:" + pass + "@files.example.com/", nil},
		{"URL with a word", "a.md", "ftp://user:password@files.internal/", nil},
		{"URL with a variable", "a.sh", "ftp://user:${PASS1}@files.internal/", nil},
		{"basic", "a.sh", "curl -H 'Authorization: Basic am9lOm0xbGsmaDBuZXk='", []string{"credential/authorization warn am9lOm0xbGsmaDBuZXk="}},
		{"data source", "a.go", `"joe:` + pass + `@tcp(db:3306)/x"`, []string{"credential/connection-string warn " + pass}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, seen(test.path, test.text)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWebTokens(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := rand.New(rand.NewPCG(9, 9))
	valid := corpus.JWT(r, "RS256", now.Add(time.Hour))
	for _, test := range []struct {
		name, token string
		now         time.Time
		want        doc.Severity
	}{
		{"valid", valid, now, doc.Block},
		{"expired", corpus.JWT(r, "HS256", now.Add(-time.Hour)), now, doc.Info},
		{"without an end", corpus.JWT(r, "HS256", time.Time{}), now, doc.Warn},
		{"no clock", valid, time.Time{}, doc.Warn},
		{"algorithm none", corpus.JWT(r, "none", now.Add(time.Hour)), now, ""},
		{"no algorithm", corpus.JWT(r, "", now.Add(time.Hour)), now, ""},
		{"no signature", valid[:strings.LastIndexByte(valid, '.')+1], now, ""},
		{"no JSON", "eyJ" + valid[8:], now, ""},
		{"in a word", "abc" + valid, now, ""},
		{"sample of documents", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4" + "fwpMeJf36POk6yJV_adQssw5c", now, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			hits := credential.New(credential.Options{Now: test.now}).Hits(doc.New("a.js", git.Entry{}, git.Entry{}, []byte("t = '"+test.token+"'"), nil))
			var got doc.Severity
			for _, h := range hits {
				if h.Rule == "credential/jwt" {
					got = h.Severity
				}
			}
			if got != test.want {
				t.Errorf("severity %q, want %q", got, test.want)
			}
		})
	}
}
