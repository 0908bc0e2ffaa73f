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
		{"appended", "a.php", `$token .= "` + value + `";`, []string{generic}},
		{"assigned by make", "Makefile", `API_TOKEN :::= "` + value + `"`, []string{generic}},
		{"before the escape of a line end", "a.json", `{"ini": "API_TOKEN=` + value + `\nX=1"}`, []string{generic}},
		{"element over lines", "a.xml", "<apiToken>\n  " + value + "\n</apiToken>", []string{generic}},
		{"two elements", "a.txt", "<password>\nother1=<name>", nil},
		{"template of C++", "a.cpp", "addPass(std::forward<PassT>(Pass));", nil},
		{"key", "a.py", `HMAC_KEY = "` + value + `"`, []string{generic}},
		{"key of a table", "a.py", `PRIMARY_KEY = "` + value + `"`, nil},
		{"key of a test of a cipher", "a_test.go", `key: "44c6c6ef8362f2f54fc00e09d6fc25640854c15dfcacaa8a2cecce5a3aba53ab"`, nil},
		{"name of a benchmark", "a_test.go", `b.Run("Key=mediumType1/Elem=int32", f)`, nil},
		{"public key in words", "a.md", "# Public key: age1" + value + value, nil},
		{"short key", "a.py", `HMAC_KEY = "q7Zt2LmK9xWv4Rb"`, nil},
		{"short secret", "a.py", `JWT_SECRET = "q7Zt2LmK9x"`, []string{"credential/generic warn q7Zt2LmK9x"}},
		{"short secret of words", "a.py", `JWT_SECRET = "secret1234"`, nil},
		{"UUID of an API key", "a.yaml", "api_key: 0b8d8a3c-6f1e-4a57-9c52-7d1f3e2b9a64", []string{"credential/generic warn 0b8d8a3c-6f1e-4a57-9c52-7d1f3e2b9a64"}},
		{"part of a resource's name", "a.json", `"arn:aws:secretsmanager:us-west-2:1:secret:MyDatabase1-q7Zt2L"`, nil},
		{"token of a page", "a.json", `"nextToken": "` + value + `"`, nil},
		{"public key", "a.js", `key: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE` + value + `"`, nil},
		{"hash of a password", "a.yaml", "password: $2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW", nil},
		{"hash of Django", "a.py", `password = "pbkdf2_sha256$260000$q7Zt2LmK9xWv$4RbN8sYdq7Zt2LmK9xWv4RbN8sYd="`, nil},
		{"name of a hash", "a.conf", "root_password_sha2 = 8c6976e5b5410415bde908bd4dee15dfb167a9c873fc4bb8a81f6f2ab448a918", nil},
		{"variable with a digit", "a.ini", "password = $DB_1_PASSWORD", nil},
		{"file of a variable", "a.sh", "PASSWORD_1=$HOME/pwd1.txt", nil},
		{"marked placeholder", "a.rsp", "password=###PASSWORD1###", nil},
		{"word in settings", "compose.yml", "POSTGRES_PASSWORD: petclinic", []string{"credential/password warn petclinic"}},
		{"word in code", "a.js", "password: 'petclinic'", nil},
		{"word of a schema", "a.yml", "password: required", nil},
		{"name of another value", "a.yml", "password: postgres-password", nil},
		{"message", "locales/de.yml", "password: kennwort", nil},
		{"tag of a field", "a.go", "Password passwordOf1 `json:\"password1\"`", nil},
		{"class", "a.py", `Moved("HTTPPasswordMgr", "urllib2", "request")`, nil},
		{"package", "package.json", `"minipass": "^7.1.3"`, nil},
		{"fields", "a.py", "[\"password1\",\n\"password2\"]", nil},
		{"option of curl", "a.sh", "curl -u 'joe:" + pass + "' https://files.internal/", []string{"credential/command-line warn " + pass}},
		{"option of docker", "a.sh", "docker run -u 1000:100042 x", nil},
		{"option of mysql", "a.sh", "mysql -u root -p'" + pass + "' app", []string{"credential/command-line warn " + pass}},
		{"port of a container", "a.sh", "docker run -p 8080:80 mysql", nil},
		{"call that logs in", "a.py", `smtp.login("me@internal", "` + pass + `")`, []string{password}},
		{"initialized in C++", "a.cpp", `const char* token{"` + value + `"};`, []string{generic}},
		{"raw in Rust", "a.rs", `let token = r#"` + value + `"#;`, []string{generic}},
		{"block of YAML", "a.yaml", "token: |\n  " + value + "\n", []string{generic}},
		{"variable of PowerShell", "a.ps1", `$env:API_TOKEN = "` + value + `"`, []string{generic}},
		{"default of Terraform", "a.tf", "variable \"api_token\" {\n  default = \"" + value + "\"\n}", []string{generic}},
		{"where a variable has no value", "a.js", "const token = process.env.TOKEN || '" + value + "';", []string{generic}},
		{"property list", "a.plist", "<key>apiToken</key>\n<string>" + value + "</string>", []string{generic}},
		{"prose", "a.md", "the token: " + value + ".", []string{generic}},
		{"prose without a value", "a.md", "the token: is_read_from_the_environment_2", nil},
		{"line of a Dockerfile", "Dockerfile", "ENV API_TOKEN " + value, []string{generic}},
		{"user of a database", "a.sql", "CREATE USER x IDENTIFIED BY '" + pass + "';", []string{password}},
		{"option of PowerShell", "a.ps1", "Connect-VIServer -User x -Password " + pass, []string{password}},
		{"SecureString", "a.ps1", `ConvertTo-SecureString "` + pass + `" -AsPlainText`, []string{password}},
		{"property of Groovy", "a.gradle", `keyPassword "` + pass + `"`, []string{password}},
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
